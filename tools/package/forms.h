// The files of forms/, which the build embeds in the program: for each form of a package all its files, each behind a line `=== PATH`.
#pragma once
#include <string_view>

namespace onnxc {

/// The text of forms/NAME; an unknown name is an internal error.
std::string_view package_form(std::string_view name);

}  // namespace onnxc
