// TopK: the k largest or smallest elements along an axis, with their indices. They are always sorted, whether or not
// that is requested. In opset 1 k was an attribute.
#include <fmt/format.h>

#include "compiler/ops/axis.h"
#include "compiler/ops/dispatch.h"
#include "compiler/ops/tensor/top_k.h"
#include "runtime_stub/onnxc/scalar/top_k.hpp"

namespace onnxc {
namespace {

void resolve_top_k(GraphBuilder& b, Node& node) {
  if (node.version >= 10) return;
  if (!node.has("k")) node.fail(ErrorKind::Invalid, "has no k");
  node.inputs = {node.inputs[0], b.integers({node.integer("k", 0)})};
  node.attributes.erase("k");
}

void infer_top_k(Inference& n) {
  const DimList k = n.known_elements(1, "k");
  if (k.size() != 1 || k[0].max_value() < 0) n.fail("k is one number that is not negative");
  Extents out = n.extents(0);
  Dim& extent = out[static_cast<std::size_t>(n.axis(n.node().integer("axis", -1), n.rank(0)))];
  if ((k[0] - extent).min_value() > 0) n.fail(fmt::format("k is {}, where the axis has extent {}", k[0].text(), extent.text()));
  extent = k[0];
  n.output(0, n.element(0), out);
  n.output(1, ElementType::I64, std::move(out));
}

void evaluate_top_k(Evaluation& e) {
  // Both outputs are computed, even if one is absent, since each is needed for the other.
  const std::vector<int64_t> shape = e.has_output(0) ? e.output(0).shape : e.output(1).shape;
  TensorData values = TensorData::zeros(e.type(0), shape), indices = TensorData::zeros(ElementType::I64, shape);
  const Shape out = Evaluation::shape_of(values);
  for_number(e.type(0), [&]<class T>() {
    e.check(scalar::top_k(Tensor<T>{values.as<T>().data(), out}, Tensor<int64_t>{indices.as<int64_t>().data(), out}, e.in<T>(0),
                          axis_of(e.node(), -1, e.rank(0)), e.node().integer("largest", 1) != 0));
  });
  if (e.has_output(0)) e.output(0) = std::move(values);
  if (e.has_output(1)) e.output(1) = std::move(indices);
}

void lower_top_k(KernelQuery& l) {
  const View x = l.in(0);
  const View values = top_k_output(l, 0), indices = top_k_output(l, 1);
  const int64_t axis = axis_of(l.node(), -1, static_cast<int>(x.extents.size()));
  const bool largest = l.node().integer("largest", 1) != 0;
  const Dim count = element_count(x.extents);
  const double bytes = count.is_constant() ? static_cast<double>(storage_bytes(x.element, count.value())) : 1;
  l.consider("scalar_top_k", 0, bytes, [&l, values, indices, x, axis, largest] {
    l.call("scalar_top_k").tensor(values).tensor(indices).tensor(x).dim(axis).flag(largest).emit();
  });
  // The fast kernel cannot fail, so it is for a k that is known to be at most the extent.
  const bool is_last = axis == static_cast<int64_t>(x.extents.size()) - 1;
  if (!l.optimise() || x.element != ElementType::F32 || !is_last || (x.extents.back() - values.extents.back()).min_value() < 0) return;
  l.consider("top_k", 0, bytes,
             [&l, values, indices, x, largest] { l.call("top_k").template_arg(largest).tensor(values).tensor(indices).tensor(x).emit(); });
}

}  // namespace

View top_k_output(KernelQuery& l, int i) {
  if (l.has_output(i)) return l.out(i);
  const Extents& extents = l.output_type(1 - i).extents;
  const ElementType element = i == 0 ? l.type(0).element : ElementType::I64;
  return {l.workspace(i == 0 ? "values" : "indices", element, element_count(extents)), element, extents, {}};
}

extern const Operator op_TopK;
const Operator op_TopK{.name = "TopK",
                       .min_inputs = 1,
                       .max_inputs = 2,
                       .max_outputs = 2,
                       .resolve = resolve_top_k,
                       .infer = infer_top_k,
                       .evaluate = evaluate_top_k,
                       .lower = lower_top_k};

}  // namespace onnxc
