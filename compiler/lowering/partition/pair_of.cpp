#include "compiler/lowering/partition/pair_of.h"

#include <utility>

namespace onnxc::partition {

Pair pair_of(const Problem& problem, const std::vector<int>& devices, int a, int b) {
  Pair pair;
  if (!problem.limits.empty()) pair.problem.limits = {problem.limit(a), problem.limit(b)};
  std::vector<int> index(devices.size(), kNone);
  for (int i = 0; i < static_cast<int>(devices.size()); ++i) {
    if (devices[i] != a && devices[i] != b) continue;
    index[i] = static_cast<int>(pair.nodes.size());
    pair.nodes.push_back(i);
    const std::vector<double>& cost = problem.nodes[i].cost_ns;
    pair.problem.nodes.push_back({{cost[a], cost[b]}, {problem.weight_bytes(i, a), problem.weight_bytes(i, b)}});
  }
  for (const Value& value : problem.values) {
    Value inner{value.producer == kNone ? kNone : index[value.producer], kHost, {}, {}, {}};
    unsigned elsewhere = 0;  // devices that need the value, too
    const auto need = [&](int device) {
      if (device == a || device == b) inner.wanted.push_back(device == a ? 0 : 1);
      else elsewhere |= 1u << device;
    };
    for (int device : value.wanted) need(device);
    for (int reader : value.readers) {
      if (index[reader] != kNone) inner.readers.push_back(index[reader]);
      else need(devices[reader]);
    }
    if (inner.producer != kNone) {
      for (int d = 0; d < problem.devices; ++d) {
        if ((elsewhere >> d & 1) == 0) continue;
        pair.problem.nodes[inner.producer].cost_ns[0] += problem.transfer_ns(value, a, d);
        pair.problem.nodes[inner.producer].cost_ns[1] += problem.transfer_ns(value, b, d);
      }
    }
    const int from = value.producer == kNone ? value.place : devices[value.producer];
    if (from == a || from == b) {
      inner.place = from == a ? 0 : 1;
      inner.transfer_ns = {0, problem.transfer_ns(value, a, b), problem.transfer_ns(value, b, a), 0};
      pair.problem.values.push_back(std::move(inner));
    } else {  // from a third device to a, and to b, as if from the other of the two
      inner.transfer_ns = {0, problem.transfer_ns(value, from, b), 0, 0};
      pair.problem.values.push_back(inner);
      inner.place = 1;
      inner.transfer_ns = {0, 0, problem.transfer_ns(value, from, a), 0};
      pair.problem.values.push_back(std::move(inner));
    }
  }
  return pair;
}

}  // namespace onnxc::partition
