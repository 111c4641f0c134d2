// Names this machine.
#pragma once
#include <string>

namespace onnxc {

/// The system's name, `Intel(R) Xeon(R) Platinum`, or the architecture if it has none.
std::string processor_name();

}  // namespace onnxc
