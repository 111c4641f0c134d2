#include "compiler/ir/dim_list.h"

#include <fmt/format.h>

namespace onnxc {

OutsideOfList::OutsideOfList(std::size_t index, std::size_t size)
    : Error(ErrorKind::Internal, fmt::format("element {} of a list of {} is read", static_cast<std::ptrdiff_t>(index), size), "this is a bug in onnxc; please report it with the model") {}

}  // namespace onnxc
