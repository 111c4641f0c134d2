// com.microsoft.Inverse: of a batch of square matrices.
#include <fmt/format.h>

#include "compiler/ops/dispatch.h"
#include "compiler/ops/kernel_query.h"
#include "runtime_stub/onnxc/scalar/inverse.hpp"

namespace onnxc {
namespace {

void infer_inverse(Inference& n) {
  const Extents x = n.extents(0);
  if (x.size() < 2) n.fail(fmt::format("the input has rank {}; matrices have 2 or more", x.size()));
  if (!is_float(n.element(0))) n.fail(fmt::format("the input is {}, not a float", name(n.element(0))));
  n.unify(x[x.size() - 1], x[x.size() - 2], "the matrices are not square");
  n.output(0, n.type(0));
}

Dim matrices(const Extents& x) { return element_count({x.begin(), x.end() - 2}); }

void evaluate_inverse(Evaluation& e) {
  const int64_t n = e.input(0).shape.back();
  std::vector<double> scratch(static_cast<std::size_t>(2 * n * n));
  for_float(e.type(0), [&]<class T>() {
    scalar::inverse(e.out<T>().data, e.in<T>(0).data, scratch.data(), matrices(to_extents(e.input(0).shape)).value(), n);
  });
}

void lower_inverse(KernelQuery& l) {
  const View x = l.in(0), y = l.out(0);
  const Dim n = x.extents.back();
  l.call("scalar_inverse")
      .pointer(y)
      .pointer(x)
      .pointer(l.share_workspace("scratch", ElementType::F64, 2 * n * n, matrices(x.extents)))
      .dim(matrices(x.extents))
      .dim(n)
      .may_share(y, x)
      .emit();
}

}  // namespace

extern const Operator op_Inverse;
const Operator op_Inverse{.name = "Inverse",
                          .domain = "com.microsoft",
                          .min_inputs = 1,
                          .max_inputs = 1,
                          .max_outputs = 1,
                          .infer = infer_inverse,
                          .evaluate = evaluate_inverse,
                          .lower = lower_inverse};

}  // namespace onnxc
