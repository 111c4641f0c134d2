#include "compiler/lowering/partition/problem.h"

#include <algorithm>
#include <cstddef>

#include "compiler/support/error.h"

namespace onnxc::partition {

void check_problem(const Problem& problem) {
  const int devices = problem.devices, nodes = static_cast<int>(problem.nodes.size());
  const auto is_device = [&](int d) { return d >= 0 && d < devices; };
  const auto one_each = [&](const auto& list) { return static_cast<int>(list.size()) == devices; };
  ONNXC_CHECK(devices >= 1 && devices <= kMostDevices, "1 to 16 devices");
  ONNXC_CHECK(problem.limits.empty() || one_each(problem.limits), "one limit for each device");
  for (const Node& node : problem.nodes) {
    ONNXC_CHECK(one_each(node.cost_ns), "one cost for each device");
    ONNXC_CHECK(std::ranges::all_of(node.cost_ns, [](double c) { return c >= 0; }), "costs are not negative");
    ONNXC_CHECK(node.weight_bytes.empty() || one_each(node.weight_bytes), "bytes of weights for each device");
    ONNXC_CHECK(std::ranges::all_of(node.weight_bytes, [](int64_t b) { return b >= 0; }), "bytes are not negative");
    ONNXC_CHECK(node.island >= kNone && (node.fixed == kNone || is_device(node.fixed)), "islands and devices are numbered from 0");
  }
  for (const Value& value : problem.values) {
    ONNXC_CHECK(value.producer >= kNone && value.producer < nodes && is_device(value.place), "a node, or a device, makes each value");
    ONNXC_CHECK(std::ranges::all_of(value.readers, [&](int r) { return r > value.producer && r < nodes; }),
                "nodes are in topological order");
    ONNXC_CHECK(std::ranges::all_of(value.wanted, is_device), "values are wanted on devices");
    ONNXC_CHECK(static_cast<int>(value.transfer_ns.size()) == devices * devices, "one transfer for each pair of devices");
    ONNXC_CHECK(std::ranges::all_of(value.transfer_ns, [](double t) { return t >= 0 && t < kNoKernel; }), "transfers are finite");
  }
}

double cost_ns(const Problem& problem, const std::vector<int>& devices) {
  double sum = 0;
  for (std::size_t i = 0; i < problem.nodes.size(); ++i) {
    if (!problem.may_run(static_cast<int>(i), devices[i])) return kNoKernel;
    sum += problem.nodes[i].cost_ns[devices[i]];
  }
  for (const Value& value : problem.values) {
    const int from = value.producer == kNone ? value.place : devices[value.producer];
    unsigned needed = 0;
    for (int reader : value.readers) needed |= 1u << devices[reader];
    for (int device : value.wanted) needed |= 1u << device;
    for (int to = 0; to < problem.devices; ++to) sum += to != from && (needed >> to & 1) != 0 ? problem.transfer_ns(value, from, to) : 0;
  }
  return sum;
}

std::vector<int64_t> weight_bytes(const Problem& problem, const std::vector<int>& devices) {
  std::vector<int64_t> bytes(problem.devices);
  for (std::size_t i = 0; i < problem.nodes.size(); ++i) bytes[devices[i]] += problem.weight_bytes(static_cast<int>(i), devices[i]);
  return bytes;
}

bool fits(const Problem& problem, const std::vector<int>& devices) {
  const std::vector<int64_t> bytes = weight_bytes(problem, devices);
  for (int d = 0; d < problem.devices; ++d) {
    if (bytes[d] > problem.limit(d)) return false;
  }
  return true;
}

}  // namespace onnxc::partition
