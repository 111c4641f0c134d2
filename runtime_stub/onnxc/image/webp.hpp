// WebP, lossy or lossless, by libwebp. Animations are not decoded.
#pragma once
#include <webp/decode.h>

#include "rgb_image.hpp"

namespace onnxc::inline ONNXC_ISA::image {

inline Status decode_webp(RgbImage& image, Bytes file) {
  const auto bytes = static_cast<std::size_t>(file.size);
  WebPBitstreamFeatures features{};
  if (WebPGetFeatures(file.data, bytes, &features) != VP8_STATUS_OK || features.has_animation != 0) return kBadImage;
  if (const auto status = image.allocate(features.width, features.height)) return status;
  const auto room = static_cast<std::size_t>(3 * image.width * image.height);
  return WebPDecodeRGBInto(file.data, bytes, image.pixels, room, static_cast<int>(3 * image.width)) == nullptr ? kBadImage : Status{};
}

}  // namespace onnxc::inline ONNXC_ISA::image
