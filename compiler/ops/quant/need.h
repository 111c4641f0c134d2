// What shape rules of quantised operators ask of an input. They throw Error{Invalid} that names it.
#pragma once
#include <fmt/format.h>

#include "compiler/ops/operator.h"

namespace onnxc {

inline void need_byte(Inference& n, int i) {
  if (!is_byte(n.element(i))) n.fail(fmt::format("input {} is {}; i8 or u8 is needed", i, name(n.element(i))));
}
/// An absent input has any type.
inline void need_type(Inference& n, int i, ElementType type) {
  if (n.has(i) && n.element(i) != type) n.fail(fmt::format("input {} is {}, not {}", i, name(n.element(i)), name(type)));
}
/// One element, if the input is there.
inline void need_one(Inference& n, int i) {
  if (n.has(i) && !(element_count(n.extents(i)) == Dim(1)))
    n.fail(fmt::format("input {} has shape {}; one value is needed", i, text(n.extents(i))));
}

}  // namespace onnxc
