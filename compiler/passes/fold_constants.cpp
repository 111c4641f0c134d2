#include <algorithm>

#include "compiler/passes/passes.h"
#include "compiler/passes/propagate.h"

namespace onnxc {

Graph fold_constants(Graph graph) {
  // kGrowth: codes of two bits grow by this factor when they become floats.
  constexpr int64_t kLeast = int64_t{1} << 27, kMost = int64_t{1} << 31, kGrowth = 16;
  constexpr double kLeastWork = 1e9, kWork = 64;  // of multiply-adds; kWork for each byte
  int64_t given = 0;
  for_each_graph(graph, [&](const Graph& part) {
    for (const Value& value : part.values) given += value.constant ? bytes_held(*value.constant) : 0;
  });
  propagate(graph, {.most_bytes = int64_t{1} << 29,
                    .total_bytes = std::clamp(kGrowth * std::min(given, kMost), kLeast, kMost),
                    .growth_bytes = int64_t{1} << 24,
                    .work = std::max(kLeastWork, kWork * static_cast<double>(given))});
  return graph;
}

}  // namespace onnxc
