// The codes of errors, by name.
#pragma once
#include "compiler/support/error.h"

namespace onnxc {

enum class ErrorCode : int {
#define ERROR_CODE(number, name, kind) name = (number),
#include "compiler/support/error_codes.inc"
#undef ERROR_CODE
};

}  // namespace onnxc
