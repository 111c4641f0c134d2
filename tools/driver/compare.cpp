#include "tools/driver/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace onnxc {
namespace {

/// The position [2, 0, 5] of element `index`.
std::string position(int64_t index, const std::vector<int64_t>& shape) {
  std::string text;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    text = fmt::format("{}{}{}", index % shape[axis], text.empty() ? "" : ", ", text);
    index /= shape[axis];
  }
  return "[" + text + "]";
}

struct Numbers {
  const float* floats = nullptr;  // without a copy, for the usual type
  std::vector<double> doubles;
  std::size_t count = 0;

  explicit Numbers(const TensorData& tensor) {
    if (tensor.type == ElementType::F32) {
      floats = tensor.as<float>().data();
      count = tensor.as<float>().size();
    } else if (tensor.type == ElementType::C64) {  // as pairs
      floats = tensor.as<float>().data();
      count = tensor.as<float>().size();
    } else if (tensor.type == ElementType::C128) {
      doubles.assign(tensor.as<double>().begin(), tensor.as<double>().end());
      count = doubles.size();
    } else {
      doubles = to_doubles(tensor);
      count = doubles.size();
    }
  }
  double operator[](std::size_t i) const { return floats != nullptr ? static_cast<double>(floats[i]) : doubles[i]; }
};

Comparison compare_floats(const TensorData& actual, const TensorData& expected, const Tolerance& tolerance) {
  const Numbers a(actual), e(expected);
  const double rtol = expected.type == ElementType::BF16 ? std::max(tolerance.rtol, 0x1p-6) : tolerance.rtol;
  const bool complex = expected.type == ElementType::C64 || expected.type == ElementType::C128;
  Comparison result;
  double error_squares = 0, expected_squares = 0;
  std::size_t wrong = 0, first_wrong = 0;
  for (std::size_t i = 0; i < e.count; ++i) {
    const double x = a[i], y = e[i];
    bool good = x == y || (std::isnan(x) && std::isnan(y));
    if (!good && std::isfinite(x) && std::isfinite(y)) {
      const double error = std::abs(x - y);
      result.largest_error = std::max(result.largest_error, error);
      error_squares += error * error;
      good = tolerance.rel_l2 || error <= tolerance.atol + rtol * std::abs(y);
    }
    if (std::isfinite(y)) expected_squares += y * y;
    if (!good && wrong++ == 0) first_wrong = i;
  }
  result.relative_l2 = error_squares == 0 ? 0 : std::sqrt(error_squares / std::max(expected_squares, 1e-300));
  if (wrong > 0) {
    result.within = false;
    const auto element = static_cast<int64_t>(complex ? first_wrong / 2 : first_wrong);
    result.reason = fmt::format("{} of {} elements differ, the largest error is {:.3g}; {} is {:.9g}, expected {:.9g}", wrong, e.count,
                                result.largest_error, position(element, expected.shape), a[first_wrong], e[first_wrong]);
  } else if (tolerance.rel_l2 && result.relative_l2 > *tolerance.rel_l2) {
    result.within = false;
    result.reason = fmt::format("the relative L2 error is {:.3g}, above {:.3g}", result.relative_l2, *tolerance.rel_l2);
  }
  return result;
}

Comparison compare_integers(const TensorData& actual, const TensorData& expected, int64_t allowed, std::optional<double> rel_l2) {
  const std::vector<int64_t> a = to_integers(actual), e = to_integers(expected);
  const bool is_unsigned = expected.type == ElementType::U64;
  Comparison result;
  std::size_t wrong = 0, first_wrong = 0;
  double error_squares = 0, expected_squares = 0;
  for (std::size_t i = 0; i < e.size(); ++i) {
    const bool less = is_unsigned ? static_cast<uint64_t>(a[i]) < static_cast<uint64_t>(e[i]) : a[i] < e[i];
    const uint64_t error =
        less ? static_cast<uint64_t>(e[i]) - static_cast<uint64_t>(a[i]) : static_cast<uint64_t>(a[i]) - static_cast<uint64_t>(e[i]);
    const auto distance = static_cast<double>(error), size = static_cast<double>(e[i]);
    result.largest_error = std::max(result.largest_error, distance);
    error_squares += distance * distance;
    expected_squares += size * size;
    if (error > static_cast<uint64_t>(allowed) && wrong++ == 0) first_wrong = i;
  }
  result.relative_l2 = error_squares == 0 ? 0 : std::sqrt(error_squares / std::max(expected_squares, 1e-300));
  if (rel_l2) {
    result.within = result.relative_l2 <= *rel_l2;
    if (!result.within) result.reason = fmt::format("the relative L2 error is {:.3g}, above {:.3g}", result.relative_l2, *rel_l2);
    return result;
  }
  if (wrong > 0) {
    result.within = false;
    result.reason =
        fmt::format("{} of {} elements differ, the largest error is {}; {} is {}, expected {}", wrong, e.size(), result.largest_error,
                    position(static_cast<int64_t>(first_wrong), expected.shape), a[first_wrong], e[first_wrong]);
  }
  return result;
}

Comparison differ(std::string reason) { return {false, std::move(reason), INFINITY, INFINITY}; }

/// The entries of a map in the order of their keys.
HostValue sorted_map(const HostValue& map) {
  const TensorData& keys = map.items[0].tensor;
  const HostValue& values = map.items[1];
  std::vector<std::size_t> order(static_cast<std::size_t>(keys.count()));
  std::iota(order.begin(), order.end(), std::size_t{0});
  const std::vector<int64_t> numbers = keys.type == ElementType::String ? std::vector<int64_t>() : to_integers(keys);
  std::ranges::stable_sort(
      order, [&](std::size_t a, std::size_t b) { return numbers.empty() ? keys.strings[a] < keys.strings[b] : numbers[a] < numbers[b]; });
  const auto taken = [&](const TensorData& from) {
    TensorData to = from;
    const std::size_t width = from.type == ElementType::String ? 0 : from.bytes.size() / std::max<std::size_t>(1, order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (from.type == ElementType::String) to.strings[i] = from.strings[order[i]];
      else std::memcpy(to.bytes.data() + i * width, from.bytes.data() + order[i] * width, width);
    }
    return HostValue::of(std::move(to));
  };
  HostValue result = map;
  result.items[0] = taken(keys);
  if (values.kind == ValueKind::Tensor) {
    if (values.tensor.count() == keys.count() && !is_sub_byte(values.tensor.type)) result.items[1] = taken(values.tensor);
  } else if (values.items.size() == order.size()) {
    for (std::size_t i = 0; i < order.size(); ++i) result.items[1].items[i] = values.items[order[i]];
  }
  return result;
}

Comparison compare_maps(const HostValue& actual, const HostValue& expected, const Tolerance& tolerance) {
  const HostValue a = sorted_map(actual), e = sorted_map(expected);
  Comparison keys = compare(a.items[0], e.items[0], {0, 0});
  if (keys.within) return compare(a.items[1], e.items[1], tolerance);
  keys.reason = "keys: " + keys.reason;
  return keys;
}

}  // namespace

Comparison compare(const TensorData& actual, const TensorData& expected, const Tolerance& tolerance) {
  // Before 1.13, ONNX's tests stored the bits of bfloat16.
  if (actual.type == ElementType::BF16 && expected.type == ElementType::U16) {
    TensorData bits = expected;
    bits.type = ElementType::BF16;
    return compare(actual, bits, tolerance);
  }
  if (actual.type != expected.type || actual.shape != expected.shape) {
    return differ(fmt::format("it is {}, expected {}", describe(actual), describe(expected)));
  }
  if (expected.type == ElementType::String) {
    const auto [a, e] = std::ranges::mismatch(actual.strings, expected.strings);
    if (e == expected.strings.end()) return {};
    return differ(fmt::format("{} is \"{}\", expected \"{}\"", position(e - expected.strings.begin(), expected.shape), *a, *e));
  }
  if (actual.bytes == expected.bytes) return {};
  const bool is_complex = expected.type == ElementType::C64 || expected.type == ElementType::C128;
  if (is_float(expected.type) || is_complex) return compare_floats(actual, expected, tolerance);
  // Integers of a quantised model are numbers on a scale. Wider ones are indices and labels.
  const bool on_scale = expected.type != ElementType::Bool && info(expected.type).bits <= 16;
  return compare_integers(actual, expected, expected.type == ElementType::Bool ? 0 : tolerance.int_atol,
                          on_scale ? tolerance.rel_l2 : std::nullopt);
}

Comparison compare(const HostValue& actual, const HostValue& expected, const Tolerance& tolerance) {
  if (actual.kind != expected.kind) {
    for (const HostValue* one : {&actual, &expected}) {
      if (one->kind == ValueKind::Optional && one->items.size() == 1)
        return one == &actual ? compare(actual.items[0], expected, tolerance) : compare(actual, expected.items[0], tolerance);
    }
    return differ(fmt::format("it is {}, expected {}", describe(actual), describe(expected)));
  }
  if (expected.kind == ValueKind::Map && actual.items.size() == 2 && expected.items.size() == 2)
    return compare_maps(actual, expected, tolerance);
  if (expected.kind == ValueKind::Tensor) return compare(actual.tensor, expected.tensor, tolerance);
  if (actual.items.size() != expected.items.size())
    return differ(fmt::format("it has {} items, expected {}", actual.items.size(), expected.items.size()));
  Comparison all;
  for (std::size_t i = 0; i < expected.items.size(); ++i) {
    const Comparison one = compare(actual.items[i], expected.items[i], tolerance);
    all.largest_error = std::max(all.largest_error, one.largest_error);
    all.relative_l2 = std::max(all.relative_l2, one.relative_l2);
    if (!one.within && all.within) {
      all.within = false;
      all.reason = fmt::format("item {}: {}", i, one.reason);
    }
  }
  return all;
}

}  // namespace onnxc
