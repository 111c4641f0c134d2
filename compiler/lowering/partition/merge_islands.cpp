#include "compiler/lowering/partition/merge_islands.h"

#include <algorithm>
#include <cstddef>
#include <map>

namespace onnxc::partition {

std::vector<int> Merged::of_each_node(const std::vector<int>& devices) const {
  std::vector<int> result;
  for (int m : merged) result.push_back(devices[m]);
  return result;
}

std::vector<int> Merged::of_each_island(const std::vector<int>& devices) const {
  std::vector<int> result;
  for (int node : first) result.push_back(devices[node]);
  return result;
}

int Merged::node_without_device() const {
  for (std::size_t m = 0; m < problem.nodes.size(); ++m) {
    if (std::ranges::all_of(problem.nodes[m].cost_ns, [](double c) { return c == kNoKernel; })) return static_cast<int>(m);
  }
  return kNone;
}

Merged merge_islands(const Problem& problem) {
  Merged result;
  result.problem.devices = problem.devices;
  result.problem.limits = problem.limits;
  std::vector<Node>& nodes = result.problem.nodes;
  std::map<int, int> islands;
  for (int i = 0; i < static_cast<int>(problem.nodes.size()); ++i) {
    const int next = static_cast<int>(nodes.size()), island = problem.nodes[i].island;
    const int m = island == kNone ? next : islands.emplace(island, next).first->second;
    if (m == next) {
      nodes.push_back({std::vector<double>(problem.devices), std::vector<int64_t>(problem.devices)});
      result.first.push_back(i);
    }
    result.merged.push_back(m);
    for (int d = 0; d < problem.devices; ++d) {
      nodes[m].cost_ns[d] += problem.may_run(i, d) ? problem.nodes[i].cost_ns[d] : kNoKernel;
      nodes[m].weight_bytes[d] += problem.weight_bytes(i, d);
    }
  }
  for (Value value : problem.values) {
    if (value.producer != kNone) value.producer = result.merged[value.producer];
    for (int& reader : value.readers) reader = result.merged[reader];
    std::ranges::sort(value.readers);
    value.readers.erase(std::unique(value.readers.begin(), value.readers.end()), value.readers.end());
    std::erase(value.readers, value.producer);
    if (!value.readers.empty() || !value.wanted.empty()) result.problem.values.push_back(std::move(value));
  }
  return result;
}

}  // namespace onnxc::partition
