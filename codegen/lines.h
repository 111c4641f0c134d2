// Lines of emitted text that people can read without scrolling.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace onnxc {

/// Columns of a line of a unit, but for data: literals are never broken.
inline constexpr std::size_t kLongestLine = 140;

/// `text`, lines of C++ that emitted units consist of, with longer lines broken: code after commas, or else where a space is, and comments between words.
/// A long comment behind code comes before it. Lines of the preprocessor stay as they are. Tokens do not change.
std::string in_short_lines(std::string_view text);

}  // namespace onnxc
