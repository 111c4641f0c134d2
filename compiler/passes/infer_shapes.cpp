#include "compiler/passes/passes.h"
#include "compiler/passes/propagate.h"

namespace onnxc {

Graph infer_shapes(Graph graph) {
  propagate(graph, {.most_bytes = 4096, .total_bytes = int64_t{1} << 24});  // shapes, axes and the like
  return graph;
}

}  // namespace onnxc
