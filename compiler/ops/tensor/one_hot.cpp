// OneHot: a new axis of extent `depth` with the second of `values` at the index and the first elsewhere.
#include <fmt/format.h>

#include <cmath>

#include "compiler/ops/axis.h"
#include "compiler/ops/dispatch.h"
#include "compiler/ops/kernel_query.h"
#include "runtime_stub/onnxc/scalar/one_hot.hpp"

namespace onnxc {
namespace {

/// The depth may have any numeric type; it is cast to an integer.
Dim depth_of(Inference& n) {
  const TensorData* c = n.constant(1);
  if (c == nullptr || is_integer(c->type)) {
    const DimList list = n.known_elements(n.has(3) ? 3 : 1, "the depth");
    if (list.size() != 1) n.fail("the depth is one number");
    return list[0];
  }
  const std::vector<double> list = to_doubles(*c);
  if (list.size() != 1 || !(list[0] >= 0 && list[0] < 9e15)) n.fail("the depth is one number that is not negative");
  return static_cast<int64_t>(list[0]);
}

/// A depth that is no integer and that only a run knows becomes an integer in a hidden input 3.
void resolve_one_hot(GraphBuilder& b, Node& node) {
  if (node.inputs.size() != 3 || node.inputs[1] == kAbsent || b.graph()[node.inputs[1]].constant || !b.type(node.inputs[1]).is_tensor() ||
      is_integer(b.type(node.inputs[1]).element))
    return;
  node.inputs.push_back(b.op("Cast", {node.inputs[1]}, {{"to", static_cast<int64_t>(ElementType::I64)}}));
}

void infer_one_hot(Inference& n) {
  Extents out = n.extents(0);
  const Dim depth = depth_of(n);
  if (depth.max_value() < 0) n.fail(fmt::format("the depth is {}", depth.text()));
  if (!(element_count(n.extents(2)) == Dim(2))) n.fail(fmt::format("the values have shape {}, not [2]", text(n.extents(2))));
  const int axis = n.axis(n.node().integer("axis", -1), n.rank(0) + 1);
  out.insert(out.begin() + axis, depth);
  n.output(0, n.element(2), std::move(out));
}

void evaluate_one_hot(Evaluation& e) {
  for_size(e.type(2), [&]<class T>() {
    for_number(e.type(0), [&]<class I>() { scalar::one_hot(e.out<T>(), e.in<I>(0), e.in<T>(2), axis_of(e.node(), -1, e.rank(0) + 1)); });
  });
}

void lower_one_hot(KernelQuery& l) {
  const View indices = l.in(0), values = l.in(2), y = l.out(0);
  l.call("scalar_one_hot").tensor(y).tensor(indices).tensor(values).dim(axis_of(l.node(), -1, static_cast<int>(y.extents.size()))).emit();
}

}  // namespace

extern const Operator op_OneHot;
const Operator op_OneHot{.name = "OneHot",
                         .min_inputs = 3,
                         .max_inputs = 4,
                         .max_outputs = 1,
                         .resolve = resolve_one_hot,
                         .infer = infer_one_hot,
                         .evaluate = evaluate_one_hot,
                         .lower = lower_one_hot};

}  // namespace onnxc
