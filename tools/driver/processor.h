// Which machine this is.
#pragma once
#include <string>

namespace onnxc {

/// As the system names it, `Intel(R) Xeon(R) Platinum`; where it has no name for it, the architecture.
std::string processor_name();

}  // namespace onnxc
