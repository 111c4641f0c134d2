// ImageDecoder: the format is recognised by the first bytes. Whoever includes this links with tiff, webp, png, jpeg and
// openjp2.
#pragma once
#include "bmp.hpp"
#include "jpeg.hpp"
#include "jpeg2000.hpp"
#include "png.hpp"
#include "pnm.hpp"
#include "tiff.hpp"
#include "webp.hpp"

namespace onnxc::inline ONNXC_ISA {

enum class PixelFormat { RGB, BGR, Grayscale };

namespace image {

inline Status decode_any(RgbImage& image, Bytes file) {
  if (file.matches("BM")) return decode_bmp(image, file);
  if (file.matches("\xff\xd8\xff")) return decode_jpeg(image, file);
  if (file.matches("\x89PNG\r\n\x1a\n")) return decode_png(image, file);
  if (file.matches("RIFF") && file.matches("WEBP", 8)) return decode_webp(image, file);
  if (file.matches("II*") || file.matches("MM") || file.matches("II+")) return decode_tiff(image, file);
  if (file.matches("\xff\x4f\xff\x51") || file.matches("jP  \r\n\x87\n", 4)) return decode_jpeg2000(image, file);
  if (file.u8(0) == 'P' && file.u8(1) >= '1' && file.u8(1) <= '6') return Pnm(file).decode(image);
  return kBadImage;
}

}  // namespace image

/// *y = [*height, *width, 3 or 1]: the image that x encodes, in a block of the heap. Grey is 0.299 red + 0.587
/// green + 0.114 blue, in 16 bits and rounded.
inline Status decode_image(Heap heap, uint8_t** y, int64_t* height, int64_t* width, Tensor<const uint8_t> x, PixelFormat format) {
  image::RgbImage image{heap};
  if (const auto status = image::decode_any(image, {x.data, x.count()})) {
    heap.release(image.pixels);
    return status;
  }
  *y = image.pixels;
  *height = image.height;
  *width = image.width;
  const int64_t count = image.height * image.width;
  if (format == PixelFormat::BGR) {
    for (int64_t i = 0; i < count; ++i) {
      const uint8_t red = image.pixels[3 * i];
      image.pixels[3 * i] = image.pixels[3 * i + 2];
      image.pixels[3 * i + 2] = red;
    }
  }
  if (format == PixelFormat::Grayscale) {  // pixel i is read at 3 i or beyond what is written
    for (int64_t i = 0; i < count; ++i) {
      const uint32_t r = image.pixels[3 * i], g = image.pixels[3 * i + 1], b = image.pixels[3 * i + 2];
      image.pixels[i] = static_cast<uint8_t>((r * 19595 + g * 38470 + b * 7471 + 0x8000) >> 16);
    }
  }
  return {};
}

}  // namespace onnxc::inline ONNXC_ISA
