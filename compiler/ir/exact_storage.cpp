#include "compiler/ir/exact_storage.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <optional>

namespace onnxc {
namespace {

constexpr uint32_t kMagnitude = 0x7fffffffu, kInfinity = 0x7f800000u;

uint32_t bits_of(float x) { return std::bit_cast<uint32_t>(x); }

/// Whether `is` holds for all values, tested in blocks without a branch.
template <class Is>
bool all_are(std::span<const float> values, Is is) {
  constexpr std::size_t kBlock = 256;
  for (std::size_t first = 0; first < values.size(); first += kBlock) {
    bool all = true;
    for (const float x : values.subspan(first, std::min(kBlock, values.size() - first))) all &= is(x);
    if (!all) return false;
  }
  return true;
}

/// The distinct magnitudes of a column, as bits. Codes of one scale have at most 129 of them.
class Magnitudes {
 public:
  /// Returns false if no scale can fit the column.
  bool add(float x) {
    const uint32_t magnitude = bits_of(x) & kMagnitude;
    if (magnitude == 0) return bits_of(x) == 0;
    if (magnitude < bits_of(std::numeric_limits<float>::min()) || magnitude >= kInfinity) return false;
    if (x > 0) most_positive_ = std::max(most_positive_, magnitude);
    else most_negative_ = std::max(most_negative_, magnitude);
    std::size_t at = magnitude * 2654435761u >> (32 - kLog);
    for (; table_[at] != 0; at = (at + 1) % table_.size()) {
      if (table_[at] == magnitude) return true;
    }
    if (count_ == kMost) return false;
    table_[at] = magnitude;
    list_[count_++] = std::bit_cast<float>(magnitude);
    return true;
  }

  std::optional<float> scale() const {
    if (count_ == 0) return 1.0f;
    const float most = std::bit_cast<float>(std::max(most_positive_, most_negative_));
    const int last = most_negative_ > most_positive_ ? 128 : 127;
    for (int code = last; code > 0; --code) {
      const float middle = most / static_cast<float>(code);
      for (const float scale : {middle, std::nextafter(middle, 0.0f), std::nextafter(middle, most)}) {
        if (scale >= std::numeric_limits<float>::min() && fits(scale)) return scale;
      }
    }
    return std::nullopt;
  }

 private:
  static constexpr std::size_t kMost = 128, kLog = 9;

  /// Whether codes times `scale` give all magnitudes, with the range that their signs allow.
  bool fits(float scale) const {
    return std::all_of(list_.begin(), list_.begin() + count_, [&](float magnitude) {
      const float code = std::nearbyint(magnitude / scale);
      return code <= (bits_of(magnitude) <= most_positive_ ? 127.0f : 128.0f) && code * scale == magnitude;
    });
  }

  std::array<uint32_t, 1 << kLog> table_{};
  std::array<float, kMost> list_{};
  std::ptrdiff_t count_ = 0;
  uint32_t most_positive_ = 0, most_negative_ = 0;
};

/// Finds the scales of all columns, a strip of columns at a time: if rows are contiguous, a strip's values of one row
/// share a cache line.
bool find_scales(const Columns& b, std::vector<float>& scales) {
  constexpr int64_t kStrip = 16;
  const int64_t length = b.count > 0 ? static_cast<int64_t>(b.values.size()) / b.count : 0, row = b.whole ? 1 : b.count,
                column = b.whole ? length : 1;
  std::vector<Magnitudes> strip;
  for (int64_t first = 0; first < b.count; first += kStrip) {
    const int64_t columns = std::min(kStrip, b.count - first);
    strip.assign(static_cast<std::size_t>(columns), {});
    for (int64_t i = 0; i < length; ++i) {
      for (int64_t j = 0; j < columns; ++j) {
        if (!strip[static_cast<std::size_t>(j)].add(b.values[static_cast<std::size_t>(i * row + (first + j) * column)])) return false;
      }
    }
    for (const Magnitudes& magnitudes : strip) {
      const auto scale = magnitudes.scale();
      if (!scale) return false;
      scales.push_back(*scale);
    }
  }
  return true;
}

}  // namespace

bool is_bf16(float x) { return (bits_of(x) & 0xffff) == 0 && (bits_of(x) & kMagnitude) <= kInfinity; }

bool is_f16(float x) {
  constexpr uint32_t kLeast = 0x38800000u, kLargest = 0x477fe000u;  // 2^-14, 65504
  const uint32_t magnitude = bits_of(x) & kMagnitude;
  const bool is_normal = magnitude >= kLeast && magnitude <= kLargest && (magnitude & 0x1fff) == 0;
  // Subnormal numbers are multiples of 2^-24.
  const float quanta = (magnitude < kLeast ? std::bit_cast<float>(magnitude) : 0.0f) * 0x1p24f;
  const bool is_subnormal = magnitude < kLeast && static_cast<float>(static_cast<int32_t>(quanta)) == quanta;
  return is_normal || is_subnormal || magnitude == kInfinity;
}

std::vector<Storage> exact_storages(std::span<const Columns> all) {
  const auto every = [&](auto holds) { return std::ranges::all_of(all, holds); };
  std::vector<Storage> exact;
  std::vector<float> scales;
  if (every([](const Columns& b) { return all_are(b.values, is_f16); })) exact.push_back({ElementType::F16});
  if (every([](const Columns& b) { return all_are(b.values, is_bf16); })) exact.push_back({ElementType::BF16});
  if (every([&](const Columns& b) { return find_scales(b, scales); })) exact.push_back({ElementType::I8, std::move(scales)});
  return exact;
}

int8_t code_of(float weight, float scale) { return static_cast<int8_t>(std::nearbyint(weight / scale)); }

}  // namespace onnxc
