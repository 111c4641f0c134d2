// What the decoders of image formats share: the encoded bytes, read within their bounds, and the decoded image.
//
// Every decoder makes 8 bits each of red, green and blue: greys have three equal samples, more bits are cut to 8,
// transparency is dropped. An image that cannot be decoded, is cut off, or has more than ONNXC_MAX_IMAGE_PIXELS pixels
// gives ONNXC_BAD_VALUE. Sizes are checked before memory is asked for.
#pragma once
#include "../heap.hpp"

#ifndef ONNXC_MAX_IMAGE_PIXELS
#define ONNXC_MAX_IMAGE_PIXELS (std::int64_t{1} << 27)
#endif

namespace onnxc::inline ONNXC_ISA::image {

inline constexpr Status kBadImage{ONNXC_BAD_VALUE};

/// Bytes beyond the end read as 0: decoders check `has` where that would be taken for an image.
struct Bytes {
  const uint8_t* data = nullptr;
  int64_t size = 0;

  bool has(int64_t at, int64_t count) const { return at >= 0 && count >= 0 && at <= size && count <= size - at; }
  uint32_t u8(int64_t at) const { return at >= 0 && at < size ? data[at] : 0u; }
  uint32_t le16(int64_t at) const { return u8(at) | u8(at + 1) << 8; }
  uint32_t le32(int64_t at) const { return le16(at) | le16(at + 2) << 16; }
  uint32_t be16(int64_t at) const { return u8(at) << 8 | u8(at + 1); }
  uint32_t be32(int64_t at) const { return be16(at) << 16 | be16(at + 2); }
  /// `text` without its final NUL stands at `at`.
  template <int n>
  bool matches(const char (&text)[n], int64_t at = 0) const {
    return has(at, n - 1) && __builtin_memcmp(data + at, text, n - 1) == 0;
  }
};

/// Whether an image of this size is decoded.
constexpr bool is_allowed(int64_t width, int64_t height) {
  return width > 0 && height > 0 && width <= INT32_MAX && height <= INT32_MAX && width <= ONNXC_MAX_IMAGE_PIXELS / height;
}

/// [height, width, 3], red first; the pixels are a block of the heap.
struct RgbImage {
  Heap heap;
  uint8_t* pixels = nullptr;
  int64_t height = 0, width = 0;

  Status allocate(int64_t w, int64_t h) {
    if (!is_allowed(w, h)) return kBadImage;
    width = w;
    height = h;
    return heap.allocate(pixels, 3 * w * h);
  }
  uint8_t* row(int64_t y) const { return pixels + 3 * width * y; }
};

constexpr uint8_t clamp_to_byte(int64_t v) { return static_cast<uint8_t>(v < 0 ? 0 : v > 255 ? 255 : v); }

ONNXC_INLINE void put_rgb(uint8_t* to, uint32_t r, uint32_t g, uint32_t b) {
  to[0] = static_cast<uint8_t>(r);
  to[1] = static_cast<uint8_t>(g);
  to[2] = static_cast<uint8_t>(b);
}

}  // namespace onnxc::inline ONNXC_ISA::image
