#include "compiler/select/islands/nearest.h"

#include "compiler/ops/tensor/top_k.h"
#include "compiler/select/svm/vectors.h"
#include "runtime_stub/onnxc/contract/pairwise.hpp"

namespace onnxc {

std::vector<const Node*> absorbed_by_nearest(const Surroundings& around, const Node& top_k, const Target&) {
  if (top_k.op != "TopK") return {};
  const Graph& graph = around.graph;
  const Node* const distances = around.only_producer(top_k.input(0));
  if (distances == nullptr || distances->domain != "onnxc" || distances->op != "Distances" || !has_packable_vectors(graph, *distances))
    return {};
  const int64_t axis = top_k.integer("axis", -1);
  if (axis != -1 && axis != 1) return {};
  // The kernel cannot fail: k is known to be at most the number of vectors.
  const Dim k = graph[top_k.output(top_k.has_output(0) ? 0 : 1)].type.extents[1];
  if ((graph[top_k.input(0)].type.extents[1] - k).min_value() < 0) return {};
  return {distances};
}

void lower_nearest(KernelQuery& l) {
  KernelQuery distances = l.of(*l.absorbed().front());
  const double macs = distance_macs(distances);
  l.consider("nearest", macs, 0, [&] {
    const View x = distances.in(0), values = top_k_output(l, 0), indices = top_k_output(l, 1);
    const int64_t vectors = distances.extents(1)[0].value();
    l.call("nearest")
        .template_arg(RuntimeName{"scalar::Metric::" + distances.node().string("metric", "sqeuclidean")})
        .template_arg(l.node().integer("largest", 1) != 0)
        .tensor(values)
        .tensor(indices)
        .tensor(x)
        .pointer(pack_vectors(distances, *distances.constant(1)))
        .dim(vectors)
        .pointer(l.thread_workspace("distances", ElementType::F32, contract::nearest_scratch(vectors, l.target().vector_floats)))
        .emit();
  });
  l.build_cheapest();
}

}  // namespace onnxc
