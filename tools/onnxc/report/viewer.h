// The files of viewer/, which the build embeds in the program.
#pragma once
#include <string_view>

namespace onnxc {

/// The text of viewer/NAME; an unknown name is an internal error.
std::string_view viewer_file(std::string_view name);

}  // namespace onnxc
