// Random graphs to partition over devices, and all assignments of small ones.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <random>
#include <set>
#include <vector>

#include "compiler/lowering/partition/problem.h"

namespace onnxc::partition {

struct RandomGraph {
  int nodes, devices;
  bool islands = false, limits = false;
  int most_cost = 20;         // few different ones make ties
  int reach = 1'000'000'000;  // readers are at most so many nodes behind
};

/// Costs are integers, so that sums are exact in any order.
inline Problem random_problem(std::mt19937& random, const RandomGraph& graph) {
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  const auto one_in = [&](int n) { return below(n) == 0; };
  Problem problem{graph.devices, {}, {}, {}};
  for (int i = 0; i < graph.nodes; ++i) {
    Node& node = problem.nodes.emplace_back();
    for (int d = 0; d < graph.devices; ++d) {
      node.cost_ns.push_back(d > 0 && one_in(7) ? kNoKernel : below(graph.most_cost + 1));
      node.weight_bytes.push_back(one_in(3) ? 0 : below(10));
    }
    if (one_in(12)) node.fixed = below(graph.devices);
    if (node.fixed != kNone && node.cost_ns[node.fixed] == kNoKernel) node.fixed = kNone;
    if (graph.islands && one_in(3)) node.island = below(2);
  }
  for (int i = -2; i < graph.nodes; ++i) {
    Value& value = problem.values.emplace_back();
    value.producer = std::max(i, kNone);
    value.place = one_in(4) ? below(graph.devices) : kHost;
    for (int j = std::max(i, 0) + (i >= 0 ? 1 : 0); j < graph.nodes && j - i <= graph.reach; ++j) {
      if (j == i + 1 || one_in(6)) value.readers.push_back(j);
    }
    if (i + 1 == graph.nodes || one_in(15)) value.wanted.push_back(one_in(4) ? below(graph.devices) : kHost);
    for (int t = 0; t < graph.devices * graph.devices; ++t) value.transfer_ns.push_back(below(graph.most_cost * 2 / 3 + 1));
  }
  if (graph.limits) {
    for (int d = 0; d < graph.devices; ++d) problem.limits.push_back(below(3 * graph.nodes) + graph.nodes);
  }
  return problem;
}

/// By the definition, and by no function of the compiler. None if some node runs where it may not, islands are torn, or weights do not fit.
inline std::optional<double> cost_by_definition(const Problem& problem, const std::vector<int>& devices) {
  double sum = 0;
  std::vector<int64_t> bytes(problem.devices);
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const Node& node = problem.nodes[i];
    if (node.cost_ns[devices[i]] == kNoKernel || (node.fixed >= 0 && node.fixed != devices[i])) return std::nullopt;
    for (std::size_t j = 0; j < i && node.island >= 0; ++j) {
      if (problem.nodes[j].island == node.island && devices[j] != devices[i]) return std::nullopt;
    }
    sum += node.cost_ns[devices[i]];
    bytes[devices[i]] += node.weight_bytes.empty() ? 0 : node.weight_bytes[devices[i]];
  }
  for (int d = 0; d < problem.devices && !problem.limits.empty(); ++d) {
    if (bytes[d] > problem.limits[d]) return std::nullopt;
  }
  for (const Value& value : problem.values) {
    const int from = value.producer < 0 ? value.place : devices[value.producer];
    std::set<int> to(value.wanted.begin(), value.wanted.end());
    for (int reader : value.readers) to.insert(devices[reader]);
    to.erase(from);
    for (int d : to) sum += value.transfer_ns[from * problem.devices + d];
  }
  return sum;
}

/// The cheapest of all assignments, and among these the fewest nodes that are not on the host; none if no assignment is possible.
struct Cheapest {
  double cost;
  int away;
};
inline std::optional<Cheapest> cheapest_of_all(const Problem& problem) {
  std::vector<int> devices(problem.nodes.size());
  std::optional<Cheapest> best;
  for (;;) {
    const int away = static_cast<int>(std::ranges::count_if(devices, [](int d) { return d != kHost; }));
    const std::optional<double> cost = cost_by_definition(problem, devices);
    if (cost && (!best || *cost < best->cost || (*cost == best->cost && away < best->away))) best = {*cost, away};
    std::size_t i = 0;
    while (i < devices.size() && ++devices[i] == problem.devices) devices[i++] = 0;
    if (i == devices.size()) return best;
  }
}

}  // namespace onnxc::partition
