// The files that images for an emulator are made of, as the build has put them into this program; and machines.txt.
#pragma once
#include <string_view>

namespace onnxc {

/// Throws std::logic_error for a name that is none.
std::string_view emulator_part(std::string_view name);

}  // namespace onnxc
