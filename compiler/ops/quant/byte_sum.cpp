// onnxc.ByteSum: sums of u8 along constant axes, in i32. It is what averages of quantised values are computed from (passes/recognise_quantised).
//
// The axes are neighbours, and behind them or before them in memory all others lie together, so that a kernel sums them in one pass.
#include <fmt/format.h>

#include "compiler/ops/reduce/passes_over_axes.h"
#include "compiler/ops/reduce/reduce.h"
#include "runtime_stub/onnxc/scalar/reduce.hpp"

namespace onnxc {
namespace {

void infer_sum(Inference& n) {
  if (n.element(0) != ElementType::U8) n.fail(fmt::format("input 0 is {}, not u8", name(n.element(0))));
  const auto axes = reduced_axes(n.graph(), n.node());
  if (!axes || axes->empty() || axes->back() - axes->front() + 1 != static_cast<int>(axes->size()))
    n.fail("the axes are no neighbours that are known");
  Extents out = n.extents(0);
  for (const int axis : *axes) out[static_cast<std::size_t>(axis)] = 1;
  n.output(0, ElementType::I32, std::move(out));
}

void evaluate_sum(Evaluation& e) {
  const ReductionWalk w = reduction_walk(e);
  scalar::reduce<scalar::Sum, scalar::Same>(Share{}, e.out<int32_t>().data, e.in<uint8_t>(0).data, w.kept, w.kept_strides, w.reduced,
                                            w.reduced_strides);
}

/// The pass over an input in that layout, if one is enough.
std::optional<AxesPass> only_pass(KernelQuery& l, const Layout& in, const Layout& out) {
  const auto passes = passes_over_axes(l.extents(0), in, l.output_type(0).extents, out, *reduced_axes(l.graph(), l.node()), true);
  if (!passes || passes->size() != 1) return std::nullopt;
  return passes->front();
}

void lower_pass(KernelQuery& l, const PassKernels& kernels, const AxesPass& p, const View& x, const View& y) {
  const bool applied = !l.node().epilogue || epilogue_fits(l, p.epilogue);
  const View sums = applied ? y : l.before_epilogue(y, ElementType::I32);
  StepBuilder step = l.call(p.is_last ? kernels.last : kernels.middle);
  step.pointer(x).pointer(sums).work(p.outer * p.reduced * p.inner);
  step.params(pass_params(p, p.y_outer));
  if (applied && l.node().epilogue) step.epilogue(l.epilogue(p.epilogue, step));
  step.emit();
  if (!applied) l.apply_epilogue(y, sums);
}

void lower_sum(KernelQuery& l) {
  l.optimise() ? lower_byte_sum(l, {"sum_bytes_last", "sum_bytes_middle"}) : lower_scalar_reduce(l, ElementType::I32);
}

}  // namespace

void lower_byte_sum(KernelQuery& l, const PassKernels& kernels) {
  if (const auto pass = only_pass(l, l.in_any(0).layout, l.out_layout(0))) return lower_pass(l, kernels, *pass, l.in_any(0), l.out_any(0));
  const auto pass = only_pass(l, {}, {});
  ONNXC_CHECK(pass.has_value(), "neighbouring axes of row-major tensors are summed in one pass");
  const View x = l.in(0);
  lower_pass(l, kernels, *pass, x, l.out(0));
}

extern const Operator op_ByteSum;
const Operator op_ByteSum{.name = "ByteSum",
                          .domain = "onnxc",
                          .min_inputs = 2,
                          .max_inputs = 2,
                          .max_outputs = 1,
                          .infer = infer_sum,
                          .evaluate = evaluate_sum,
                          .lower = lower_sum,
                          .layout = LayoutRule::Follows,
                          .takes_epilogue = [](const Graph&, const Node&) { return true; },
                          .typed_epilogue = true};

}  // namespace onnxc
