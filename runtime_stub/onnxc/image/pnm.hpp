// Netpbm's formats: P1 to P3 in text, P4 to P6 in bytes; bits, greys or colours. Samples are scaled from [0, maximum] to [0, 255].
#pragma once
#include "rgb_image.hpp"

namespace onnxc::inline ONNXC_ISA::image {

class Pnm {
 public:
  explicit Pnm(Bytes file) : file_(file), at_(2) {}

  Status decode(RgbImage& image) {
    const uint32_t kind = file_.u8(1) - '0';
    const bool text = kind <= 3, bits = kind % 3 == 1;
    const int channels = kind % 3 == 0 ? 3 : 1;
    int64_t width = 0, height = 0;
    if (!read_number(width) || !read_number(height) || (!bits && !read_number(maximum_))) return kBadImage;
    if (maximum_ < 1 || maximum_ > 65535 || !is_allowed(width, height)) return kBadImage;
    if (!text) {
      if (!is_space(file_.u8(at_++))) return kBadImage;
      const int64_t row = bits ? (width + 7) / 8 : width * channels * (maximum_ > 255 ? 2 : 1);
      if (!file_.has(at_, row * height)) return kBadImage;
    } else if (!file_.has(at_, width * height * channels)) {
      return kBadImage;  // each sample takes a character at least
    }
    if (const auto status = image.allocate(width, height)) return status;
    for (int64_t y = 0; y < height; ++y) {
      uint8_t* to = image.row(y);
      const int64_t row_at = at_;
      for (int64_t x = 0; x < width; ++x, to += 3) {
        uint32_t samples[3] = {};
        for (int c = 0; c < channels; ++c) {
          if (text ? !read_sample(samples[c], bits) : !take_sample(samples[c], bits, row_at, x)) return kBadImage;
        }
        put_rgb(to, samples[0], samples[channels > 1 ? 1 : 0], samples[channels > 1 ? 2 : 0]);
      }
      if (!text && bits) at_ = row_at + (width + 7) / 8;
    }
    return {};
  }

 private:
  static bool is_space(uint32_t c) { return c == ' ' || (c >= 9 && c <= 13); }
  static bool is_digit(uint32_t c) { return c >= '0' && c <= '9'; }

  /// White space, and comments up to the end of their line.
  void skip_space() {
    while (at_ < file_.size && (is_space(file_.u8(at_)) || file_.u8(at_) == '#')) {
      if (file_.u8(at_) == '#') {
        while (at_ < file_.size && file_.u8(at_) != '\n' && file_.u8(at_) != '\r') ++at_;
      } else {
        ++at_;
      }
    }
  }
  bool read_number(int64_t& value) {
    skip_space();
    if (!is_digit(file_.u8(at_))) return false;
    value = 0;
    while (is_digit(file_.u8(at_))) {
      value = value * 10 + (file_.u8(at_++) - '0');
      if (value > INT32_MAX) return false;
    }
    return true;
  }
  /// In text; bits need no space between them.
  bool read_sample(uint32_t& sample, bool bits) {
    int64_t value = 0;
    if (bits) {
      skip_space();
      const uint32_t c = file_.u8(at_++);
      sample = c == '0' ? 255 : 0;  // 1 is black
      return c == '0' || c == '1';
    }
    if (!read_number(value) || value > maximum_) return false;
    sample = scaled(value);
    return true;
  }
  /// In bytes, which are known to be there.
  bool take_sample(uint32_t& sample, bool bits, int64_t row_at, int64_t x) {
    if (bits) {
      sample = (file_.data[row_at + x / 8] >> (7 - x % 8) & 1) != 0 ? 0 : 255;
    } else if (maximum_ > 255) {
      sample = scaled(file_.be16(at_));
      at_ += 2;
    } else {
      sample = scaled(file_.data[at_++]);
    }
    return true;
  }
  /// Rounded, halves to even.
  uint32_t scaled(int64_t value) const {
    if (value >= maximum_) return 255;
    const int64_t quotient = value * 255 / maximum_, twice = 2 * (value * 255 % maximum_);
    return static_cast<uint32_t>(quotient + (twice > maximum_ || (twice == maximum_ && quotient % 2 == 1)));
  }

  Bytes file_;
  int64_t at_, maximum_ = 1;
};

}  // namespace onnxc::inline ONNXC_ISA::image
