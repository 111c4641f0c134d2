#include "compiler/support/checked.h"

#include "compiler/support/error_codes.h"

namespace onnxc {

SizeOverflow::SizeOverflow() : Error(ErrorCode::SizeOverflow, "an extent does not fit in 64 bits") {}

}  // namespace onnxc
