#include "compiler/ops/dispatch.h"

#include <string>

#include "compiler/support/error_codes.h"

namespace onnxc {

void refuse_type(ElementType type) {
  throw Error(ErrorCode::ElementType, "element type " + std::string(name(type)) + " is not supported here");
}

}  // namespace onnxc
