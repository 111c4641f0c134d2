// ZipMap and CastMap.
#pragma once
#include "../../heap.hpp"
#include "lookup.hpp"

namespace onnxc::inline ONNXC_ISA::scalar {

/// y: a sequence of maps, one for each row of x [rows, columns], from keys[column] to the elements.
template <class K>
Status zip_map(Heap heap, onnxc_value* y, Tensor<const float> x, const K* keys) {
  const int64_t rows = x.shape[0], columns = x.shape[1];
  onnxc_value* values = nullptr;
  float* elements = nullptr;
  if (const auto status = heap.allocate(values, product_of(3, rows))) return status;
  if (const auto status = heap.allocate(elements, product_of(rows, columns))) return status;
  for (int64_t i = 0; i < rows * columns; ++i) elements[i] = x.data[i];
  onnxc_value* const parts = values + rows;
  for (int64_t row = 0; row < rows; ++row) {
    make_tensor(parts + 2 * row, elem_type_of<K>(), keys, {columns});
    make_tensor(parts + 2 * row + 1, elem_type_of<float>(), elements + row * columns, {columns});
    values[row] = {ONNXC_MAP, 0, 0, 2, parts + 2 * row, {}};
  }
  *y = {ONNXC_SEQUENCE, 0, 0, rows, values, {}};
  return {};
}

/// Converts the value of a map to an element of a tensor. `text`: room for kNumberCharacters + 40 characters.
template <class From, class To>
Status cast_map_value(From from, To& to, char* text) {
  if constexpr (std::is_same_v<From, To>) {
    to = from;
  } else if constexpr (std::is_same_v<From, onnxc_string>) {
    return parse_number(from, to);
  } else if constexpr (std::is_same_v<To, onnxc_string>) {  // as printf's %f
    const double value = static_cast<double>(from);
    if (std::isnan(value) || std::isinf(value)) {
      std::memcpy(text, std::isnan(value) ? "nan" : value < 0 ? "-inf" : "inf", value < 0 ? 4 : 3);
      to = {text, value < 0 ? std::size_t{4} : std::size_t{3}};
    } else {
      to = {text, static_cast<std::size_t>(std::to_chars(text, text + 72, value, std::chars_format::fixed, 6).ptr - text)};
    }
  } else {
    to = static_cast<To>(from);
  }
  return {};
}

/// *y: [1, *columns], the values of the map in the order of their keys. Or, with `length` > 0, that many columns, in
/// which each value is at the index that is its key, with zeros elsewhere.
template <class V, class T>
Status cast_map(Heap heap, T** y, int64_t* columns, const onnxc_value* map, int64_t length) {
  const int64_t* keys = nullptr;
  const V* values = nullptr;
  int64_t count = 0;
  if (const auto status = read_map(*map, keys, values, count)) return status;
  constexpr bool prints = std::is_same_v<T, onnxc_string> && !std::is_same_v<V, onnxc_string>;
  constexpr int64_t characters = kNumberCharacters + 40;
  const int64_t width = length > 0 ? length : count;
  if (columns != nullptr) *columns = width;
  int64_t* order = nullptr;
  char* text = nullptr;
  if (const auto status = heap.allocate(*y, width)) return status;
  if (const auto status = heap.allocate(order, 2 * count)) return status;
  if (const auto status = heap.allocate(text, prints ? product_of(count, characters) : 0)) return status;
  for (int64_t i = 0; i < width; ++i) (*y)[i] = T{};
  // A merge sort of the entries by their keys.
  for (int64_t i = 0; i < count; ++i) order[i] = i;
  int64_t* from = order;
  int64_t* to = order + count;
  for (int64_t run = 1; run < count; run *= 2) {
    for (int64_t first = 0; first < count; first += 2 * run) {
      const int64_t middle = min_of(first + run, count), last = min_of(first + 2 * run, count);
      for (int64_t i = first, a = first, b = middle; i < last; ++i)
        to[i] = b == last || (a < middle && !(keys[from[b]] < keys[from[a]])) ? from[a++] : from[b++];
    }
    int64_t* const swapped = from;
    from = to;
    to = swapped;
  }
  for (int64_t i = 0; i < count; ++i) {
    const int64_t entry = from[i], at = length > 0 ? keys[entry] : i;
    if (at < 0 || at >= width) return {ONNXC_INDEX_OUT_OF_RANGE};
    if (const auto status = cast_map_value(values[entry], (*y)[at], text + (prints ? entry * characters : 0))) return status;
  }
  heap.release(order);
  if constexpr (!prints) heap.release(text);
  return {};
}

}  // namespace onnxc::scalar
