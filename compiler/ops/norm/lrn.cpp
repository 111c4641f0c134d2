// LRN: y = x / (bias + alpha / size * sum of squares over a window of `size` channels)^beta. The sums are a kernel, the rest is a Map.
#include <fmt/format.h>

#include "compiler/ops/dispatch.h"
#include "compiler/ops/evaluate.h"
#include "compiler/ops/in_float.h"
#include "compiler/ops/kernel_query.h"
#include "runtime_stub/onnxc/scalar/lrn.hpp"

namespace onnxc {
namespace {

void infer_lrn(Inference& n) {
  if (n.rank(0) < 2) n.fail(fmt::format("the input has rank {}; [n, c, spatial...] is needed", n.rank(0)));
  if (n.node().integer("size", 0) < 1) n.fail(fmt::format("size is {}", n.node().integer("size", 0)));
  n.output(0, n.type(0));
}

/// The expression of the sum of squares, x0, and the value itself, x1.
Expr quotient(const Node& node, ElementType type) {
  Expr e;
  const auto number = [&](const char* name, float otherwise) { return static_cast<double>(node.number(name, otherwise)); };
  const int sum = e.input(0, type), x = e.input(1, type);
  const int scaled = e.apply(Fn::Mul, sum, e.constant(type, number("alpha", 1e-4f) / static_cast<double>(node.integer("size", 1))));
  const int base = e.apply(Fn::Add, scaled, e.constant(type, number("bias", 1)));
  const double beta = number("beta", 0.75f);
  const int root = e.apply(Fn::Sqrt, base);
  const int power = beta == 0.75  ? e.apply(Fn::Mul, root, e.apply(Fn::Sqrt, root))
                    : beta == 0.5 ? root
                                  : e.apply(Fn::Pow, base, e.constant(type, beta));
  e.finish(e.apply(Fn::Div, x, power));
  return e;
}

int64_t before(const Node& node) { return (node.integer("size", 1) - 1) / 2; }
int64_t after(const Node& node) { return node.integer("size", 1) / 2; }

void evaluate_lrn(Evaluation& e) {
  const Shape s = Evaluation::shape_of(e.input(0));
  const int64_t inner = s.count(2, s.rank), image = s[1] * inner;
  auto sums = std::make_shared<TensorData>(TensorData::zeros(e.type(0), e.input(0).shape));
  const auto run = [&]<class T>() {
    scalar::window_squares<T>(Share{}, reinterpret_cast<T*>(sums->bytes.data()), e.in<T>(0).data,
                              {s[0], s[1], inner, image, inner, 1, image, inner, 1, before(e.node()), after(e.node())});
  };
  if (e.type(0) == ElementType::F32) run.operator()<float>();
  else if (e.type(0) == ElementType::F64) run.operator()<double>();
  else e.node().fail(ErrorKind::Unsupported, "evaluated once it is decomposed");
  e.output(0) = evaluate_expression(quotient(e.node(), e.type(0)), {sums, std::make_shared<TensorData>(e.input(0))}, e.input(0).shape);
}

/// Channels-last images in one step.
void lower_pixels(KernelQuery& l, const View& x, const View& y) {
  Dim pixels = y.extents[0];
  for (std::size_t axis = 2; axis < y.extents.size(); ++axis) pixels *= y.extents[axis];
  StepBuilder step = l.call("window_squares");
  step.pointer(x).pointer(y).params({{"pixels", dim_arg(pixels)},
                                     {"c", dim_arg(y.extents[1])},
                                     {"x_pixel", dim_arg(x.layout.pixel_stride)},
                                     {"y_pixel", dim_arg(y.layout.pixel_stride)},
                                     {"before", dim_arg(before(l.node()))},
                                     {"after", dim_arg(after(l.node()))}});
  FormArg self;
  self.form = "Rows";
  self.pointer = x.pointer;
  self.members = {x.layout.pixel_stride};
  step.epilogue(l.epilogue(quotient(l.node(), y.element), {self})).macs(pixels * y.extents[1] * l.node().integer("size", 1)).emit();
}

void lower_lrn(KernelQuery& l) {
  const View x = l.in(0, l.out_layout(0)), y = l.out_any(0);
  if (l.optimise() && y.layout.channels_last && y.element == ElementType::F32) return lower_pixels(l, x, y);
  const DimList strides = y.strides();
  Dim inner = 1;
  for (std::size_t axis = 2; axis < y.extents.size(); ++axis) inner *= y.extents[axis];
  const Dim step = y.layout.channels_last ? y.layout.pixel_stride : Dim(1);
  View sums = y;
  sums.pointer = l.workspace("squares", y.element, storage_elements(y.extents, y.layout));
  {
    NamedArgs params{{"outer", dim_arg(y.extents[0])}, {"c", dim_arg(y.extents[1])}, {"inner", dim_arg(inner)}};
    for (const char* of : {"x", "y"}) {
      params.emplace_back(fmt::format("{}_outer", of), dim_arg(strides[0]));
      params.emplace_back(fmt::format("{}_c", of), dim_arg(strides[1]));
      params.emplace_back(fmt::format("{}_inner", of), dim_arg(step));
    }
    params.emplace_back("before", dim_arg(before(l.node())));
    params.emplace_back("after", dim_arg(after(l.node())));
    l.call("scalar_window_squares").template_arg(y.element).pointer(sums).pointer(x).params(std::move(params)).emit();
  }
  sums.pointer.writes = false;
  l.map_loop(quotient(l.node(), y.element), y, {sums, x});
}

}  // namespace

extern const Operator op_LRN;
const Operator op_LRN{.name = "LRN",
                      .min_inputs = 1,
                      .max_inputs = 1,
                      .max_outputs = 1,
                      .infer = infer_lrn,
                      .decompose = compute_in_float,
                      .evaluate = evaluate_lrn,
                      .lower = lower_lrn,
                      .layout = LayoutRule::Follows};

}  // namespace onnxc
