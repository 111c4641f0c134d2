#include "tools/verify/made_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "compiler/ir/expr.h"
#include "tools/driver/session.h"

namespace onnxc {
namespace {

/// The bits of what a type has of that content; empty if it has nothing.
std::vector<uint64_t> special_bits(ElementType type, Content content) {
  const int bits = info(type).bits;
  const uint64_t all = bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1, top = uint64_t{1} << (bits - 1);
  if (is_float(type) && bits >= 16) {
    const int mantissa = type == ElementType::F64 ? 52 : type == ElementType::F32 ? 23 : type == ElementType::F16 ? 10 : 7;
    const uint64_t infinity = (top - 1) >> mantissa << mantissa, smallest = uint64_t{1} << mantissa;
    switch (content) {
      case Content::Given:
      case Content::Ordinary:
      case Content::Empty: return {};
      case Content::NotNumbers: return {infinity | smallest >> 1, top | infinity | smallest >> 1 | 1};
      case Content::Infinities: return {infinity, top | infinity};
      case Content::Tiny: return {top, 1, 0, smallest - 1, top | 1, smallest, top | smallest >> 1, top | smallest};
      case Content::Extremes: return {infinity - 1, top | (infinity - 1)};
    }
  }
  if (is_integer(type) && content == Content::Extremes && bits >= 8)
    return is_signed(type) ? std::vector<uint64_t>{top - 1, top} : std::vector<uint64_t>{all, 0};
  return {};
}

/// Puts `special` at every 37th place or so, at least at one. Returns whether there is a place.
bool scatter(TensorData& tensor, const std::vector<uint64_t>& special, std::mt19937_64& random) {
  constexpr std::size_t kOneIn = 37;  // no multiple of a vector's length
  const auto width = static_cast<std::size_t>(info(tensor.type).bits) / 8, count = static_cast<std::size_t>(tensor.count());
  if (special.empty() || count == 0) return false;
  std::size_t next = random() % std::min(count, kOneIn);
  for (std::size_t k = 0; next < count; ++k, next += kOneIn)
    std::memcpy(tensor.bytes.data() + next * width, &special[k % special.size()], width);
  return true;
}

MadeSizes named(const onnxc_model& unit, std::vector<int64_t> symbols) {
  MadeSizes sizes{"", std::move(symbols)};
  for (std::size_t k = 0; k < sizes.symbols.size(); ++k)
    sizes.name += fmt::format("{}{}={}", k == 0 ? "" : ", ", one_line(unit.symbols[k].name), sizes.symbols[k]);
  return sizes;
}

}  // namespace

std::string_view name(Content content) {
  constexpr std::string_view kNames[] = {"given", "ordinary", "empty", "NaN", "infinities", "subnormals", "extremes"};
  return kNames[static_cast<std::size_t>(content)];
}

SizesToTry sizes_to_try(const onnxc_model& unit) {
  const auto count = static_cast<std::size_t>(unit.symbol_count);
  const auto each = [&](auto extent) {
    std::vector<int64_t> symbols(count);
    for (std::size_t k = 0; k < count; ++k)
      symbols[k] = std::clamp<int64_t>(extent(static_cast<int64_t>(k)), unit.symbols[k].min, unit.symbols[k].max);
    return named(unit, std::move(symbols));
  };
  SizesToTry sizes{each([](int64_t) { return 1; }), {}, {}};
  if (count == 0) return sizes;
  sizes.middle.push_back(each([](int64_t k) { return 3 + 2 * k; }));
  constexpr double kMost = 1 << 16;  // of the product of all symbols, so that what is computed stays of a size that a test has
  for (const int64_t n : {4, 32, 224}) {
    if (std::pow(static_cast<double>(n), static_cast<double>(count)) <= kMost) sizes.middle.push_back(each([n](int64_t) { return n; }));
  }
  for (std::size_t k = 0; k < count; ++k) {
    if (unit.symbols[k].min > 0) continue;
    std::vector<int64_t> symbols = sizes.middle[0].symbols;
    symbols[k] = 0;
    sizes.empty.push_back(named(unit, std::move(symbols)));
  }
  return sizes;
}

std::vector<HostValue> made_inputs(const onnxc_model& unit, const MadeSizes& sizes) { return random_inputs(unit, sizes.symbols); }

std::vector<HostValue> with_content(std::vector<HostValue> inputs, Content content) {
  std::mt19937_64 random(2);
  bool any = false;
  for (HostValue& input : inputs) {
    if (input.kind == ValueKind::Tensor) any = scatter(input.tensor, special_bits(input.tensor.type, content), random) || any;
  }
  if (!any) inputs.clear();
  return inputs;
}

}  // namespace onnxc
