// DeformConv: a convolution that samples at positions given by its second input. Reference kernel, for any number of
// spatial axes.
#include <fmt/format.h>

#include "compiler/ops/dispatch.h"
#include "compiler/ops/kernel_query.h"
#include "compiler/ops/nn/window.h"
#include "runtime_stub/onnxc/scalar/deform_conv.hpp"

namespace onnxc {
namespace {

Extents spatial(const Extents& extents) { return {extents.begin() + 2, extents.end()}; }

void infer_deform_conv(Inference& n) {
  const Extents x = n.extents(0), w = n.extents(1), offset = n.extents(2);
  if (x.size() < 3 || x.size() > 8) n.fail(fmt::format("the input has rank {}; [n, c, spatial...] is needed", x.size()));
  if (w.size() != x.size() || offset.size() != x.size())
    n.fail(fmt::format("the input has rank {}, the weights {}, the offsets {}", x.size(), w.size(), offset.size()));
  if (!is_float(n.element(0))) n.fail(fmt::format("the input is {}, not a float", name(n.element(0))));
  for (int i = 1; i < 5; ++i) {
    if (n.has(i) && n.element(i) != n.element(0))
      n.fail(fmt::format("input {} is {}, input 0 {}", i, name(n.element(i)), name(n.element(0))));
  }
  const int64_t group = n.node().integer("group", 1), offset_group = n.node().integer("offset_group", 1);
  if (group < 1 || offset_group < 1) n.fail(fmt::format("group is {}, offset_group {}", group, offset_group));
  n.unify(x[1], w[1] * group, "the channels of the input and the weights");
  if (w[0].is_constant() && w[0].value() % group != 0)
    n.fail(fmt::format("{} output channels do not divide by group {}", w[0].value(), group));
  n.unify(x[1], floor_div(x[1], offset_group) * offset_group, "the channels do not divide by offset_group");
  const Extents out = window_output(n.node(), read_window(n.node(), spatial(x), spatial(w)), spatial(x));
  const Dim taps = element_count(spatial(w)) * offset_group;
  const auto check = [&](int i, Dim channels, const char* what) {
    if (n.rank(i) != static_cast<int>(x.size())) n.fail(fmt::format("{} have rank {}, the input {}", what, n.rank(i), x.size()));
    n.unify(n.extents(i)[0], x[0], what);
    n.unify(n.extents(i)[1], channels, what);
    for (std::size_t k = 0; k < out.size(); ++k) n.unify(n.extents(i)[k + 2], out[k], what);
  };
  check(2, taps * static_cast<int64_t>(out.size()), "the offsets");
  if (n.has(3)) n.unify(n.rank(3) == 1 ? n.extents(3)[0] : Dim(-1), w[0], "the bias and the output channels");
  if (n.has(4)) check(4, taps, "the masks");
  Extents y{x[0], w[0]};
  y.insert(y.end(), out.begin(), out.end());
  n.output(0, n.element(0), std::move(y));
}

void evaluate_deform_conv(Evaluation& e) {
  const auto& w = e.input(1).shape;
  const Window window = read_window(e.node(), spatial(to_extents(e.input(0).shape)), spatial(to_extents(w)));
  scalar::DeformConvParams p{.strides = {},
                             .dilations = {},
                             .pads = {},
                             .group = e.node().integer("group", 1),
                             .offset_group = e.node().integer("offset_group", 1)};
  int64_t taps = e.input(0).shape[1];
  for (std::size_t i = 0; i < window.rank(); ++i) {
    p.strides[p.strides.size++] = window.strides[i];
    p.dilations[p.dilations.size++] = window.dilations[i];
    p.pads[p.pads.size++] = window.pads_begin[i].value();
    taps *= w[i + 2];
  }
  std::vector<double> work(static_cast<std::size_t>(taps));
  for_float(e.type(0), [&]<class T>() {
    scalar::deform_conv<T>(e.out<T>(), e.in<T>(0), e.in<T>(1), e.in<T>(2).data, e.has(3) ? e.in<T>(3).data : nullptr,
                           e.has(4) ? e.in<T>(4).data : nullptr, work.data(), p);
  });
}

void lower_deform_conv(KernelQuery& l) {
  const Window window = read_window(l.node(), spatial(l.extents(0)), spatial(l.extents(1)));
  View in[5];
  for (int i = 0; i < 5; ++i) {
    if (l.has(i)) in[i] = l.in(i);
  }
  const View y = l.out(0);
  const PointerArg work = l.share_workspace("samples", ElementType::F64, in[0].extents[1] * element_count(spatial(in[1].extents)),
                                            y.extents[0] * element_count(spatial(y.extents)));
  StepBuilder call = l.call("scalar_deform_conv");
  call.template_arg(y.element).tensor(y).tensor(in[0]).tensor(in[1]).pointer(in[2]);
  for (int i = 3; i < 5; ++i) {
    if (l.has(i)) call.pointer(in[i]);
    else call.null();
  }
  call.pointer(work)
      .params({{"strides", dims_arg(window.strides)},
               {"dilations", dims_arg(window.dilations)},
               {"pads", dims_arg(window.pads_begin)},
               {"group", dim_arg(l.node().integer("group", 1))},
               {"offset_group", dim_arg(l.node().integer("offset_group", 1))}})
      .emit();
}

}  // namespace

extern const Operator op_DeformConv;
const Operator op_DeformConv{.name = "DeformConv",
                             .min_inputs = 3,
                             .max_inputs = 5,
                             .max_outputs = 1,
                             .infer = infer_deform_conv,
                             .evaluate = evaluate_deform_conv,
                             .lower = lower_deform_conv};

}  // namespace onnxc
