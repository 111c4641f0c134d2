// Trilu: the upper or lower triangle of matrices, from the k-th diagonal on; zeros elsewhere.
#include <fmt/format.h>

#include "compiler/ops/dispatch.h"
#include "compiler/ops/kernel_query.h"
#include "runtime_stub/onnxc/scalar/trilu.hpp"

namespace onnxc {
namespace {

void infer_trilu(Inference& n) {
  if (n.rank(0) < 2) n.fail(fmt::format("the input has rank {}; matrices have 2 or more", n.rank(0)));
  if (n.has(1) && (n.element(1) != ElementType::I64 || !(element_count(n.extents(1)) == Dim(1))))
    n.fail(fmt::format("k is {}, not an i64 scalar", n.type(1).text()));
  n.output(0, n.type(0));
}

void evaluate_trilu(Evaluation& e) {
  for_size(e.type(0), [&]<class T>() {
    scalar::trilu<T>(e.out<T>(), e.in<T>(0), e.has(1) ? e.in<int64_t>(1) : Tensor<const int64_t>{}, e.node().integer("upper", 1) != 0);
  });
}

void lower_trilu(KernelQuery& l) {
  const View x = l.in(0), y = l.out(0);
  if (l.has(1)) l.in(1);
  l.call("scalar_trilu").tensor(y).tensor(x).optional_tensor(1).flag(l.node().integer("upper", 1) != 0).may_share(y, x).emit();
}

}  // namespace

extern const Operator op_Trilu;
const Operator op_Trilu{.name = "Trilu",
                        .min_inputs = 1,
                        .max_inputs = 2,
                        .max_outputs = 1,
                        .infer = infer_trilu,
                        .evaluate = evaluate_trilu,
                        .lower = lower_trilu};

}  // namespace onnxc
