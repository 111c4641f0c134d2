// Channel shuffles move into weights.
//
// Concat, Split, Slice and Gather along the channels of images only select: each channel of the result is a channel
// of one of the operands. Composed, they state for each value which channels of which sources it consists of. A
// convolution over all channels works with any order of channels, as long as its weights have the same order. The
// same holds for everything that works channel by channel before it: depthwise convolutions and elementwise
// functions. So what such a convolution reads is assembled directly from the sources, by runs of neighbouring
// channels, and the shuffles in between are not needed:
//
//   s = Gather c [0, 3, 1, 4, 2, 5]         c = Concat a b, of three channels each
//   p, q = Split s                          p is a0 b0 a1, q is b1 a2 b2        becomes     r = Concat (Slice a [2, 3)) (Slice b [1, 3))
//   y = Conv q w                                                                           y = Conv r w'
//
// with the input channels of w' in the order of r, a2 b1 b2. A slice of a channels-last image is a view, and a source
// that is used as a whole is computed in its place in r, so only the slices are copied. Units of ShuffleNet v2 split
// such a shuffle. Channels that bypass a unit are not copied until a convolution reads them, and the results of a
// unit are read in halves, quarters and so on.
//
// Values that selections connect are decided on together, by the number of channels copied before and after. Nothing
// changes if no Gather is among the nodes. Values that something else reads keep their order, and so do the nodes
// that compute them. Results change only by the order of summation.
#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "compiler/ir/layout.h"
#include "compiler/ops/operator.h"
#include "compiler/ops/tensor/gather.h"
#include "compiler/passes/passes.h"

namespace onnxc {
namespace {

// The least average number of channels in a run. Shorter runs cost more than a shuffle.
constexpr int64_t kShortestRun = 4;
// The most channels of all sources for each channel that is read, since the sources stay live until then.
constexpr int64_t kMostSources = 16;
// The most channels listed for all values together. Later values of the graph are left as they are.
constexpr int64_t kMostPicks = 1 << 22;
// The most nodes between a value and the convolution whose weights take its order.
constexpr int kDeepest = 32;
// The most values of a group that are tried without.
constexpr int kMostTrials = 512;

struct Pick {
  ValueId source;
  int64_t channel;
  auto operator<=>(const Pick&) const = default;
};
using Picks = std::vector<Pick>;

/// Neighbouring channels [first, last) of a source.
struct Run {
  ValueId source;
  int64_t first, last;
};

std::vector<Run> runs_of(const Picks& picks) {
  std::vector<Run> runs;
  for (const Pick& pick : picks) {
    if (!runs.empty() && runs.back().source == pick.source && runs.back().last == pick.channel) ++runs.back().last;
    else runs.push_back({pick.source, pick.channel, pick.channel + 1});
  }
  return runs;
}

/// A value read by convolutions, whose channels may come in any order. `order` lists its channels by their number in
/// the value.
struct Free {
  std::vector<int> readers;
  std::vector<std::size_t> order;
  std::vector<Run> runs;
};
using Rewritten = std::map<ValueId, const Free*>;

class Selector {
 public:
  explicit Selector(Graph& graph) : graph_(graph), fresh_(first_fresh(graph)) {}

  void run() {
    for (Node& node : graph_.nodes) {
      for (auto& [name, region] : node.regions) *region = select_channels(std::move(*region));
    }
    if (std::ranges::none_of(graph_.nodes, [&](const Node& node) { return picked_channels(graph_, node).has_value(); })) return;
    look();
    for (const auto& [root, nodes] : connected()) {
      if (std::ranges::any_of(nodes, [&](int i) { return graph_.node(i).is("Gather"); })) decide(nodes);
    }
    std::vector<Node> nodes;
    for (int i = 0; i < std::ssize(graph_.nodes); ++i) {
      std::ranges::move(before_[i], std::back_inserter(nodes));
      nodes.push_back(std::move(graph_.node(i)));
    }
    graph_.nodes = std::move(nodes);
  }

 private:
  int64_t channels(ValueId v) const { return graph_[v].type.extents[1].value(); }
  bool selects(int i) const {
    const ValueId v = graph_.node(i).output(0);
    return v != kAbsent && !picks_[v].empty();
  }

  // ---- Analysis

  void look() {
    picks_.resize(graph_.values.size());
    readers_.resize(graph_.values.size());
    outside_.resize(graph_.values.size());
    before_.resize(graph_.nodes.size());
    definition_ = definitions(graph_);
    for (ValueId v : graph_.outputs) outside_[v] = true;
    for (int i = 0; i < std::ssize(graph_.nodes); ++i) {
      const Node& node = graph_.node(i);
      for (ValueId v : node.captures) outside_[v] = true;
      for (ValueId v : node.inputs) {
        if (v != kAbsent && (readers_[v].empty() || readers_[v].back() != i)) readers_[v].push_back(i);
      }
      select(node);
    }
  }

  /// All channels of a value, as channels of its sources.
  Picks whole(ValueId v) const {
    Picks picks = picks_[v];
    if (!picks.empty()) return picks;
    for (int64_t c = 0; c < channels(v); ++c) picks.push_back({v, c});
    return picks;
  }

  /// Records the channels of the node's results, if it selects.
  void select(const Node& node) {
    const bool may_select = node.is("Gather") || node.is("Concat") || node.is("Split") || node.is("Slice");
    if (!may_select || node.epilogue || !node.domain.empty() || node.outputs.empty()) return;
    const auto usable = [&](ValueId v) {
      return v != kAbsent && is_image(graph_[v].type) && graph_[v].constant == nullptr && graph_[v].type.extents[1].is_constant() &&
             channels(v) > 0;
    };
    if (!usable(node.input(0)) || std::ranges::any_of(node.outputs, [&](ValueId v) { return !usable(v); })) return;
    const auto fits = [&](ValueId v) {
      left_ -= std::min(left_, channels(v));
      return left_ > 0;
    };
    if (!fits(node.input(0)) || !std::ranges::all_of(node.outputs, fits)) return;
    const int rank = graph_[node.input(0)].type.rank();
    const auto along_channels = [&](int64_t axis) { return axis == 1 || axis == 1 - rank; };
    if (const auto picked = picked_channels(graph_, node)) {
      const Picks all = whole(node.input(0));
      for (int64_t c : *picked) picks_[node.outputs[0]].push_back(all[static_cast<std::size_t>(c)]);
    } else if (node.is("Concat") && along_channels(node.integer("axis", 0)) && std::ranges::all_of(node.inputs, usable)) {
      for (ValueId v : node.inputs) std::ranges::copy(whole(v), std::back_inserter(picks_[node.outputs[0]]));
    } else if (node.is("Split") && along_channels(node.integer("axis", 0))) {
      const Picks all = whole(node.input(0));
      auto next = all.begin();
      for (ValueId v : node.outputs) {
        const auto first = next;
        picks_[v].assign(first, next += channels(v));
      }
    } else if (node.is("Slice")) {
      const auto number = [&](int i) -> std::optional<int64_t> {
        const TensorData* c = graph_.constant(node.input(i));
        return c != nullptr && c->count() == 1 ? std::optional(to_integers(*c)[0]) : std::nullopt;
      };
      const auto start = number(1), axis = number(3);
      if (!start || !number(2) || !axis || !along_channels(*axis) || (node.has_input(4) && number(4) != 1)) return;
      const Picks all = whole(node.input(0));
      const auto count = static_cast<int64_t>(all.size()), first = std::clamp<int64_t>(*start < 0 ? *start + count : *start, 0, count);
      picks_[node.outputs[0]].assign(all.begin() + first, all.begin() + first + channels(node.outputs[0]));
    }
  }

  /// Whether the order of the channels of `v`, which the node reads, does not matter: all of them go into sums, or
  /// only into values whose channels do.
  bool is_free(int reader, ValueId v, int depth = 0) const {
    const Node& node = graph_.node(reader);
    if (depth > kDeepest || std::ranges::count(node.inputs, v) != 1) return false;
    const auto passes_on = [&] {
      const auto& next = readers_[node.outputs[0]];
      return !outside_[node.outputs[0]] && !next.empty() &&
             std::ranges::all_of(next, [&](int i) { return is_free(i, node.outputs[0], depth + 1); });
    };
    if (node.is_map()) {
      const auto is_number = [&](ValueId other) {
        return other == v || (graph_.constant(other) != nullptr && graph_.constant(other)->count() == 1);
      };
      return graph_[node.outputs[0]].type == graph_[v].type && std::ranges::all_of(node.inputs, is_number) && passes_on();
    }
    if (!node.is("Conv") || node.epilogue || node.input(0) != v || is_exact(node)) return false;
    const TensorData* w = graph_.constant(node.input(1));
    if (w == nullptr || w->type != ElementType::F32 || w->shape.size() < 3 ||
        (node.has_input(2) && graph_.constant(node.input(2)) == nullptr))
      return false;
    const int64_t group = node.integer("group", 1);
    return group == 1 || (group == channels(v) && w->shape[0] == group && w->shape[1] == 1 && passes_on());
  }

  /// The selecting nodes, in groups that are connected through their values, each by one of its nodes.
  std::map<int, std::vector<int>> connected() const {
    PerNode<int> group(graph_.nodes.size());
    std::iota(group.begin(), group.end(), 0);
    const auto find = [&](int i) {
      while (group[i] != i) i = group[i] = group[group[i]];
      return i;
    };
    const auto for_each_selecting = [&](auto&& visit) {
      for (int i = 0; i < std::ssize(graph_.nodes); ++i) {
        if (selects(i)) visit(i);
      }
    };
    for_each_selecting([&](int i) {
      for (ValueId v : graph_.node(i).inputs) {
        if (v != kAbsent && !picks_[v].empty()) group[find(definition_[v])] = find(i);
      }
    });
    std::map<int, std::vector<int>> groups;
    for_each_selecting([&](int i) { groups[find(i)].push_back(i); });
    return groups;
  }

  // ---- Decisions

  void decide(const std::vector<int>& nodes) {
    std::map<ValueId, Free> free;
    for (int i : nodes) {
      for (ValueId v : graph_.node(i).outputs) {
        if (std::optional<Free> one = free_value(v)) free.emplace(v, std::move(*one));
      }
    }
    Rewritten some, uncopied;
    for (const auto& [v, one] : free) {
      some.emplace(v, &one);
      if (one.runs.size() == 1) uncopied.emplace(v, &one);
    }
    int64_t least = copied(nodes, some);
    int trials = 0;
    // If a shuffle stays for other readers, it may be best to use it for this one, too.
    for (const auto& [v, one] : free) {
      if (one.runs.size() == 1 || trials++ >= kMostTrials) continue;
      some.erase(v);
      if (const int64_t count = copied(nodes, some); count < least) least = count;
      else some.emplace(v, &one);
    }
    if (const int64_t count = copied(nodes, uncopied); count < least) some = std::move(uncopied), least = count;
    if (least >= copied(nodes, {})) return;
    for (const auto& [v, one] : some) rewrite(v, *one);
  }

  std::optional<Free> free_value(ValueId v) const {
    Free free;
    std::ranges::copy_if(readers_[v], std::back_inserter(free.readers), [&](int i) { return is_free(i, v); });
    if (free.readers.empty()) return std::nullopt;
    const Picks& picks = picks_[v];
    free.order.resize(picks.size());
    std::iota(free.order.begin(), free.order.end(), std::size_t{0});
    std::ranges::stable_sort(free.order, {}, [&](std::size_t i) { return picks[i]; });
    Picks sorted;
    for (std::size_t i : free.order) sorted.push_back(picks[i]);
    free.runs = runs_of(sorted);
    int64_t sources = 0;
    for (std::size_t i = 0; i < free.runs.size(); ++i)
      sources += i == 0 || free.runs[i].source != free.runs[i - 1].source ? channels(free.runs[i].source) : 0;
    const auto count = static_cast<int64_t>(picks.size());
    if (count < kShortestRun * static_cast<int64_t>(free.runs.size()) || sources > kMostSources * count) return std::nullopt;
    return free;
  }

  /// The number of channels that are copied if these values are assembled from their sources and the nodes compute
  /// the others. A Concat copies operands that are not computed inside it: views, and those that another Concat has
  /// already.
  int64_t copied(const std::vector<int>& nodes, const Rewritten& rewritten) const {
    int64_t count = 0;
    std::set<ValueId> taken;  // values computed inside a Concat
    const auto add = [&](ValueId v) {
      const int defined = definition_[v];
      const bool is_view = !picks_[v].empty() && !graph_.node(defined).is("Gather") && !graph_.node(defined).is("Concat");
      if (is_view || defined < 0 || outside_[v] || !taken.insert(v).second) count += channels(v);
    };
    for (const auto& [v, free] : rewritten) {
      for (const Run& run : free->runs) {
        if (free->runs.size() == 1) break;
        if (run.last - run.first == channels(run.source)) add(run.source);
        else count += run.last - run.first;
      }
    }
    std::set<ValueId> wanted;
    for (std::size_t k = nodes.size(); k-- > 0;) {
      const Node& node = graph_.node(nodes[k]);
      const auto is_wanted = [&](ValueId v) {
        const auto free = rewritten.find(v);
        return wanted.contains(v) || outside_[v] || std::ranges::any_of(readers_[v], [&](int i) {
                 return !selects(i) && (free == rewritten.end() || !std::ranges::binary_search(free->second->readers, i));
               });
      };
      if (std::ranges::none_of(node.outputs, is_wanted)) continue;
      wanted.insert(node.inputs.begin(), node.inputs.end());
      if (node.is("Gather")) count += channels(node.outputs[0]);
      if (node.is("Concat")) std::ranges::for_each(node.inputs, add);
    }
    return count;
  }

  // ---- Changes

  void rewrite(ValueId shuffled, const Free& free) {
    GraphBuilder b(graph_, graph_[shuffled].name, fresh_);
    std::vector<ValueId> parts;
    for (const Run& run : free.runs) {
      const bool all = run.last - run.first == channels(run.source);
      parts.push_back(all ? run.source : b.op("Slice", {run.source, b.integers({run.first}), b.integers({run.last}), b.integers({1})}));
    }
    const ValueId value = parts.size() == 1 ? parts[0] : b.op("Concat", parts, {{"axis", int64_t{1}}});
    std::ranges::move(b.take(), std::back_inserter(before_[definition_[shuffled]]));
    for (int reader : free.readers) {
      std::ranges::replace(graph_.node(reader).inputs, shuffled, value);
      if (!std::ranges::is_sorted(free.order)) reorder(reader, free.order);
    }
  }

  /// Makes the node read its channels in that order.
  void reorder(int reader, const std::vector<std::size_t>& order) {
    Node& node = graph_.node(reader);
    const bool sums = node.is("Conv") && node.integer("group", 1) == 1;
    if (node.is("Conv")) permute(node.inputs[1], order, sums ? 1 : 0);
    if (sums) return;
    if (node.is("Conv") && node.has_input(2)) permute(node.inputs[2], order, 0);
    for (int next : readers_[node.outputs[0]]) reorder(next, order);
  }

  void permute(ValueId& weights, const std::vector<std::size_t>& order, std::size_t axis) {
    const TensorData& old = *graph_.constant(weights);
    auto permuted = std::make_shared<TensorData>(old);
    const std::span<const float> from = old.as<float>();
    const std::span<float> to = permuted->as<float>();
    const std::size_t inner = from.size() / (order.size() * (axis == 0 ? 1 : static_cast<std::size_t>(old.shape[0])));
    for (std::size_t i = 0; i < from.size(); i += inner) {
      const std::size_t row = i / inner / order.size() * order.size(), channel = i / inner % order.size();
      std::copy_n(from.begin() + static_cast<std::ptrdiff_t>((row + order[channel]) * inner), inner,
                  to.begin() + static_cast<std::ptrdiff_t>(i));
    }
    weights = graph_.add_constant(graph_[weights].name + "_ordered", std::move(permuted));
  }

  Graph& graph_;
  int fresh_;
  int64_t left_ = kMostPicks;           // channels that may still be listed
  PerValue<Picks> picks_;               // of each selected value; empty for others
  PerValue<std::vector<int>> readers_;  // of each value, the nodes
  PerValue<bool> outside_;              // the value is an output of the graph, or captured by a region
  PerValue<int> definition_;
  PerNode<std::vector<Node>> before_;  // new nodes, by the one before which they stand
};

}  // namespace

Graph select_channels(Graph graph) {
  Selector(graph).run();
  return eliminate_dead_code(std::move(graph));
}

}  // namespace onnxc
