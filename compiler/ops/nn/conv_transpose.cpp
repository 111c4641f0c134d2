// ConvTranspose. With constant f32 weights and one to three spatial axes it runs channels-last, as a convolution for
// each phase of the stride (select/conv/transpose.cpp). All other cases use the reference kernel. f16 and bf16 are
// computed in f32.
#include "compiler/ops/nn/conv_transpose.h"

#include <fmt/format.h>

#include "compiler/ops/dispatch.h"
#include "compiler/ops/in_float.h"
#include "compiler/ops/selected.h"
#include "runtime_stub/onnxc/scalar/conv_transpose.hpp"

namespace onnxc {

ConvTransposeWindow read_conv_transpose(const Node& node, const Extents& x, const Extents& w) {
  const Extents in(x.begin() + 2, x.end()), kernel(w.begin() + 2, w.end());
  const std::size_t rank = in.size();
  const std::string auto_pad = node.string("auto_pad", "NOTSET");
  Node windowed = node;  // auto_pad has another meaning than for Conv
  windowed.attributes.erase("auto_pad");
  if (auto_pad != "NOTSET" && !auto_pad.empty()) windowed.attributes.erase("pads");
  ConvTransposeWindow p{read_window(windowed, in, kernel), {}};
  const auto list = [&](const char* name, int64_t otherwise) {
    std::vector<int64_t> values = node.integers(name, std::vector<int64_t>(rank, otherwise));
    if (values.size() == rank + 2 && std::string_view(name) == "output_shape")
      values.erase(values.begin(), values.begin() + 2);  // some exporters give all axes
    if (values.size() != rank)
      node.fail(ErrorKind::Invalid, fmt::format("attribute '{}' has {} values where {} are needed", name, values.size(), rank));
    for (int64_t v : values) {
      if (v < 0) node.fail(ErrorKind::Invalid, fmt::format("attribute '{}' holds {}", name, v));
    }
    return values;
  };
  const std::vector<int64_t> extra = list("output_padding", 0), shape = list("output_shape", 0);
  const bool given = !node.integers("output_shape").empty(), upper = auto_pad == "SAME_UPPER", same = upper || auto_pad == "SAME_LOWER";
  if (!same && auto_pad != "VALID" && auto_pad != "NOTSET" && !auto_pad.empty())
    node.fail(ErrorKind::Invalid, fmt::format("auto_pad is '{}'; NOTSET, SAME_UPPER, SAME_LOWER or VALID are allowed", auto_pad));
  for (std::size_t i = 0; i < rank; ++i) {
    const Dim full = (in[i] - 1) * p.window.strides[i] + extra[i] + (p.window.kernel[i] - 1) * p.window.dilations[i] + 1;
    if (given || same) {
      const Dim out = given ? Dim(shape[i]) : in[i] * p.window.strides[i];
      const Dim total = max(full - out, 0), half = floor_div(total, 2);
      p.window.pads_begin[i] = upper ? half : total - half;
      p.window.pads_end[i] = upper ? total - half : half;
      p.out.push_back(out);
    } else {
      p.out.push_back(max(full - p.window.pads_begin[i] - p.window.pads_end[i], 0));
    }
  }
  return p;
}

bool has_fast_conv_transpose(const Graph& graph, const Node& node) {
  const TensorData* w = graph.constant(node.input(1));
  if (w == nullptr || w->type != ElementType::F32 || w->shape.size() > 5 || w->count() == 0) return false;
  return !node.has_input(2) || graph.constant(node.input(2)) != nullptr;
}

namespace {

void infer_conv_transpose(Inference& n) {
  const Extents &x = n.extents(0), &w = n.extents(1);
  if (x.size() < 3) n.fail(fmt::format("the input has rank {}; [n, c, spatial...] is needed", x.size()));
  if (w.size() != x.size()) n.fail(fmt::format("the weights have rank {}, the input {}", w.size(), x.size()));
  const int64_t group = n.node().integer("group", 1);
  if (group < 1) n.fail(fmt::format("group is {}", group));
  n.unify(x[1], w[0], "the channels of the input and the weights");
  if (w[0].is_constant() && w[0].value() % group != 0)
    n.fail(fmt::format("{} input channels do not divide by group {}", w[0].value(), group));
  const Dim cout = w[1] * group;
  if (n.has(2)) n.unify(n.extents(2).size() == 1 ? n.extents(2)[0] : Dim(-1), cout, "the bias and the output channels");
  Extents out{x[0], cout};
  for (Dim d : read_conv_transpose(n.node(), x, w).out) out.push_back(d);
  n.output(0, n.element(0), std::move(out));
}

void evaluate_conv_transpose(Evaluation& e) {
  const Window window = read_conv_transpose(e.node(), to_extents(e.input(0).shape), to_extents(e.input(1).shape)).window;
  scalar::ConvTransposeParams p;
  p.group = e.node().integer("group", 1);
  for (std::size_t i = 0; i < window.rank(); ++i) {
    p.strides[p.strides.size++] = window.strides[i];
    p.dilations[p.dilations.size++] = window.dilations[i];
    p.pads[p.pads.size++] = window.pads_begin[i].value();
  }
  for_float(e.type(0), [&]<class T>() {
    scalar::conv_transpose<T>(Share{}, e.out<T>(), e.in<T>(0), e.in<T>(1), e.has(2) ? e.in<T>(2).data : nullptr, p);
  });
}

void lower_conv_transpose_reference(KernelQuery& l) {
  const Window window = read_conv_transpose(l.node(), l.extents(0), l.extents(1)).window;
  const View x = l.in(0), w = l.in(1), y = l.out(0);
  StepBuilder step = l.call("scalar_conv_transpose");
  step.template_arg(y.element).tensor(y).tensor(x).tensor(w);
  step.optional_pointer(2);
  step.params({{"strides", dims_arg(window.strides)},
               {"dilations", dims_arg(window.dilations)},
               {"pads", dims_arg(window.pads_begin)},
               {"group", dim_arg(l.node().integer("group", 1))}})
      .emit();
}

void lower_conv_transpose(KernelQuery& l) {
  if (l.optimise() && has_fast_conv_transpose(l.graph(), l.node())) return lower_fast_conv_transpose(l);
  lower_conv_transpose_reference(l);
  l.apply_epilogue(l.result());
}

}  // namespace

extern const Operator op_ConvTranspose;
const Operator op_ConvTranspose{.name = "ConvTranspose",
                                .min_inputs = 2,
                                .max_inputs = 3,
                                .max_outputs = 1,
                                .infer = infer_conv_transpose,
                                .decompose = compute_in_float,
                                .evaluate = evaluate_conv_transpose,
                                .lower = lower_conv_transpose,
                                .layout = LayoutRule::Prefers,
                                .takes_epilogue = has_fast_conv_transpose};

}  // namespace onnxc
