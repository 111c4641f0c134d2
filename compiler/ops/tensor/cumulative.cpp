// CumSum and CumProd: running sums and products along an axis, which may be known only when the model runs.
#include <fmt/format.h>

#include "compiler/ops/dispatch.h"
#include "compiler/ops/kernel_query.h"
#include "runtime_stub/onnxc/scalar/cumulative.hpp"

namespace onnxc {
namespace {

void infer_cumulative(Inference& n) {
  if (!(element_count(n.extents(1)) == Dim(1))) n.fail(fmt::format("the axis has shape {}; it is a scalar", text(n.extents(1))));
  if (n.constant(1) != nullptr) n.axis(to_integers(*n.constant(1))[0], n.rank(0));
  n.output(0, n.type(0));
}

void evaluate_cumulative(Evaluation& e) {
  const scalar::CumulativeParams params{.exclusive = e.node().integer("exclusive", 0) != 0, .reverse = e.node().integer("reverse", 0) != 0};
  const bool product = e.node().is("CumProd");
  for_number(e.type(0), [&]<class T>() {
    for_index(e.type(1), [&]<class I>() {
      e.check(product ? scalar::cum_prod(e.out<T>(), e.in<T>(0), e.in<I>(1), params)
                      : scalar::cum_sum(e.out<T>(), e.in<T>(0), e.in<I>(1), params));
    });
  });
}

void lower_cumulative(KernelQuery& l) {
  const View x = l.in(0), axis = l.in(1), y = l.out(0);
  l.call(l.node().is("CumProd") ? "scalar_cum_prod" : "scalar_cum_sum")
      .tensor(y)
      .tensor(x)
      .tensor(axis)
      .params({{"exclusive", flag_arg(l.node().integer("exclusive", 0) != 0)}, {"reverse", flag_arg(l.node().integer("reverse", 0) != 0)}})
      .may_share(y, x)
      .emit();
}

}  // namespace

extern const Operator op_CumSum, op_CumProd;
const Operator op_CumSum{.name = "CumSum",
                         .min_inputs = 2,
                         .max_inputs = 2,
                         .max_outputs = 1,
                         .infer = infer_cumulative,
                         .evaluate = evaluate_cumulative,
                         .lower = lower_cumulative};
const Operator op_CumProd{.name = "CumProd",
                          .min_inputs = 2,
                          .max_inputs = 2,
                          .max_outputs = 1,
                          .infer = infer_cumulative,
                          .evaluate = evaluate_cumulative,
                          .lower = lower_cumulative};

}  // namespace onnxc
