// Optional, OptionalHasElement, OptionalGetElement. A value that is no optional counts as an optional that contains
// it.
#include <fmt/format.h>

#include "compiler/ops/sequence/sequence.h"

namespace onnxc {
namespace {

void infer_optional(Inference& n) {
  if (n.has(0)) return n.output(0, Type::optional(n.type(0)));
  const auto it = n.node().attributes.find("type");
  const Type* type = it == n.node().attributes.end() ? nullptr : std::get_if<Type>(&it->second);
  if (type == nullptr) n.fail("has neither an input nor a type");
  n.output(0, Type::optional(*type));
}
void lower_optional(KernelQuery& l) {
  if (!l.has(0)) {
    l.call("optional_empty").pointer(l.out_object(0)).emit();
  } else if (l.type(0).is_tensor()) {
    const View x = l.in(0);
    const PointerArg y = l.out_object(0);
    l.call("optional_of_tensor").heap().pointer(y).arg(element_number(x.element)).tensor(x).emit();
  } else {
    const PointerArg x = l.object(0), y = l.out_object(0);
    l.call("optional_of").heap().pointer(y).pointer(x).emit();
  }
}

void infer_has_element(Inference& n) { n.output(0, ElementType::Bool, {}); }
void lower_has_element(KernelQuery& l) {
  if (l.has(0) && !l.type(0).is_tensor()) {
    const PointerArg x = l.object(0);
    l.call("optional_has_element").pointer(l.out(0)).pointer(x).emit();
    return;
  }
  const View y = l.out(0);
  l.copy({}, y.pointer, {},
         l.weights(l.has(0) ? "there" : "absent", ElementType::Bool, std::vector<std::byte>{l.has(0) ? std::byte{1} : std::byte{0}}), {},
         ElementType::Bool);
}

void infer_get_element(Inference& n) {
  if (n.type(0).kind != Type::Kind::Optional) return n.output(0, n.type(0));
  n.output(0, told_by_run(n, element_of(n, 0, Type::Kind::Optional, "an optional")));
}
void lower_get_element(KernelQuery& l) {
  if (l.type(0).is_tensor()) return l.alias(0, 0);
  const PointerArg x = l.object(0);
  if (!l.output_type(0).is_tensor()) {
    l.call("optional_get").pointer(l.out_object(0)).pointer(x).emit();
    return;
  }
  const View y = l.out_address(0, true);
  StepBuilder step = l.call("optional_get_tensor");
  step.pointer(x).arg(element_number(y.element)).address(y);
  bind_extents(step, l).emit();
  require_declared(l, l.output_type(0));
}

}  // namespace

extern const Operator op_Optional, op_OptionalHasElement, op_OptionalGetElement;
const Operator op_Optional{.name = "Optional", .max_inputs = 1, .max_outputs = 1, .infer = infer_optional, .lower = lower_optional};
const Operator op_OptionalHasElement{
    .name = "OptionalHasElement", .max_inputs = 1, .max_outputs = 1, .infer = infer_has_element, .lower = lower_has_element};
const Operator op_OptionalGetElement{.name = "OptionalGetElement",
                                     .min_inputs = 1,
                                     .max_inputs = 1,
                                     .max_outputs = 1,
                                     .infer = infer_get_element,
                                     .lower = lower_get_element};

}  // namespace onnxc
