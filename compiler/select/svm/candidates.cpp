// Rows against constant vectors: support vector machines and distances, by the register tiles of runtime_stub/onnxc/pairwise.hpp.
#include "compiler/ops/ml/svm.h"
#include "compiler/ops/selected.h"
#include "compiler/select/svm/vectors.h"
#include "compiler/select/weights/pack.h"
#include "runtime_stub/onnxc/contract/pairwise.hpp"

namespace onnxc {
namespace {

/// Sums of a row for pairs of classes at most, so that those of some rows stay in the cache.
constexpr int64_t kMostClasses = 64;

}  // namespace

bool has_packable_vectors(const Graph& graph, const Node& distances) {
  const TensorData* const vectors = graph.constant(distances.input(1));
  return vectors != nullptr && vectors->type == ElementType::F32 && vectors->shape[0] > 0 && vectors->shape[1] > 0;
}

PointerArg pack_vectors(KernelQuery& l, const std::string& from, std::span<const float> vectors, int64_t count, int64_t features) {
  const int64_t columns = contract::pairwise_columns(l.target().vector_floats);
  return l.weights(from, ElementType::F32, pack::panels(vectors, {.k = features, .n = count, .nr = columns, .transposed = true}));
}
PointerArg pack_vectors(KernelQuery& l, const TensorData& vectors) {
  return pack_vectors(l, "vectors", vectors.as<float>(), vectors.shape[0], vectors.shape[1]);
}

double panel_macs(KernelQuery& l, double macs, int64_t vectors) {
  return macs * static_cast<double>(contract::pairwise_pitch(vectors, l.target().vector_floats)) / static_cast<double>(vectors);
}
double distance_macs(KernelQuery& l) {
  const Dim rows = l.extents(0)[0];
  const std::vector<int64_t>& vectors = l.constant(1)->shape;
  const auto macs = static_cast<double>((rows.is_constant() ? rows.value() : 1) * vectors[0] * vectors[1]);
  return panel_macs(l, macs, vectors[0]);
}

void consider_fast_svm(KernelQuery& l, const SvmCall& svm) {
  if (svm.model.classes > kMostClasses) return;
  const char* const row = svm.is_classifier ? "svm_classifier" : "svm_regressor";
  l.consider(row, panel_macs(l, svm.macs(), svm.model.vector_count), 0, [&l, svm, row] {
    const SvmModel& m = svm.model;
    StepBuilder call = l.call(row);
    call.template_arg(RuntimeName{"scalar::SvmKernel::" + svm_kernel_name(m)}).tensor(svm.y);
    if (svm.is_classifier) call.pointer(l.out(0));
    call.tensor(svm.x).params(svm_params(l, m, pack_vectors(l, "support_vectors", m.vectors, m.vector_count, m.features)));
    if (svm.is_classifier) call.params(svm_class_params(l, m));
    else call.flag(svm.one_class());
    const int64_t lanes = l.target().vector_floats;
    const int64_t floats = svm.is_classifier ? contract::svm_classifier_scratch(m.vector_count, m.classes, lanes)
                                             : contract::svm_regressor_scratch(m.vector_count, lanes);
    call.pointer(l.thread_workspace("svm", ElementType::F32, floats)).emit();
  });
}

void consider_fast_distances(KernelQuery& l) {
  if (!has_packable_vectors(l.graph(), l.node())) return;
  l.consider("distances", distance_macs(l), 0, [&l] {
    l.call("distances")
        .template_arg(RuntimeName{"scalar::Metric::" + l.node().string("metric", "sqeuclidean")})
        .tensor(l.out(0))
        .tensor(l.in(0))
        .pointer(pack_vectors(l, *l.constant(1)))
        .emit();
  });
}

}  // namespace onnxc
