// Det: determinants of a batch of square matrices.
#include <fmt/format.h>

#include "compiler/ops/dispatch.h"
#include "compiler/ops/kernel_query.h"
#include "runtime_stub/onnxc/scalar/det.hpp"

namespace onnxc {
namespace {

void infer_det(Inference& n) {
  Extents out = n.extents(0);
  if (out.size() < 2) n.fail(fmt::format("the input has rank {}; matrices have 2 or more", out.size()));
  n.unify(out[out.size() - 1], out[out.size() - 2], "the matrices are not square");
  out.resize(out.size() - 2);
  n.output(0, n.element(0), std::move(out));
}

void evaluate_det(Evaluation& e) {
  const int64_t n = e.input(0).shape.back();
  std::vector<double> scratch(static_cast<std::size_t>(n * n));
  for_float(e.type(0), [&]<class T>() { scalar::det(e.out<T>().data, e.in<T>(0).data, scratch.data(), e.output(0).count(), n); });
}

void lower_det(KernelQuery& l) {
  const View x = l.in(0), y = l.out(0);
  const Dim n = x.extents.back();
  l.call("scalar_det")
      .pointer(y)
      .pointer(x)
      .pointer(l.share_workspace("scratch", ElementType::F64, n * n, element_count(y.extents)))
      .dim(element_count(y.extents))
      .dim(n)
      .macs(element_count(x.extents) * n)
      .emit();
}

}  // namespace

extern const Operator op_Det;
const Operator op_Det{
    .name = "Det", .min_inputs = 1, .max_inputs = 1, .max_outputs = 1, .infer = infer_det, .evaluate = evaluate_det, .lower = lower_det};

}  // namespace onnxc
