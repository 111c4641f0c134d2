// JPEG, by libjpeg or libjpeg-turbo: the slow, exact transform and interpolated chroma, which are the library's
// defaults and what ONNX asks for.
//
// The library reports errors by a call that must not return: it jumps back to run_jpeg. No function between has anything to destroy.
#pragma once
#include <csetjmp>
#include <cstdio>  // jpeglib.h wants FILE

#include <jpeglib.h>

#include <jerror.h>

#include "rgb_image.hpp"

namespace onnxc::inline ONNXC_ISA::image {

/// Behind the library's error manager, which is its first member.
struct JpegErrors {
  jpeg_error_mgr manager;
  std::jmp_buf out;
};

[[noreturn]] inline void leave_jpeg(j_common_ptr jpeg) { std::longjmp(reinterpret_cast<JpegErrors*>(jpeg->err)->out, 1); }

/// Warnings of data that is cut off or wrong; the library would go on with grey.
inline void judge_jpeg_warning(j_common_ptr jpeg, int level) {
  if (level >= 0) return;
  switch (jpeg->err->msg_code) {
    case JWRN_JPEG_EOF:
    case JWRN_HIT_MARKER:
    case JWRN_HUFF_BAD_CODE:
    case JWRN_ARITH_BAD_CODE:
    case JWRN_MUST_RESYNC: leave_jpeg(jpeg);
    default: break;
  }
}

/// A small file may hold very many scans of a large image.
inline void limit_jpeg_scans(j_common_ptr jpeg) {
  if (reinterpret_cast<j_decompress_ptr>(jpeg)->input_scan_number > 500) leave_jpeg(jpeg);
}

/// The CMYK of JPEG files is inverted: c, m, y and k say how much light is left.
inline void put_cmyk_row(uint8_t* to, const uint8_t* from, int64_t width) {
  for (int64_t x = 0; x < width; ++x, to += 3, from += 4) {
    for (int c = 0; c < 3; ++c) {
      const int light = from[3], product = (255 - from[c]) * light + 128;
      to[c] = clamp_to_byte(light - ((product >> 8) + product) / 256);
    }
  }
}

inline Status read_jpeg(jpeg_decompress_struct& jpeg, RgbImage& image, Bytes file) {
  jpeg_mem_src(&jpeg, file.data, static_cast<unsigned long>(file.size));
  if (jpeg_read_header(&jpeg, TRUE) != JPEG_HEADER_OK) return kBadImage;
  if (const auto status = image.allocate(jpeg.image_width, jpeg.image_height)) return status;
  const bool cmyk = jpeg.jpeg_color_space == JCS_CMYK || jpeg.jpeg_color_space == JCS_YCCK;
  jpeg.out_color_space = cmyk ? JCS_CMYK : JCS_RGB;
  jpeg_start_decompress(&jpeg);
  if (jpeg.output_components != (cmyk ? 4 : 3)) return kBadImage;
  JSAMPROW row = nullptr;
  if (cmyk)
    row =
        static_cast<JSAMPROW>(jpeg.mem->alloc_large(reinterpret_cast<j_common_ptr>(&jpeg), JPOOL_IMAGE, std::size_t{4} * jpeg.image_width));
  while (jpeg.output_scanline < jpeg.output_height) {
    uint8_t* const to = image.row(jpeg.output_scanline);
    if (!cmyk) row = to;
    jpeg_read_scanlines(&jpeg, &row, 1);
    if (cmyk) put_cmyk_row(to, row, image.width);
  }
  return {};
}

/// What lives across the jump. It is not in the function that is jumped into, whose own variables would have unknown
/// values then.
struct JpegReader {
  jpeg_decompress_struct jpeg;
  JpegErrors errors;
  jpeg_progress_mgr progress;
};

inline Status run_jpeg(JpegReader& reader, RgbImage& image, Bytes file) {
  if (setjmp(reader.errors.out) != 0) return kBadImage;
  jpeg_create_decompress(&reader.jpeg);
  reader.jpeg.progress = &reader.progress;
  return read_jpeg(reader.jpeg, image, file);
}

inline Status decode_jpeg(RgbImage& image, Bytes file) {
  JpegReader reader{};
  reader.jpeg.err = jpeg_std_error(&reader.errors.manager);
  reader.errors.manager.error_exit = leave_jpeg;
  reader.errors.manager.emit_message = judge_jpeg_warning;
  reader.progress.progress_monitor = limit_jpeg_scans;
  const Status status = run_jpeg(reader, image, file);
  jpeg_destroy_decompress(&reader.jpeg);
  return status;
}

}  // namespace onnxc::inline ONNXC_ISA::image
