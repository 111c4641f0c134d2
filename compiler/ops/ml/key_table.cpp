#include "compiler/ops/ml/key_table.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "runtime_stub/onnxc/scalar/ml/lookup.hpp"

namespace onnxc {
namespace {

/// One element of a tensor, of any type but those of less than a byte.
void copy_element(TensorData& to, std::size_t at, const TensorData& from, std::size_t index) {
  if (from.type == ElementType::String) {
    to.strings[at] = from.strings[index];
    return;
  }
  const auto width = static_cast<std::size_t>(info(from.type).bits) / 8;
  std::memcpy(to.bytes.data() + at * width, from.bytes.data() + index * width, width);
}

/// Brings sorted keys to the order of their buckets.
template <class Values>
void put_into_buckets(KeyTable& t, std::vector<int64_t>& order, const Values& values) {
  t.bits = contract::hash_bits(static_cast<int64_t>(order.size()));
  const auto bucket = [&](int64_t i) {
    const auto& value = values[static_cast<std::size_t>(i)];
    if constexpr (std::is_same_v<Values, std::vector<std::string>>) {
      return contract::bucket_of(contract::hash_of(value.data(), value.size()), t.bits);
    } else {
      return contract::bucket_of(scalar::hash_of_key(value), t.bits);
    }
  };
  std::ranges::stable_sort(order, {}, bucket);
  t.first.assign((std::size_t{1} << t.bits) + 1, 0);
  for (int64_t i : order) ++t.first[bucket(i) + 1];
  std::partial_sum(t.first.begin(), t.first.end(), t.first.begin());
}

}  // namespace

TensorData elements(const TensorData& from, const std::vector<int64_t>& order) {
  TensorData to = TensorData::zeros(from.type, {static_cast<int64_t>(order.size())});
  for (std::size_t i = 0; i < order.size(); ++i) copy_element(to, i, from, static_cast<std::size_t>(order[i]));
  return to;
}

KeyTable key_table(const TensorData& keys, bool last) {
  KeyTable s;
  std::vector<int64_t> order(static_cast<std::size_t>(keys.count()));
  std::iota(order.begin(), order.end(), int64_t{0});
  if (last) std::ranges::reverse(order);
  const auto by = [&](const auto& values) {
    const auto value = [&](int64_t i) -> const auto& { return values[static_cast<std::size_t>(i)]; };
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return value(a) < value(b); });
    order.erase(std::unique(order.begin(), order.end(), [&](int64_t a, int64_t b) { return value(a) == value(b); }), order.end());
    put_into_buckets(s, order, values);
  };
  if (keys.type == ElementType::String) {
    by(keys.strings);
  } else if (is_float(keys.type)) {
    const std::vector<double> values = to_doubles(keys);
    for (int64_t i : order) {
      if (s.nan < 0 && std::isnan(values[static_cast<std::size_t>(i)])) s.nan = i;
    }
    std::erase_if(order, [&](int64_t i) { return std::isnan(values[static_cast<std::size_t>(i)]); });
    by(values);
  } else {
    by(to_integers(keys));
  }
  s.keys = elements(keys, order);
  s.order = std::move(order);
  return s;
}

NamedArgs key_table_params(KernelQuery& l, const std::string& from, const KeyTable& t) {
  return {{"keys", l.weights(from, t.keys)}, {"first", l.weights(from, ElementType::I32, t.first)}, {"bits", dim_arg(t.bits)}};
}

}  // namespace onnxc
