#include <algorithm>

#include "compiler/passes/passes.h"
#include "compiler/passes/propagate.h"

namespace onnxc {

namespace {

/// The bytes of constants that the model holds.
int64_t given_bytes(Graph& graph) {
  int64_t bytes = 0;
  for_each_graph(graph, [&](const Graph& part) {
    for (const Value& value : part.values) bytes += value.constant ? bytes_held(*value.constant) : 0;
  });
  return bytes;
}

}  // namespace

Graph fold_constants(Graph graph) {
  // kGrowth: codes of two bits grow by this factor when they become floats.
  constexpr int64_t kLeast = int64_t{1} << 27, kMost = int64_t{1} << 31, kGrowth = 16;
  int64_t bytes_left = std::clamp(kGrowth * std::min(given_bytes(graph), kMost), kLeast, kMost);
  return fold_constants(std::move(graph), bytes_left);
}

Graph fold_constants(Graph graph, int64_t& bytes_left) {
  constexpr double kLeastWork = 1e9, kWork = 64;  // of multiply-adds; kWork for each byte
  bytes_left -= propagate(graph, {.most_bytes = int64_t{1} << 29,
                                  .total_bytes = bytes_left,
                                  .growth_bytes = int64_t{1} << 24,
                                  .work = std::max(kLeastWork, kWork * static_cast<double>(given_bytes(graph)))});
  bytes_left = std::max<int64_t>(bytes_left, 0);
  return graph;
}

}  // namespace onnxc
