// MaxUnpool. Indices refer to the tensor that the window's attributes imply, even if output_shape asks for a larger
// one, as ONNX's test shows.
#include <fmt/format.h>

#include "compiler/ops/dispatch.h"
#include "compiler/ops/kernel_query.h"
#include "compiler/ops/nn/window.h"
#include "runtime_stub/onnxc/scalar/max_unpool.hpp"

namespace onnxc {
namespace {

/// The extents that a MaxPool with these attributes would have read.
Extents unpooled(const Node& node, const Extents& x) {
  if (!node.has("kernel_shape")) node.fail(ErrorKind::Invalid, "attribute 'kernel_shape' is missing");
  const Window w = read_window(node, {x.begin() + 2, x.end()}, {});
  Extents out{x[0], x[1]};
  for (std::size_t i = 0; i < w.rank(); ++i) out.push_back((x[i + 2] - 1) * w.strides[i] + w.kernel[i] - w.pads_begin[i] - w.pads_end[i]);
  return out;
}

void infer_max_unpool(Inference& n) {
  const Extents& x = n.extents(0);
  if (x.size() < 3) n.fail(fmt::format("the input has rank {}; [n, c, spatial...] is needed", x.size()));
  if (n.element(1) != ElementType::I64) n.fail("the indices are not i64");
  if (n.rank(1) != n.rank(0)) n.fail("the indices have another shape than the input");
  for (std::size_t k = 0; k < x.size(); ++k) n.unify(n.extents(1)[k], x[k], "the shapes of input and indices");
  Extents out = unpooled(n.node(), x);
  if (n.has(2)) {
    const DimList wanted = n.known_elements(2, "the output's shape");
    if (wanted.size() != x.size()) n.fail(fmt::format("output_shape has {} values for rank {}", wanted.size(), x.size()));
    out = wanted;
  }
  for (Dim& d : out) d = max(d, 0);
  n.output(0, n.element(0), std::move(out));
}

void evaluate_max_unpool(Evaluation& e) {
  const Extents from = unpooled(e.node(), to_extents(e.input(0).shape));
  Shape shape;
  for (Dim d : from) shape.dims[shape.rank++] = d.value();
  for_size(e.type(0), [&]<class T>() { e.check(scalar::max_unpool<T>(e.out<T>(), e.in<T>(0), e.in<int64_t>(1).data, shape)); });
}

void lower_max_unpool(KernelQuery& l) {
  const View x = l.in(0), indices = l.in(1), y = l.out(0);
  l.call("scalar_max_unpool").template_arg(y.element).tensor(y).tensor(x).pointer(indices).dims(unpooled(l.node(), x.extents)).emit();
}

}  // namespace

extern const Operator op_MaxUnpool;
const Operator op_MaxUnpool{.name = "MaxUnpool",
                            .min_inputs = 2,
                            .max_inputs = 3,
                            .max_outputs = 1,
                            .infer = infer_max_unpool,
                            .evaluate = evaluate_max_unpool,
                            .lower = lower_max_unpool};

}  // namespace onnxc
