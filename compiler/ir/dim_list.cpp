#include "compiler/ir/dim_list.h"

#include <fmt/format.h>

namespace onnxc {

void DimList::refuse(std::size_t i, std::size_t size) {
  throw Misread(
      fmt::format("element {} is asked of {}: an input has another rank, or another number of elements, than the operator works on",
                  static_cast<std::ptrdiff_t>(i), size));
}

}  // namespace onnxc
