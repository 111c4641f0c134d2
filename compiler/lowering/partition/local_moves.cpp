// C. M. Fiduccia and R. M. Mattheyses, "A linear-time heuristic for improving network partitions", 1982. A pass moves each node at most once, always the one that
// gains most, even where it loses: a chain that pays as a whole is moved node by node through partitions that cost more. Then all but the best of the
// partitions on the way are undone. What had no room waits until some leaves.
#include "compiler/lowering/partition/local_moves.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <queue>
#include <set>
#include <tuple>
#include <utility>

namespace onnxc::partition {
namespace {

// Moves that bring nothing before a pass ends, passes, and looks at values: for graphs of which even one pass takes long.
constexpr int kPatience = 400;
constexpr int kLocalPasses = 8;
constexpr int kMostLooks = 64;  // at those that wait for room, whenever some is left
constexpr int64_t kMostWork = 10'000'000;

class Mover {
 public:
  Mover(const Problem& problem, std::vector<int> devices)
      : problem_(problem),
        devices_(std::move(devices)),
        values_of_(problem.nodes.size()),
        readers_on_(problem.values.size()),
        stamps_(problem.nodes.size()) {
    for (int v = 0; v < static_cast<int>(problem.values.size()); ++v) {
      const Value& value = problem.values[v];
      if (value.producer != kNone) values_of_[value.producer].push_back(v);
      for (int reader : value.readers) values_of_[reader].push_back(v), ++readers_on_[v][devices_[reader]];
      for (int device : value.wanted) ++readers_on_[v][device];
    }
    const std::vector<int64_t> bytes = weight_bytes(problem, devices_);
    for (int d = 0; d < problem.devices; ++d) room_.push_back(problem.limit(d) - bytes[d]);
  }

  std::vector<int> run() {
    for (int pass = 0; pass < kLocalPasses && work_ < kMostWork && run_pass(); ++pass) {
    }
    return std::move(devices_);
  }

 private:
  struct Move {
    double cost_ns;  // of doing it: negative where it pays
    int to, node, stamp;
    bool operator<(const Move& other) const {  // the queue's top is the largest
      return std::tie(cost_ns, to, node, stamp) > std::tie(other.cost_ns, other.to, other.node, other.stamp);
    }
  };

  int place_of(const Value& value) const { return value.producer == kNone ? value.place : devices_[value.producer]; }

  double cost_of_move(int node, int to) {
    const int from = devices_[node];
    double sum = problem_.nodes[node].cost_ns[to] - problem_.nodes[node].cost_ns[from];
    for (int v : values_of_[node]) {
      const Value& value = problem_.values[v];
      const auto& readers = readers_on_[v];
      if (value.producer == node) {
        for (int d = 0; d < problem_.devices; ++d) {
          if (readers[d] == 0) continue;
          sum += (d != to ? problem_.transfer_ns(value, to, d) : 0) - (d != from ? problem_.transfer_ns(value, from, d) : 0);
        }
        continue;
      }
      const int place = place_of(value);
      if (place != from && readers[from] == 1) sum -= problem_.transfer_ns(value, place, from);
      if (place != to && readers[to] == 0) sum += problem_.transfer_ns(value, place, to);
    }
    work_ += static_cast<int64_t>(values_of_[node].size()) + 1;
    return sum;
  }

  void offer(int node) {
    ++stamps_[node];
    for (int to = 0; to < problem_.devices; ++to) {
      if (to != devices_[node] && problem_.may_run(node, to)) queue_.push({cost_of_move(node, to), to, node, stamps_[node]});
    }
  }

  /// Does the move, and offers those anew for whom it makes a difference.
  void move(int node, int to) {
    const int from = devices_[node];
    room_[from] += problem_.weight_bytes(node, from);
    room_[to] -= problem_.weight_bytes(node, to);
    devices_[node] = to;
    for (int v : values_of_[node]) {
      const Value& value = problem_.values[v];
      bool matters = value.producer == node;
      if (!matters) {
        const int left = --readers_on_[v][from], there = ++readers_on_[v][to];
        matters = left <= 1 || there <= 2;
      }
      if (!matters) continue;
      work_ += static_cast<int64_t>(value.readers.size());
      for (int reader : value.readers) changed_.push_back(reader);
      if (value.producer != kNone) changed_.push_back(value.producer);
    }
  }

  /// Some room was left: those that gain most, and have room now, are in the queue again.
  void let_in(std::set<Move>& waiting, const std::vector<bool>& moved) {
    auto w = waiting.end();
    for (int looks = 0; looks < kMostLooks && w != waiting.begin(); ++looks) {
      --w;
      ++work_;
      const bool out_of_date = moved[w->node] || w->stamp != stamps_[w->node];
      const bool has_room = problem_.weight_bytes(w->node, w->to) <= room_[w->to];
      if (has_room && !out_of_date) queue_.push(*w);
      if (has_room || out_of_date) w = waiting.erase(w);
    }
  }

  bool run_pass() {
    queue_ = {};
    std::vector<bool> moved(devices_.size());
    std::vector<std::set<Move>> waiting(problem_.devices);  // for room on a device; what gains most comes last
    std::vector<std::pair<int, int>> moves;                 // nodes, and where they were
    for (int i = 0; i < static_cast<int>(devices_.size()); ++i) offer(i);
    double sum = 0, best = 0;
    std::size_t best_moves = 0;
    while (!queue_.empty() && moves.size() < best_moves + kPatience && work_ < kMostWork) {
      const Move next = queue_.top();
      queue_.pop();
      if (moved[next.node] || next.stamp != stamps_[next.node]) continue;
      if (problem_.weight_bytes(next.node, next.to) > room_[next.to]) {
        waiting[next.to].insert(next);
        continue;
      }
      const int from = devices_[next.node];
      moved[next.node] = true;
      moves.emplace_back(next.node, from);
      changed_.clear();
      move(next.node, next.to);
      std::ranges::sort(changed_);
      changed_.erase(std::unique(changed_.begin(), changed_.end()), changed_.end());
      for (int node : changed_) {
        if (!moved[node]) offer(node);
      }
      if (problem_.weight_bytes(next.node, from) > 0) let_in(waiting[from], moved);
      sum += next.cost_ns;
      if (sum < best - 1e-9 * (1 + std::abs(best))) best = sum, best_moves = moves.size();
    }
    for (; moves.size() > best_moves; moves.pop_back()) move(moves.back().first, moves.back().second);
    return best_moves > 0;
  }

  const Problem& problem_;
  std::vector<int> devices_;
  std::vector<std::vector<int>> values_of_;                ///< that each node makes or reads
  std::vector<std::array<int, kMostDevices>> readers_on_;  ///< of each value, the caller counted as one where it wants it
  std::vector<int> stamps_;                                ///< only a node's last offers count
  std::vector<int64_t> room_;                              ///< bytes of weights that each device can still take
  std::priority_queue<Move> queue_;
  std::vector<int> changed_;
  int64_t work_ = 0;
};

}  // namespace

std::vector<int> move_nodes(const Problem& problem, std::vector<int> devices) { return Mover(problem, std::move(devices)).run(); }

}  // namespace onnxc::partition
