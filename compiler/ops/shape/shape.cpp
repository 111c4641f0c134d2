// Shape and Size: extents as values. They are Dims, so that the compiler knows what is computed from them. A kernel
// writes those that remain.
#include <algorithm>

#include "compiler/ops/kernel_query.h"

namespace onnxc {
namespace {

void infer_shape(Inference& n) {
  const Extents& in = n.extents(0);
  const auto rank = static_cast<int64_t>(in.size());
  const auto clamp = [&](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank); };
  const int64_t start = clamp(n.node().integer("start", 0)), end = std::max(start, clamp(n.node().integer("end", rank)));
  DimList elements(in.begin() + start, in.begin() + end);
  n.output(0, ElementType::I64, {end - start});
  n.output_elements(0, std::move(elements));
}

void infer_size(Inference& n) {
  n.output(0, ElementType::I64, {});
  n.output_elements(0, {element_count(n.extents(0))});
}

void evaluate_elements(Evaluation& e) {
  const auto rank = static_cast<int64_t>(e.input(0).shape.size());
  const auto clamp = [&](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank); };
  const auto out = e.output(0).as<int64_t>();
  if (e.node().is("Size")) {
    out[0] = e.input(0).count();
    return;
  }
  const int64_t start = clamp(e.node().integer("start", 0));
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = e.input(0).shape[static_cast<std::size_t>(start) + i];
}

void lower_elements(KernelQuery& l) {
  const auto& elements = l.graph()[l.node().outputs[0]].elements;
  ONNXC_CHECK(elements.has_value(), "Shape knows its elements");
  l.call("store_integers").pointer(l.out(0)).dims(*elements).emit();
}

}  // namespace

extern const Operator op_Shape, op_Size;
const Operator op_Shape{.name = "Shape",
                        .min_inputs = 1,
                        .max_inputs = 1,
                        .max_outputs = 1,
                        .infer = infer_shape,
                        .evaluate = evaluate_elements,
                        .lower = lower_elements};
const Operator op_Size{.name = "Size",
                       .min_inputs = 1,
                       .max_inputs = 1,
                       .max_outputs = 1,
                       .infer = infer_size,
                       .evaluate = evaluate_elements,
                       .lower = lower_elements};

}  // namespace onnxc
