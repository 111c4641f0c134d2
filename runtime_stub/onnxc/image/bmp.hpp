// BMP: headers of OS/2 and Windows; 1, 4, 8, 16, 24 and 32 bits a pixel, bit fields, run lengths; rows from the bottom or from the top.
#pragma once
#include "rgb_image.hpp"

namespace onnxc::inline ONNXC_ISA::image {

struct Bmp {
  enum Compression : uint32_t { kPlain = 0, kRuns8 = 1, kRuns4 = 2, kFields = 3, kAlphaFields = 6 };
  Bytes file;
  int64_t pixels_at = 0, width = 0, height = 0;
  bool from_top = false;
  uint32_t bits = 0, compression = kPlain;
  uint8_t palette[256][3] = {};
  uint32_t masks[3] = {};

  uint8_t* row(const RgbImage& image, int64_t y) const { return image.row(from_top ? y : height - 1 - y); }
  void put_index(uint8_t* to, uint32_t index) const { put_rgb(to, palette[index][0], palette[index][1], palette[index][2]); }
};

inline Status read_bmp_header(Bmp& bmp) {
  const Bytes& f = bmp.file;
  const int64_t header = f.le32(14);
  const bool core = header == 12;
  if (!f.has(14, header) || (!core && header < 40)) return kBadImage;
  bmp.pixels_at = f.le32(10);
  if (core) {
    bmp.width = f.le16(18);
    bmp.height = f.le16(20);
    bmp.bits = f.le16(24);
  } else {
    bmp.width = static_cast<int32_t>(f.le32(18));
    bmp.height = static_cast<int32_t>(f.le32(22));
    bmp.bits = f.le16(28);
    bmp.compression = f.le32(30);
  }
  bmp.from_top = bmp.height < 0;
  if (bmp.from_top) bmp.height = -bmp.height;
  int64_t palette_at = 14 + header;
  if (bmp.bits == 16 || bmp.bits == 32) {
    const bool fields = bmp.compression == Bmp::kFields || bmp.compression == Bmp::kAlphaFields;
    const uint32_t five = bmp.bits == 16 ? 5 : 8;  // without fields: 5 bits each, or 8
    for (uint32_t c = 0; c < 3; ++c) bmp.masks[c] = fields ? f.le32(54 + 4 * c) : ((1u << five) - 1) << (five * (2 - c));
    if (fields && !f.has(54, 12)) return kBadImage;
  }
  if (bmp.bits <= 8) {
    const int64_t used = core ? 0 : f.le32(46), most = int64_t{1} << bmp.bits, entry = core ? 3 : 4;
    const int64_t count = used == 0 || used > most ? most : used;
    for (int64_t i = 0; i < count; ++i) {
      for (int c = 0; c < 3; ++c) bmp.palette[i][c] = static_cast<uint8_t>(f.u8(palette_at + entry * i + 2 - c));
    }
  }
  return {};
}

/// The bits of `mask` in v, as a share of 255.
inline uint32_t bmp_sample(uint32_t v, uint32_t mask) {
  if (mask == 0) return 0;
  const int shift = __builtin_ctz(mask);
  return static_cast<uint32_t>(uint64_t{(v & mask) >> shift} * 255 / (mask >> shift));
}

inline Status read_bmp_rows(const Bmp& bmp, const RgbImage& image) {
  const int64_t stride = (bmp.width * bmp.bits + 31) / 32 * 4;
  if (!bmp.file.has(bmp.pixels_at, stride * bmp.height)) return kBadImage;
  for (int64_t y = 0; y < bmp.height; ++y) {
    uint8_t* const to = bmp.row(image, y);
    const int64_t at = bmp.pixels_at + y * stride;
    for (int64_t x = 0; x < bmp.width; ++x) {
      switch (bmp.bits) {
        case 24: put_rgb(to + 3 * x, bmp.file.u8(at + 3 * x + 2), bmp.file.u8(at + 3 * x + 1), bmp.file.u8(at + 3 * x)); break;
        case 16:
        case 32: {
          const uint32_t v = bmp.bits == 16 ? bmp.file.le16(at + 2 * x) : bmp.file.le32(at + 4 * x);
          put_rgb(to + 3 * x, bmp_sample(v, bmp.masks[0]), bmp_sample(v, bmp.masks[1]), bmp_sample(v, bmp.masks[2]));
          break;
        }
        default: {  // 1, 4, 8: the first pixel in the highest bits
          const int64_t bit = x * bmp.bits;
          bmp.put_index(to + 3 * x, bmp.file.u8(at + bit / 8) >> (8 - bmp.bits - bit % 8) & ((1u << bmp.bits) - 1));
          break;
        }
      }
    }
  }
  return {};
}

/// Pairs (count, index). A count of 0 escapes: then 0 ends the row, 1 the image, 2 moves on, and n > 2 is n indices in
/// full, padded to two bytes.
inline Status read_bmp_runs(const Bmp& bmp, const RgbImage& image) {
  const Bytes& f = bmp.file;
  for (int64_t y = 0; y < bmp.height; ++y) {
    for (int64_t x = 0; x < bmp.width; ++x) bmp.put_index(image.row(y) + 3 * x, 0);
  }
  int64_t x = 0, y = 0, at = bmp.pixels_at;
  const auto put = [&](uint32_t index) {
    if (x < bmp.width && y < bmp.height) bmp.put_index(bmp.row(image, y) + 3 * x, index);
    ++x;
  };
  const bool four = bmp.bits == 4;
  while (y < bmp.height) {
    if (!f.has(at, 2)) return kBadImage;
    const uint32_t count = f.u8(at), value = f.u8(at + 1);
    at += 2;
    if (count > 0) {
      for (uint32_t i = 0; i < count; ++i) put(!four ? value : i % 2 == 0 ? value >> 4 : value & 15);
    } else if (value == 0) {
      x = 0;
      ++y;
    } else if (value == 1) {
      break;
    } else if (value == 2) {
      if (!f.has(at, 2)) return kBadImage;
      x += f.u8(at);
      y += f.u8(at + 1);
      at += 2;
    } else {
      const int64_t bytes = four ? (value + 1) / 2 : value;
      if (!f.has(at, bytes)) return kBadImage;
      for (uint32_t i = 0; i < value; ++i) put(!four ? f.u8(at + i) : i % 2 == 0 ? f.u8(at + i / 2) >> 4 : f.u8(at + i / 2) & 15);
      at += (bytes + 1) / 2 * 2;
    }
  }
  return {};
}

inline Status decode_bmp(RgbImage& image, Bytes file) {
  Bmp bmp{.file = file};
  if (const auto status = read_bmp_header(bmp)) return status;
  const bool runs = (bmp.compression == Bmp::kRuns8 && bmp.bits == 8) || (bmp.compression == Bmp::kRuns4 && bmp.bits == 4);
  const bool fields = (bmp.compression == Bmp::kFields || bmp.compression == Bmp::kAlphaFields) && (bmp.bits == 16 || bmp.bits == 32);
  const uint32_t b = bmp.bits;
  if (!runs && !fields && (bmp.compression != Bmp::kPlain || (b != 1 && b != 4 && b != 8 && b != 16 && b != 24 && b != 32)))
    return kBadImage;
  if (!is_allowed(bmp.width, bmp.height)) return kBadImage;
  if (!runs && !file.has(bmp.pixels_at, (bmp.width * b + 31) / 32 * 4 * bmp.height)) return kBadImage;
  if (const auto status = image.allocate(bmp.width, bmp.height)) return status;
  return runs ? read_bmp_runs(bmp, image) : read_bmp_rows(bmp, image);
}

}  // namespace onnxc::inline ONNXC_ISA::image
