// JPEG 2000, by openjpeg: files (JP2) and bare codestreams (J2K).
//
// The library takes memory for each tile and component that a header names, before it sees anything else of them. So
// the size segment of the codestream, its first one, is read and checked here beforehand.
#pragma once
#if __has_include(<openjpeg.h>)
#include <openjpeg.h>
#else
#include <openjpeg-2.5/openjpeg.h>
#endif

#include "rgb_image.hpp"

namespace onnxc::inline ONNXC_ISA::image {

/// The file in memory, as the library reads it.
struct Jpeg2000File {
  Bytes bytes;
  int64_t at = 0;

  static Jpeg2000File& of(void* self) { return *static_cast<Jpeg2000File*>(self); }
  static OPJ_SIZE_T read(void* to, OPJ_SIZE_T count, void* self) {
    Jpeg2000File& file = of(self);
    const auto left = static_cast<OPJ_SIZE_T>(file.bytes.size - file.at);
    if (left == 0) return static_cast<OPJ_SIZE_T>(-1);
    const OPJ_SIZE_T n = count < left ? count : left;
    __builtin_memcpy(to, file.bytes.data + file.at, n);
    file.at += static_cast<int64_t>(n);
    return n;
  }
  static OPJ_OFF_T skip(OPJ_OFF_T count, void* self) {
    Jpeg2000File& file = of(self);
    if (count < 0) return -1;
    const int64_t n = min_of(count, file.bytes.size - file.at);
    file.at += n;
    return n;
  }
  static OPJ_BOOL seek(OPJ_OFF_T to, void* self) {
    Jpeg2000File& file = of(self);
    if (to < 0 || to > file.bytes.size) return OPJ_FALSE;
    file.at = to;
    return OPJ_TRUE;
  }
};

/// Where the codestream begins: in a file, what the first box `jp2c` holds. -1 where there is none.
inline int64_t find_codestream(Bytes file) {
  if (file.matches("\xff\x4f\xff\x51")) return 0;
  for (int64_t at = 0; file.has(at, 8);) {
    const bool wide = file.be32(at) == 1;
    const uint64_t length = wide ? uint64_t{file.be32(at + 8)} << 32 | file.be32(at + 12) : file.be32(at);
    const int64_t header = wide ? 16 : 8;
    if (file.matches("jp2c", at + 4)) return file.matches("\xff\x4f\xff\x51", at + header) ? at + header : -1;
    if (length < static_cast<uint64_t>(header) || length > static_cast<uint64_t>(file.size - at)) return -1;
    at += static_cast<int64_t>(length);
  }
  return -1;
}

/// Whether the size segment asks for no more than a decoder will give.
inline bool is_modest_codestream(Bytes file, int64_t at) {
  constexpr int64_t most_components = 4, most_tiles = 16384;
  if (at < 0 || !file.has(at, 44)) return false;
  const int64_t right = file.be32(at + 8), bottom = file.be32(at + 12), left = file.be32(at + 16), top = file.be32(at + 20);
  const int64_t tile_width = file.be32(at + 24), tile_height = file.be32(at + 28), tiles_left = file.be32(at + 32),
                tiles_top = file.be32(at + 36);
  if (tile_width == 0 || tile_height == 0 || tiles_left > left || tiles_top > top || !is_allowed(right - left, bottom - top)) return false;
  const int64_t across = ceil_div(right - tiles_left, tile_width), down = ceil_div(bottom - tiles_top, tile_height);
  return across <= most_tiles && down <= most_tiles / across && file.be16(at + 40) >= 1 && file.be16(at + 40) <= most_components;
}

/// A sample of 8 bits, whatever precision and sign it has.
inline int32_t jpeg2000_sample(const opj_image_comp_t& component, int64_t x, int64_t y) {
  const int64_t column = min_of(x / component.dx, component.w - 1), row = min_of(y / component.dy, component.h - 1);
  const int precision = static_cast<int>(component.prec);
  int64_t v = component.data[row * component.w + column];
  if (component.sgnd != 0) v += int64_t{1} << (precision - 1);
  if (precision > 8) v = (v + (int64_t{1} << (precision - 9))) >> (precision - 8);
  if (precision < 8) v *= int64_t{1} << (8 - precision);
  return clamp_to_byte(v);
}

inline Status put_jpeg2000(const opj_image_t& decoded, RgbImage& image) {
  const int64_t width = int64_t{decoded.x1} - decoded.x0, height = int64_t{decoded.y1} - decoded.y0;
  if (!is_allowed(width, height) || decoded.numcomps == 0) return kBadImage;
  const bool colour = decoded.numcomps >= 3;
  for (OPJ_UINT32 c = 0; c < (colour ? 3u : 1u); ++c) {
    const opj_image_comp_t& component = decoded.comps[c];
    if (component.data == nullptr || component.w == 0 || component.h == 0 || component.dx == 0 || component.dy == 0 || component.prec < 1 ||
        component.prec > 31)
      return kBadImage;
  }
  if (const auto status = image.allocate(width, height)) return status;
  const bool luma = colour && decoded.color_space == OPJ_CLRSPC_SYCC;
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < width; ++x) {
      const int32_t a = jpeg2000_sample(decoded.comps[0], x, y);
      const int32_t b = colour ? jpeg2000_sample(decoded.comps[1], x, y) : a, c = colour ? jpeg2000_sample(decoded.comps[2], x, y) : a;
      uint8_t* const to = image.row(y) + 3 * x;
      if (luma) {  // JFIF's, in 16 bits after the point
        const int64_t l = int64_t{a} * 65536 + 32768, u = b - 128, v = c - 128;
        put_rgb(to, clamp_to_byte((l + 91881 * v) >> 16), clamp_to_byte((l - 22554 * u - 46802 * v) >> 16),
                clamp_to_byte((l + 116130 * u) >> 16));
      } else {
        put_rgb(to, static_cast<uint32_t>(a), static_cast<uint32_t>(b), static_cast<uint32_t>(c));
      }
    }
  }
  return {};
}

inline Status decode_jpeg2000(RgbImage& image, Bytes bytes) {
  const int64_t codestream = find_codestream(bytes);
  if (!is_modest_codestream(bytes, codestream)) return kBadImage;
  Jpeg2000File file{bytes};
  opj_codec_t* const codec = opj_create_decompress(codestream == 0 ? OPJ_CODEC_J2K : OPJ_CODEC_JP2);
  opj_stream_t* const stream = opj_stream_create(65536, OPJ_TRUE);
  opj_image_t* decoded = nullptr;
  Status status{ONNXC_OUT_OF_MEMORY};
  if (codec != nullptr && stream != nullptr) {
    opj_dparameters_t parameters;
    opj_set_default_decoder_parameters(&parameters);
    opj_stream_set_read_function(stream, Jpeg2000File::read);
    opj_stream_set_skip_function(stream, Jpeg2000File::skip);
    opj_stream_set_seek_function(stream, Jpeg2000File::seek);
    opj_stream_set_user_data(stream, &file, nullptr);
    opj_stream_set_user_data_length(stream, static_cast<OPJ_UINT64>(bytes.size));
    const bool done = opj_setup_decoder(codec, &parameters) != 0 && opj_decoder_set_strict_mode(codec, OPJ_TRUE) != 0 &&
                      opj_read_header(stream, codec, &decoded) != 0 && opj_decode(codec, stream, decoded) != 0;
    status = done ? put_jpeg2000(*decoded, image) : kBadImage;
  }
  opj_image_destroy(decoded);
  if (stream != nullptr) opj_stream_destroy(stream);
  if (codec != nullptr) opj_destroy_codec(codec);
  return status;
}

}  // namespace onnxc::inline ONNXC_ISA::image
