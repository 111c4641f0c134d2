// Conv. With constant f32 weights and one to three spatial axes it runs channels-last, by the cheapest kernel of
// select/conv/candidates.cpp. All other cases use the reference kernel.
#include "compiler/ops/nn/conv.h"

#include <fmt/format.h>

#include "compiler/ops/dispatch.h"
#include "compiler/ops/selected.h"
#include "runtime_stub/onnxc/scalar/conv.hpp"

namespace onnxc {

Window conv_window(const Node& node, const Extents& x, const Extents& w) {
  return read_window(node, spatial_extents(x), spatial_extents(w));
}

Extents conv_extents(Inference& n, int x_input, int w_input) {
  const Extents &x = n.extents(x_input), &w = n.extents(w_input);
  if (x.size() < 3) n.fail(fmt::format("the input has rank {}; [n, c, spatial...] is needed", x.size()));
  if (w.size() != x.size()) n.fail(fmt::format("the weights have rank {}, the input {}", w.size(), x.size()));
  const int64_t group = n.node().integer("group", 1);
  if (group < 1) n.fail(fmt::format("group is {}", group));
  n.unify(x[1], w[1] * group, "the channels of the input and the weights");
  if (w[0].is_constant() && w[0].value() % group != 0)
    n.fail(fmt::format("{} output channels do not divide by group {}", w[0].value(), group));
  Extents out{x[0], w[0]};
  for (Dim d : window_output(n.node(), conv_window(n.node(), x, w), spatial_extents(x))) out.push_back(d);
  return out;
}

bool has_fast_conv(const Graph& graph, const Node& node) {
  const TensorData* w = graph.constant(node.input(1));
  if (w == nullptr || w->type != ElementType::F32 || w->shape.size() > 5 || w->count() == 0) return false;
  if (node.has_input(2) && graph.constant(node.input(2)) == nullptr) return false;
  return graph[node.outputs[0]].type.rank() <= 5;
}

namespace {

void infer_conv(Inference& n) {
  if (n.has(2))
    n.unify(n.extents(2).size() == 1 ? n.extents(2)[0] : Dim(-1), n.extents(1).empty() ? Dim(-1) : n.extents(1)[0],
            "the bias and the output channels");
  n.output(0, n.element(0), conv_extents(n, 0, 1));
}

}  // namespace

scalar::ConvParams scalar_conv_params(Evaluation& e, int64_t outside) {
  const Window window = conv_window(e.node(), to_extents(e.input(0).shape), to_extents(e.input(1).shape));
  scalar::ConvParams p;
  p.group = e.node().integer("group", 1);
  p.outside = outside;
  for (std::size_t i = 0; i < window.rank(); ++i) {
    p.strides[p.strides.size++] = window.strides[i];
    p.dilations[p.dilations.size++] = window.dilations[i];
    p.pads[p.pads.size++] = window.pads_begin[i].value();
  }
  return p;
}

namespace {

void evaluate_conv(Evaluation& e) {
  const scalar::ConvParams p = scalar_conv_params(e);
  for_number(e.type(0), [&]<class T>() {
    scalar::conv(e.out<T>(), e.in<T>(0), e.in<T>(1), e.has(2) ? e.in<T>(2).data : static_cast<const T*>(nullptr), p);
  });
}

}  // namespace

void lower_scalar_conv(KernelQuery& l, ElementType sums, int64_t outside) {
  const Window window = conv_window(l.node(), l.extents(0), l.extents(1));
  const View x = l.in(0), w = l.in(1), y = l.out(0), s = l.before_epilogue(y, sums);
  StepBuilder step = l.call("scalar_conv");
  step.tensor(s).tensor(x).tensor(w).macs(element_count(l.extents(1)) * element_count({y.extents.begin() + 2, y.extents.end()}) *
                                          y.extents[0]);
  step.optional_pointer(2, sums);
  NamedArgs params{{"strides", dims_arg(window.strides)},
                   {"dilations", dims_arg(window.dilations)},
                   {"pads", dims_arg(window.pads_begin)},
                   {"group", dim_arg(l.node().integer("group", 1))}};
  if (outside != 0) params.emplace_back("outside", dim_arg(outside));
  step.params(std::move(params)).emit();
  l.apply_epilogue(y, s);
}

namespace {

void lower_conv(KernelQuery& l) {
  if (l.optimise() && has_fast_conv(l.graph(), l.node())) return lower_fast_conv(l);
  lower_scalar_conv(l, l.output_type(0).element);
}

}  // namespace

extern const Operator op_Conv;
const Operator op_Conv{.name = "Conv",
                       .min_inputs = 2,
                       .max_inputs = 3,
                       .max_outputs = 1,
                       .infer = infer_conv,
                       .evaluate = evaluate_conv,
                       .lower = lower_conv,
                       .layout = LayoutRule::Prefers,
                       .planar = planar_conv,
                       .takes_epilogue = has_fast_conv};

}  // namespace onnxc
