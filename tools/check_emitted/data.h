// The files of data/, as the build has put it into this program.
#pragma once
#include <string_view>

namespace onnxc {

/// Throws std::logic_error for a name that is none.
std::string_view check_emitted_data(std::string_view name);

}  // namespace onnxc
