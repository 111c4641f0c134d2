// Goldberg and Tarjan's push-relabel method, highest label first, with gaps and exact labels from time to time (Cherkassky and Goldberg, "On implementing
// the push-relabel method for the maximum flow problem", 1997). Only its first phase is needed, after which no excess can reach the sink any more:
//
//     source =5=> a --3--> b =4=> sink      a gets an excess of 5 and pushes 3 on to b, which pushes 3 into the sink. The other 2 are stuck at a: its label
//                                           rises above all that can reach the sink. {b} reaches the sink, so the cut is a -> b.
//
// The second phase, which is not run, would bring what is stuck back to the source, along arcs between vertices that cannot reach the sink. It changes
// no cut. Labels are lower bounds of the distance to the sink, in arcs that still have room. The time is O(n^2 sqrt(m)) at worst and mostly near to linear;
// unlike ways that augment one path at a time, it does not take quadratic time on long chains, where excess flows together. Nothing here is recursive.
#include "compiler/lowering/partition/preflow.h"

#include <algorithm>
#include <cstddef>

namespace onnxc::partition {
namespace {

class Preflow {
 public:
  explicit Preflow(const Network& network) : n_(static_cast<int>(network.from_source.size())), excess_(n_), sink_room_(n_), first_(n_ + 1) {
    for (const Network::Arc& arc : network.arcs) ++first_[arc.from + 1], ++first_[arc.to + 1];
    for (int v = 0; v < n_; ++v) {
      first_[v + 1] += first_[v];
      // What enters from the source and has room to leave to the sink does so at once.
      const int64_t through = std::min(network.from_source[v], network.to_sink[v]);
      excess_[v] = network.from_source[v] - through;
      sink_room_[v] = network.to_sink[v] - through;
    }
    arcs_.resize(network.arcs.size() * 2);
    std::vector<int> next(first_.begin(), first_.end() - 1);
    for (const Network::Arc& arc : network.arcs) {
      const int there = next[arc.from]++, back = next[arc.to]++;
      arcs_[there] = {arc.to, back, arc.capacity};
      arcs_[back] = {arc.from, there, arc.back};
    }
  }

  SinkSide run() {
    relabel_all();
    while (highest_ > 0) {
      const int v = active_[highest_];
      if (v == kEnd) {
        --highest_;
        continue;
      }
      active_[highest_] = next_active_[v];
      discharge(v);
      if (relabel_work_ > 4 * (n_ + static_cast<int64_t>(arcs_.size()))) relabel_all();
    }
    relabel_all();
    SinkSide side{std::vector<bool>(n_), work_};
    for (int v = 0; v < n_; ++v) side.contains[v] = label_[v] <= n_;
    return side;
  }

 private:
  struct Half {
    int to, reverse;
    int64_t room;
  };
  static constexpr int kEnd = -1;

  /// Labels become distances to the sink, 1 to n; n + 1 where there is no way to it.
  void relabel_all() {
    relabel_work_ = 0;
    label_.assign(n_, n_ + 1);
    current_.assign(first_.begin(), first_.end() - 1);
    active_.assign(n_ + 2, kEnd), with_label_.assign(n_ + 2, kEnd);
    next_active_.assign(n_, kEnd), next_.assign(n_, kEnd), previous_.assign(n_, kEnd);
    highest_ = 0, most_label_ = 0;
    std::vector<int> queue;
    queue.reserve(n_);
    const auto reach = [&](int v, int label) {
      enter(v, label);
      queue.push_back(v);
      if (excess_[v] > 0) activate(v);
    };
    for (int v = 0; v < n_; ++v) {
      if (sink_room_[v] > 0) reach(v, 1);
    }
    for (std::size_t q = 0; q < queue.size(); ++q) {
      const int v = queue[q];
      work_ += first_[v + 1] - first_[v];
      for (int a = first_[v]; a < first_[v + 1]; ++a) {
        const int from = arcs_[a].to;
        if (label_[from] > n_ && arcs_[arcs_[a].reverse].room > 0) reach(from, label_[v] + 1);
      }
    }
  }

  /// Pushes the excess of v on, and raises its label until all of it has gone or no way to the sink is left.
  void discharge(int v) {
    if (label_[v] == 1 && sink_room_[v] > 0) {
      const int64_t flow = std::min(excess_[v], sink_room_[v]);
      excess_[v] -= flow, sink_room_[v] -= flow;
    }
    while (excess_[v] > 0) {
      if (current_[v] == first_[v + 1]) {
        if (!relabel(v)) return;
        continue;
      }
      ++work_;
      Half& arc = arcs_[current_[v]];
      if (arc.room == 0 || label_[v] != label_[arc.to] + 1) {
        ++current_[v];
        continue;
      }
      const int64_t flow = std::min(excess_[v], arc.room);
      arc.room -= flow, arcs_[arc.reverse].room += flow;
      excess_[v] -= flow, excess_[arc.to] += flow;
      if (excess_[arc.to] == flow) activate(arc.to);
    }
  }

  /// False if v can no longer reach the sink.
  bool relabel(int v) {
    const int old = label_[v];
    int least = n_;
    for (int a = first_[v]; a < first_[v + 1]; ++a) {
      if (arcs_[a].room > 0) least = std::min(least, label_[arcs_[a].to]);
    }
    work_ += first_[v + 1] - first_[v];
    relabel_work_ += first_[v + 1] - first_[v] + 4;
    leave(v);
    if (with_label_[old] == kEnd) {  // a gap: nothing above it reaches the sink
      for (int label = old + 1; label <= most_label_; ++label) {
        for (int u = with_label_[label]; u != kEnd; u = next_[u]) label_[u] = n_ + 1;
        with_label_[label] = kEnd;
      }
      most_label_ = old - 1;
      label_[v] = n_ + 1;
      return false;
    }
    label_[v] = n_ + 1;
    if (least >= n_) return false;
    enter(v, least + 1);
    current_[v] = first_[v];
    return true;
  }

  void activate(int v) {
    next_active_[v] = active_[label_[v]];
    active_[label_[v]] = v;
    highest_ = std::max(highest_, label_[v]);
  }
  void enter(int v, int label) {
    label_[v] = label;
    most_label_ = std::max(most_label_, label);
    previous_[v] = kEnd, next_[v] = with_label_[label];
    if (next_[v] != kEnd) previous_[next_[v]] = v;
    with_label_[label] = v;
  }
  void leave(int v) {
    if (next_[v] != kEnd) previous_[next_[v]] = previous_[v];
    (previous_[v] != kEnd ? next_[previous_[v]] : with_label_[label_[v]]) = next_[v];
  }

  int n_;
  std::vector<int64_t> excess_, sink_room_;
  std::vector<int> first_;  ///< arcs of v: [first_[v], first_[v + 1])
  std::vector<Half> arcs_;
  std::vector<int> label_, current_;
  std::vector<int> with_label_, next_, previous_;  ///< for each label a list of the vertices that have it
  std::vector<int> active_, next_active_;          ///< likewise of those that have excess
  int highest_ = 0, most_label_ = 0;               ///< no label of a vertex with excess is higher; no label that reaches the sink
  int64_t relabel_work_ = 0, work_ = 0;
};

}  // namespace

SinkSide smallest_sink_side(const Network& network) { return Preflow(network).run(); }

}  // namespace onnxc::partition
