// LabelEncoder, OneHotEncoder and DictVectorizer: values by key.
#pragma once
#include "../../contract/key_hash.hpp"
#include "../../heap.hpp"
#include "../../strings.hpp"

namespace onnxc::inline ONNXC_ISA::scalar {

/// Different keys by buckets of their hashes; see contract/key_hash.hpp. Bucket b has keys [first[b], first[b + 1]), in
/// their order. NaN is no key.
template <class K>
struct KeyTable {
  const K* keys = nullptr;
  const int32_t* first = nullptr;
  int64_t bits = 1;
};

ONNXC_ANYWHERE inline uint64_t hash_of_key(onnxc_string key) { return contract::hash_of(key.data, key.size); }
template <class K>
ONNXC_ANYWHERE uint64_t hash_of_key(K key) {
  if constexpr (std::is_floating_point_v<K>) {
    const double value = static_cast<double>(key) + 0.0;  // the same for both zeros
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    return contract::hash_of(bits);
  } else {
    return contract::hash_of(static_cast<uint64_t>(static_cast<int64_t>(key)));
  }
}

ONNXC_BOTH bool is_same_key(onnxc_string a, onnxc_string b) { return a.size == b.size && compare_bytes(a.data, b.data, a.size) == 0; }
template <class K>
ONNXC_BOTH bool is_same_key(K a, K b) {
  return a == b;
}

/// The position of a key in the table, or -1.
template <class K>
ONNXC_BOTH int64_t find_key(const KeyTable<K>& table, K key) {
  const uint64_t bucket = contract::bucket_of(hash_of_key(key), table.bits);
  int64_t low = table.first[bucket], high = table.first[bucket + 1];
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    if (before(key, table.keys[middle])) high = middle;
    else low = middle;
  }
  return low < high && is_same_key(table.keys[low], key) ? low : -1;
}

/// y[i] = values[k] where keys[k] is x[i], else *otherwise. nan: the value of the key NaN, or null. A share has some of
/// the elements.
template <class K, class V>
ONNXC_ANYWHERE void label_encoder(V* y, Tensor<const K> x, KeyTable<K> table, const V* values, const V* otherwise, const V* nan,
                                  Share share = {}) {
  const auto [first, last] = share.slice(x.count());
  for (int64_t i = first; i < last; ++i) {
    const K key = x.data[i];
    if constexpr (std::is_floating_point_v<K>) {
      if (key != key) {
        y[i] = nan != nullptr ? *nan : *otherwise;
        continue;
      }
    }
    const int64_t k = find_key(table, key);
    y[i] = k >= 0 ? values[k] : *otherwise;
  }
}

/// y[i, position of x[i]] = 1, other elements are 0. positions[k] is that of keys[k]. Without `zeros` an x[i] that is
/// no key gives ONNXC_BAD_VALUE. A share has some of the rows.
template <class K>
ONNXC_ANYWHERE Status one_hot_encoder(float* y, Tensor<const K> x, KeyTable<K> table, const int64_t* positions, int64_t columns, bool zeros,
                                      Share share = {}) {
  const auto [first, last] = share.slice(x.count());
  for (int64_t i = first; i < last; ++i) {
    float* const row = y + i * columns;
    for (int64_t c = 0; c < columns; ++c) row[c] = 0;
    const int64_t k = find_key(table, x.data[i]);
    if (k >= 0) row[positions[k]] = 1;
    else if (!zeros) return {ONNXC_BAD_VALUE};
  }
  return {};
}

template <class T>
constexpr int32_t elem_type_of() {
  if constexpr (std::is_same_v<T, float>) return 1;
  else if constexpr (std::is_same_v<T, int64_t>) return 7;
  else if constexpr (std::is_same_v<T, double>) return 11;
  else return 8;
}

/// The keys and values of a map, or ONNXC_BAD_VALUE where they have other types.
template <class K, class V>
Status read_map(const onnxc_value& map, const K*& keys, const V*& values, int64_t& count) {
  const auto* const parts = static_cast<const onnxc_value*>(map.data);
  if (map.kind != ONNXC_MAP || map.count != 2 || parts == nullptr) return {ONNXC_BAD_VALUE};
  count = parts[0].count;
  keys = static_cast<const K*>(parts[0].data);
  values = static_cast<const V*>(parts[1].data);
  if (count == 0) return {};
  const bool right = parts[0].kind == ONNXC_TENSOR && parts[0].elem_type == elem_type_of<K>() && parts[1].kind == ONNXC_TENSOR &&
                     parts[1].elem_type == elem_type_of<V>() && parts[1].count == count;
  return {right ? ONNXC_OK : ONNXC_BAD_VALUE};
}

/// y[position of a key of the map] = its value, other elements are 0 or empty. Keys that are not in the vocabulary are
/// ignored.
template <class K, class V>
Status dict_vectorizer(V* y, const onnxc_value* map, KeyTable<K> vocabulary, const int64_t* positions, int64_t columns) {
  const K* keys = nullptr;
  const V* values = nullptr;
  int64_t entries = 0;
  if (const auto status = read_map(*map, keys, values, entries)) return status;
  for (int64_t c = 0; c < columns; ++c) y[c] = V{};
  for (int64_t i = 0; i < entries; ++i) {
    const int64_t k = find_key(vocabulary, keys[i]);
    if (k >= 0) y[positions[k]] = values[i];
  }
  return {};
}

}  // namespace onnxc::scalar
