#include "compiler/lowering/narrow.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <optional>

#include "compiler/lowering/pack.h"
#include "runtime_stub/onnxc/types.hpp"

namespace onnxc {
namespace {

constexpr uint32_t kMagnitude = 0x7fffffffu, kInfinity = 0x7f800000u;

uint32_t bits_of(float x) { return std::bit_cast<uint32_t>(x); }

/// Whether all of them are, in blocks without a branch.
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

/// The magnitudes of a column, as bits; at most 129 of them fit codes of a scale.
class Magnitudes {
 public:
  /// False where the column fits no scale.
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

  /// The largest magnitude is a code that its signs allow, so the others are too.
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

/// The scales of all columns, a strip of columns at a time: where rows are what lies together, the strip's values are in one line of the cache.
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

template <class T, class Narrow>
std::vector<std::byte> stored_as(std::span<const float> values, Narrow narrow) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  std::byte* to = bytes.data();
  for (std::size_t i = 0; i < values.size(); ++i, to += sizeof(T)) {
    const T element = narrow(values[i], static_cast<int64_t>(i));
    std::memcpy(to, &element, sizeof element);
  }
  return bytes;
}

int64_t width(const Storage& storage) { return info(storage.element).bits / 8; }

/// What it takes to widen an element, in multiply-adds of a gemm. Skylake-SP, g++ 12, 2026-11, gemv and gemm of 4 and 784 rows; SSE4 has no
/// instruction for f16.
double widening_macs(ElementType element, Isa isa) {
  const bool wide = isa == Isa::Avx512, has_halves = isa != Isa::Generic && isa != Isa::Sse4;
  if (element == ElementType::F16) return !has_halves ? 16 : wide ? 1 : 0.5;
  if (element == ElementType::BF16) return !has_halves ? 4.5 : wide ? 1.5 : 1;
  if (element == ElementType::I8) return wide || !has_halves ? 2.5 : 2;
  return 0;
}

}  // namespace

const char* name(Math math) { return math == Math::Strict ? "strict" : "default"; }
const char* name(NarrowWeights narrow) { return narrow == NarrowWeights::Off ? "off" : narrow == NarrowWeights::All ? "all" : "auto"; }

bool is_bf16(float x) { return (bits_of(x) & 0xffff) == 0 && (bits_of(x) & kMagnitude) <= kInfinity; }

bool is_f16(float x) {
  constexpr uint32_t kLeast = 0x38800000u, kLargest = 0x477fe000u;  // 2^-14, 65504
  const uint32_t magnitude = bits_of(x) & kMagnitude;
  const bool is_normal = magnitude >= kLeast && magnitude <= kLargest && (magnitude & 0x1fff) == 0;
  const float quanta = (magnitude < kLeast ? std::bit_cast<float>(magnitude) : 0.0f) * 0x1p24f;  // subnormals are whole numbers of 2^-24
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

std::vector<std::byte> store(std::span<const float> panels, int64_t k, int64_t nr, ElementType element, std::span<const float> scales,
                             int64_t lanes) {
  const int64_t whole = nr / lanes * lanes;
  const auto column = [&](int64_t i) {
    if (whole == nr) return i % nr;
    const int64_t in_two = i % (2 * nr);
    return in_two < 2 * whole ? in_two % whole : whole + (in_two - 2 * whole) / 2;
  };
  switch (element) {
    case ElementType::F16: return stored_as<float16>(panels, [](float x, int64_t) { return float16(x); });
    case ElementType::BF16: return stored_as<bfloat16>(panels, [](float x, int64_t) { return bfloat16(x); });
    case ElementType::I8:
      return stored_as<int8_t>(panels, [&](float x, int64_t i) {
        const float scale = scales[static_cast<std::size_t>(i / (k * nr) * nr + column(i))];
        return scale > 0 ? code_of(x, scale) : int8_t{0};
      });
    default: return stored_as<float>(panels, [](float x, int64_t) { return x; });
  }
}

std::vector<Storage> candidate_storages(const Lowering& l, const std::vector<Columns>& b, Dim rows, int64_t tile) {
  const bool all = l.narrow_weights() == NarrowWeights::All, waits = l.weights_stream() && rows.is_constant() && rows.value() <= tile;
  std::vector<Storage> candidates{Storage()};
  if (!all && (l.narrow_weights() == NarrowWeights::Off || !waits)) return candidates;
  KnownStorages* const known = l.known_storages();
  const auto key = [](const Columns& c) { return std::tuple(c.values.data(), c.values.size(), c.count, c.whole); };
  if (known != nullptr && !b.empty()) {
    const auto [it, fresh] = known->exact.try_emplace({key(b.front()), key(b.back())});
    if (fresh) it->second = exact_storages(b);
    candidates.insert(candidates.end(), it->second.begin(), it->second.end());
  } else {
    std::ranges::move(exact_storages(b), std::back_inserter(candidates));
  }
  if (!all) return candidates;
  int64_t count = 0;
  for (const Columns& columns : b) count += static_cast<int64_t>(columns.values.size());
  const auto bytes = [&](const Storage& storage) { return width(storage) * count + 4 * static_cast<int64_t>(storage.scales.size()); };
  const int64_t least = bytes(*std::ranges::min_element(candidates, {}, bytes));
  std::erase_if(candidates, [&](const Storage& storage) { return storage.element != ElementType::F32 && bytes(storage) > least; });
  return candidates;
}

void consider_stored(Lowering& l, const StoredKernel& kernel, const std::vector<Storage>& storages,
                     const std::function<void(const Storage&)>& build) {
  for (const Storage& storage : storages) {
    const bool narrow = storage.element != ElementType::F32;
    const int64_t count = kernel.k * kernel.n, bytes = width(storage) * count + (storage.element == ElementType::I8 ? 4 * kernel.n : 0);
    const double widening = widening_macs(storage.element, l.target().isa) * static_cast<double>(count);
    l.consider(
        kernel.row, kernel.macs + kernel.readings * widening, static_cast<double>(bytes), [build, storage] { build(storage); },
        bytes - 4 * (count - kernel.added),
        narrow ? fmt::format("{} as {}", kernel.note.empty() ? "weights" : kernel.note, name(storage.element)) : kernel.note, narrow);
  }
}

PointerArg add_stored(Lowering& l, const std::string& from, const Packed& panels, int64_t k, int64_t nr, const Storage& storage,
                      std::vector<float> scales, std::vector<std::pair<std::string, Arg>>& params) {
  if (storage.element == ElementType::F32) return l.weights(from, panels);
  const auto drafted = l.draft(from, panels, storage.element);
  const PointerArg stored =
      drafted ? *drafted
              : l.weights(from, storage.element, store(panels.make(), k, nr, storage.element, scales, l.target().vector_floats),
                          panels.count * 4);
  if (storage.element == ElementType::I8) {
    const auto* const first = reinterpret_cast<const std::byte*>(scales.data());
    params.emplace_back("scales",
                        l.weights(from, ElementType::F32, std::vector<std::byte>(first, first + scales.size() * sizeof(float)), 0));
  }
  return stored;
}

}  // namespace onnxc
