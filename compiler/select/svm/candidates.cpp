// Rows against constant vectors: support vector machines and distances, by the register tiles of runtime_stub/onnxc/pairwise.hpp.
#include <algorithm>

#include "compiler/ops/ml/svm.h"
#include "compiler/ops/selected.h"
#include "compiler/select/weights/pack.h"
#include "runtime_stub/onnxc/contract/pairwise.hpp"

namespace onnxc {
namespace {

/// Sums of a row for pairs of classes at most, so that those of some rows stay in the cache.
constexpr int64_t kMostClasses = 64;

/// Vectors [count, features] as columns of panels.
PointerArg pack_vectors(KernelQuery& l, const std::string& from, std::span<const float> vectors, int64_t count, int64_t features) {
  const int64_t columns = contract::pairwise_columns(l.target().vector_floats);
  return l.weights(from, ElementType::F32, pack::panels(vectors, {.k = features, .n = count, .nr = columns, .transposed = true}));
}

/// What the tiles spend: whole panels.
double panel_macs(KernelQuery& l, double macs, int64_t vectors) {
  const int64_t columns = contract::pairwise_columns(l.target().vector_floats);
  return macs * static_cast<double>(contract::round_up(vectors, columns)) / static_cast<double>(std::max<int64_t>(vectors, 1));
}

}  // namespace

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

void consider_fast_distances(KernelQuery& l, const std::string& metric, double macs) {
  const TensorData* const vectors = l.constant(1);
  if (vectors == nullptr || vectors->type != ElementType::F32) return;
  const int64_t count = vectors->shape[0], features = vectors->shape[1];
  if (count == 0 || features == 0) return;
  l.consider("distances", panel_macs(l, macs, count), 0, [&l, metric, vectors, count, features] {
    l.call("distances")
        .template_arg(RuntimeName{"scalar::Metric::" + metric})
        .tensor(l.out(0))
        .tensor(l.in(0))
        .pointer(pack_vectors(l, "vectors", vectors->as<float>(), count, features))
        .emit();
  });
}

}  // namespace onnxc
