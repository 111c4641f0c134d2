// PNG, by libpng. As in jpeg.hpp, an error jumps back to run_png over functions that have nothing to destroy.
#pragma once
#include <csetjmp>

#include <png.h>

#include "rgb_image.hpp"

namespace onnxc::inline ONNXC_ISA::image {

struct PngReader {
  std::jmp_buf out;
  png_structp png;
  png_infop info;
  Bytes file;
  int64_t at;
};

[[noreturn]] inline void leave_png(png_structp png, png_const_charp) {
  std::longjmp(static_cast<PngReader*>(png_get_error_ptr(png))->out, 1);
}
inline void ignore_png_warning(png_structp, png_const_charp) {}

inline void give_png_bytes(png_structp png, png_bytep to, png_size_t count) {
  auto& reader = *static_cast<PngReader*>(png_get_io_ptr(png));
  if (!reader.file.has(reader.at, static_cast<int64_t>(count))) leave_png(png, "");
  __builtin_memcpy(to, reader.file.data + reader.at, count);
  reader.at += static_cast<int64_t>(count);
}

inline Status read_png(PngReader& reader, RgbImage& image) {
  reader.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &reader, leave_png, ignore_png_warning);
  if (reader.png == nullptr) return {ONNXC_OUT_OF_MEMORY};
  reader.info = png_create_info_struct(reader.png);
  if (reader.info == nullptr) return {ONNXC_OUT_OF_MEMORY};
  png_set_read_fn(reader.png, &reader, give_png_bytes);
  png_set_user_limits(reader.png, INT32_MAX, INT32_MAX);
  png_read_info(reader.png, reader.info);
  if (const auto status = image.allocate(png_get_image_width(reader.png, reader.info), png_get_image_height(reader.png, reader.info)))
    return status;
  png_set_expand(reader.png);
  png_set_strip_16(reader.png);
  png_set_gray_to_rgb(reader.png);
  png_set_strip_alpha(reader.png);
  const int passes = png_set_interlace_handling(reader.png);
  png_read_update_info(reader.png, reader.info);
  if (png_get_rowbytes(reader.png, reader.info) != static_cast<std::size_t>(3 * image.width)) return kBadImage;
  for (int pass = 0; pass < passes; ++pass) {
    for (int64_t y = 0; y < image.height; ++y) png_read_row(reader.png, image.row(y), nullptr);
  }
  return {};
}

inline Status run_png(PngReader& reader, RgbImage& image) {
  if (setjmp(reader.out) != 0) return kBadImage;
  return read_png(reader, image);
}

inline Status decode_png(RgbImage& image, Bytes file) {
  PngReader reader{};
  reader.file = file;
  const Status status = run_png(reader, image);
  png_destroy_read_struct(&reader.png, &reader.info, nullptr);
  return status;
}

}  // namespace onnxc::inline ONNXC_ISA::image
