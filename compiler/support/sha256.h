// SHA-256 (FIPS 180-4), for provenance and cache keys.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace onnxc {

/// Of bytes that come in pieces.
class Sha256 {
 public:
  void add(std::span<const std::byte> data);
  /// 64 hexadecimal digits. Nothing is added after that.
  std::string hex();

 private:
  std::array<uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::byte, 64> block_{};  ///< of which the first bytes_ % 64 have come
  uint64_t bytes_ = 0;
};

/// 64 hexadecimal digits.
std::string sha256(std::span<const std::byte> data);

}  // namespace onnxc
