// Breaks lines of emitted text, so that people can read them without scrolling.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace onnxc {

/// The columns of a line of a unit, except for data: literals are never broken.
inline constexpr std::size_t kLongestLine = 140;

/// `text`, which is C++ as emitted units have it, with longer lines broken: code after commas, or else at spaces, and
/// comments between words. A long comment after code is moved before it. Preprocessor lines stay as they are. Tokens
/// do not change.
std::string in_short_lines(std::string_view text);

}  // namespace onnxc
