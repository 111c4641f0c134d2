// onnxc.Distances: of each row of f32[rows, n] to each of f32[vectors, n]. com.microsoft's CDist becomes one where the vectors are
// constants.
#include "runtime_stub/onnxc/scalar/distances.hpp"
#include "compiler/ops/selected.h"

namespace onnxc {
namespace {

constexpr const char* kMetrics[] = {"sqeuclidean", "euclidean", "cityblock", "chebyshev"};

void infer_distances(Inference& n) {
  const Extents x = n.extents(0), v = n.extents(1);
  n.unify(x[1], v[1], "the rows differ in length");
  n.output(0, n.element(0), {x[0], v[0]});
}

void evaluate_distances(Evaluation& e) {
  const std::string metric = e.node().string("metric", "sqeuclidean");
  for (int i = 0; i < 4; ++i) {
    if (metric != kMetrics[i]) continue;
    scalar::distances(e.out<float>(), e.in<float>(0), e.in<float>(1), static_cast<scalar::Metric>(i));
  }
}

void lower_distances(KernelQuery& l) {
  const std::string metric = l.node().string("metric", "sqeuclidean");
  const Extents &x = l.extents(0), &v = l.extents(1);
  double macs = 1;
  for (const Dim& d : {x[0], x[1], v[0]}) macs *= d.is_constant() ? static_cast<double>(d.value()) : 1;
  l.consider("scalar_distances", macs, 0, [&l, metric] {
    l.call("scalar_distances").tensor(l.out(0)).tensor(l.in(0)).tensor(l.in(1)).enumerator("scalar::Metric", metric).emit();
  });
  if (l.optimise()) consider_fast_distances(l);
}

}  // namespace

extern const Operator op_Distances;
const Operator op_Distances{.name = "Distances",
                            .domain = "onnxc",
                            .min_inputs = 2,
                            .max_inputs = 2,
                            .max_outputs = 1,
                            .infer = infer_distances,
                            .evaluate = evaluate_distances,
                            .lower = lower_distances};

}  // namespace onnxc
