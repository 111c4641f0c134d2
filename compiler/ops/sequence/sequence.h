// What operators on sequences and optionals share.
#pragma once
#include "compiler/ops/kernel_query.h"

namespace onnxc {

/// The element type of input i, which must be of that kind.
const Type& element_of(Inference& n, int i, Type::Kind kind, const char* what);
/// The type of a tensor taken out of a value. Its extents are the node's first symbols, except those that were
/// declared as constants. If the value's elements have no rank, the model may state that of the result.
Type told_by_run(Inference& n, const Type& of_elements);
/// Ends the run if the extents found differ from the declared ones.
void require_declared(KernelQuery& l, const Type& type);
/// The node's symbols as the kernel's last arguments.
StepBuilder& bind_extents(StepBuilder& step, const KernelQuery& l);
/// ONNX's number of an element type.
Arg element_number(ElementType type);

}  // namespace onnxc
