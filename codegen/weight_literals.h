// Elements of constants as C++ literals, for arrays.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace onnxc {

/// Appends the elements, separated by commas, in indented lines. Returns false if `type` ("float", "std::int8_t", ...)
/// has no literals here, or if the bytes are not a whole number of elements. Floats are exact: plain decimals where
/// these are exact, hexadecimal floats otherwise, and bit patterns for NaN and infinities.
bool append_literals(std::string& out, std::string_view type, std::span<const std::byte> bytes);

}  // namespace onnxc
