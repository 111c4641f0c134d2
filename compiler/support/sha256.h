// SHA-256 (FIPS 180-4), for provenance and cache keys.
#pragma once
#include <cstddef>
#include <span>
#include <string>

namespace onnxc {

/// 64 hexadecimal digits.
std::string sha256(std::span<const std::byte> data);

}  // namespace onnxc
