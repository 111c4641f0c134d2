// Sets of nodes that have run grow by one node at a time. What is live depends only on the set, so of two ways to
// reach the same set only the one with the lower peak matters. Three rules keep the number of sets small:
//
// - A node that leaves no more bytes than it found, and needs no more than the peak so far, runs at once: moving it forward in any order
//   lowers what is live in between and raises nothing.
// - A set is dropped if its peak is not below that of the given order.
// - Beyond `width` sets of one size, those with the highest peak are dropped, then those with the most live bytes. The result is then not
//   proved to be optimal.
//
//     x -> a -> b -+        a, b, c, d keeps b (small) while c (large) lives; c, d, a, b would keep d.
//       -> c -> d -+-> y    Both are sets {a, b, c, d} in the end, with different peaks.
#include "compiler/passes/order_search.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <unordered_set>
#include <utility>

#include "compiler/support/random.h"
#include "compiler/support/sort_unique.h"

namespace onnxc {
namespace {

/// A set of nodes that have run, and how it was reached.
struct PartialOrder {
  PerNode<bool> done;
  std::vector<int> ready;  // nodes that could run next, in the order of their numbers
  int64_t live = 0, peak = 0;
  uint64_t mark = 0;  // a hash of the set: equal sets have equal marks, and others almost never do
  int last = -1;      // index into the list of moves
};

class Search {
 public:
  Search(const OrderProblem& problem, int64_t limit, int width, int64_t effort)
      : problem_(problem), limit_(limit), width_(static_cast<std::size_t>(width)), effort_(effort) {
    const std::size_t nodes = problem.nodes.size();
    readers_.resize(problem.bytes.size());
    writer_.assign(problem.bytes.size(), -1);
    for (int n = 0; n < std::ssize(problem.nodes); ++n) {
      for (ValueId v : problem.node(n).writes) writer_[v] = n;
      for (ValueId v : problem.node(n).reads) readers_[v].push_back(n);
    }
    Random random(nodes);
    for (std::size_t n = 0; n < nodes; ++n) marks_.push_back(random.next());
  }

  NodeOrder run() {
    std::vector<PartialOrder> states{start()};
    bool complete = true;
    for (std::size_t size = 0; size < problem_.nodes.size() && !states.empty() && effort_ >= 0; ++size) states = grow(states, complete);
    NodeOrder result;
    result.exact = complete && effort_ >= 0;
    if (states.empty() || effort_ < 0) return result;
    result.peak = states.front().peak;
    for (int at = states.front().last; at >= 0;) {
      const Move& move = moves_[static_cast<std::size_t>(at)];
      result.order.push_back(move.node);
      at = move.before;
    }
    std::ranges::reverse(result.order);
    return result;
  }

 private:
  struct Move {
    int before, node;
  };
  struct Child {
    std::size_t parent;
    int node;
    int64_t live, peak;
    uint64_t mark;
  };

  PartialOrder start() {
    PartialOrder state;
    state.done.resize(problem_.nodes.size());
    for (int n = 0; n < std::ssize(problem_.nodes); ++n) {
      if (is_ready(state, n)) state.ready.push_back(n);
    }
    return state;
  }

  bool is_ready(const PartialOrder& state, int node) {
    effort_ -= std::ssize(problem_.node(node).reads);
    return std::ranges::all_of(problem_.node(node).reads, [&](ValueId v) { return writer_[v] < 0 || state.done[writer_[v]]; });
  }

  /// Whether `node` is the only one left to read the value.
  bool dies(const PartialOrder& state, ValueId value, int node) {
    effort_ -= std::ssize(readers_[value]);
    return std::ranges::all_of(readers_[value], [&](int reader) { return reader == node || state.done[reader]; });
  }

  Child child(const std::vector<PartialOrder>& states, std::size_t parent, int node) {
    const PartialOrder& state = states[parent];
    const OrderedNode& n = problem_.node(node);
    int64_t written = 0, kept = 0, freed = 0, shared = 0;
    for (ValueId v : n.writes) {
      written += problem_.bytes[v];
      if (!readers_[v].empty()) kept += problem_.bytes[v];
    }
    for (ValueId v : n.reads) {
      if (writer_[v] < 0 || !dies(state, v, node)) continue;
      freed += problem_.bytes[v];
      if (shared == 0 && std::ranges::find(n.reuses, v) != n.reuses.end()) shared = std::min(written, problem_.bytes[v]);
    }
    return {parent, node, state.live + kept - freed, std::max(state.peak, state.live + written - shared), state.mark ^ marks_[node]};
  }

  PartialOrder apply(const PartialOrder& from, const Child& c) {
    PartialOrder state = from;
    state.done[c.node] = true;
    state.live = c.live;
    state.peak = c.peak;
    state.mark = c.mark;
    moves_.push_back({from.last, c.node});
    state.last = static_cast<int>(moves_.size()) - 1;
    std::erase(state.ready, c.node);
    for (ValueId v : problem_.node(c.node).writes) {
      for (int reader : readers_[v]) {
        if (!state.done[reader] && is_ready(state, reader)) state.ready.push_back(reader);
      }
    }
    sort_unique(state.ready);  // a node is there more than once if it reads several values of this one
    return state;
  }

  /// The sets with one more node.
  std::vector<PartialOrder> grow(const std::vector<PartialOrder>& states, bool& complete) {
    std::vector<Child> children;
    for (std::size_t s = 0; s < states.size(); ++s) {
      const std::size_t first = children.size();
      effort_ -= static_cast<int64_t>(states[s].ready.size() + problem_.nodes.size() / 64);  // to look at, and to copy
      if (effort_ < 0) return {};
      for (int node : states[s].ready) {
        const Child c = child(states, s, node);
        if (c.peak >= limit_) continue;
        children.push_back(c);
        if (c.live > states[s].live || c.peak > states[s].peak) continue;
        children.erase(children.begin() + static_cast<std::ptrdiff_t>(first), children.end() - 1);  // it runs at once
        break;
      }
    }
    std::ranges::stable_sort(children, {}, [](const Child& c) { return std::pair(c.peak, c.live); });
    std::vector<PartialOrder> next;
    std::unordered_set<uint64_t> known;
    for (const Child& c : children) {
      if (next.size() == width_) {
        complete = false;
        break;
      }
      if (known.insert(c.mark).second) next.push_back(apply(states[c.parent], c));
    }
    return next;
  }

  const OrderProblem& problem_;
  int64_t limit_;  // peaks from here on are useless
  std::size_t width_;
  int64_t effort_;  // nodes and values that may still be looked at
  PerValue<std::vector<int>> readers_;
  PerValue<int> writer_;
  PerNode<uint64_t> marks_;
  std::vector<Move> moves_;
};

}  // namespace

std::vector<int64_t> live_bytes(const OrderProblem& problem, std::span<const int> order) {
  PerValue<int> left(problem.bytes.size());  // nodes that have yet to read each value
  PerValue<bool> written(problem.bytes.size());
  for (const OrderedNode& node : problem.nodes) {
    for (ValueId v : node.reads) ++left[v];
    for (ValueId v : node.writes) written[v] = true;
  }
  std::vector<int64_t> heights;
  int64_t live = 0;
  for (int n : order) {
    const OrderedNode& node = problem.node(n);
    int64_t results = 0, dead = 0, reused = 0;
    for (ValueId v : node.writes) results += problem.bytes[v];
    for (ValueId v : node.reads) {
      if (--left[v] > 0 || !written[v]) continue;
      dead += problem.bytes[v];
      if (reused == 0 && std::ranges::find(node.reuses, v) != node.reuses.end()) reused = std::min(results, problem.bytes[v]);
    }
    heights.push_back(live + results - reused);
    live += results - dead;
    for (ValueId v : node.writes) live -= left[v] == 0 ? problem.bytes[v] : 0;
  }
  return heights;
}

int64_t peak_bytes(const OrderProblem& problem, std::span<const int> order) {
  const std::vector<int64_t> heights = live_bytes(problem, order);
  return heights.empty() ? 0 : std::ranges::max(heights);
}

NodeOrder find_node_order(const OrderProblem& problem, int width, int64_t effort) {
  NodeOrder given;
  given.order.resize(problem.nodes.size());
  std::iota(given.order.begin(), given.order.end(), 0);
  given.peak = peak_bytes(problem, given.order);
  NodeOrder found = Search(problem, given.peak, width, effort).run();
  if (!found.order.empty() && found.order.size() == problem.nodes.size()) return found;
  given.exact = found.exact;
  return given;
}

}  // namespace onnxc
