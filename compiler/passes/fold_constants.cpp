#include <algorithm>

#include "compiler/passes/passes.h"
#include "compiler/passes/propagate.h"

namespace onnxc {

namespace {

/// The bytes of constants that the model holds: of all together, and of the largest.
struct GivenBytes {
  int64_t all = 0, most = 0;
};
GivenBytes given_bytes(Graph& graph) {
  GivenBytes bytes;
  for_each_graph(graph, [&](const Graph& part) {
    for (const Value& value : part.values) {
      const int64_t held = value.constant ? bytes_held(*value.constant) : 0;
      bytes.all += held;
      bytes.most = std::max(bytes.most, held);
    }
  });
  return bytes;
}

/// By which large constants may grow: f16 weights become floats, and are transposed before or after.
constexpr int64_t kGrowthOfLarge = 4;

}  // namespace

Graph fold_constants(Graph graph) {
  // kGrowth: codes of two bits grow by this factor when they become floats.
  constexpr int64_t kLeast = int64_t{1} << 27, kMost = int64_t{1} << 31, kGrowth = 16;
  const int64_t given = given_bytes(graph).all;
  int64_t bytes_left = std::max(std::clamp(kGrowth * std::min(given, kMost), kLeast, kMost), kGrowthOfLarge * given);
  return fold_constants(std::move(graph), bytes_left);
}

Graph fold_constants(Graph graph, int64_t& bytes_left) {
  constexpr double kLeastWork = 1e9, kWork = 64;  // of multiply-adds; kWork for each byte
  const GivenBytes given = given_bytes(graph);
  bytes_left -= propagate(graph, {.most_bytes = std::max(int64_t{1} << 29, kGrowthOfLarge * given.most),
                                  .total_bytes = bytes_left,
                                  .growth_bytes = int64_t{1} << 24,
                                  .work = std::max(kLeastWork, kWork * static_cast<double>(given.all))});
  bytes_left = std::max<int64_t>(bytes_left, 0);
  return graph;
}

}  // namespace onnxc
