// StringSplit, as ONNX defines it.
#pragma once
#include "../../heap.hpp"
#include "../../strings.hpp"

namespace onnxc::inline ONNXC_ISA::scalar {

namespace detail {

/// Calls piece(string) for the pieces of `text`: at most `limit` of them, the last of which holds the rest. An empty
/// delimiter stands for runs of white space.
template <class Piece>
void for_each_piece(onnxc_string text, onnxc_string delimiter, int64_t limit, Piece piece) {
  const char* at = text.data;
  const char* const end = text.data + text.size;
  if (delimiter.size == 0) {
    for (int64_t i = 1;; ++i) {
      while (at < end && onnxc::detail::is_space(*at)) ++at;
      if (at == end) return;
      const char* last = at;
      while (last < end && (i == limit || !onnxc::detail::is_space(*last))) ++last;
      piece(onnxc_string{at, static_cast<std::size_t>(last - at)});
      at = last;
    }
  }
  if (text.size == 0) return;
  for (int64_t i = 1;; ++i) {
    const char* last = at;
    while (i != limit && last + delimiter.size <= end && __builtin_memcmp(last, delimiter.data, delimiter.size) != 0) ++last;
    if (i == limit || last + delimiter.size > end) {
      piece(onnxc_string{at, static_cast<std::size_t>(end - at)});
      return;
    }
    piece(onnxc_string{at, static_cast<std::size_t>(last - at)});
    at = last + delimiter.size;
  }
}

}  // namespace detail

/// counts[i]: pieces of x[i]; *y: [count, *columns] of them, which point into x, followed by empty strings. limit: the
/// most pieces, or 0 for any number.
inline Status string_split(Heap heap, onnxc_string** y, int64_t* counts, int64_t* columns, Tensor<const onnxc_string> x,
                           const onnxc_string* delimiter, int64_t limit) {
  const int64_t n = x.count();
  *columns = 0;
  for (int64_t i = 0; i < n; ++i) {
    counts[i] = 0;
    detail::for_each_piece(x.data[i], *delimiter, limit, [&](onnxc_string) { ++counts[i]; });
    *columns = max_of(*columns, counts[i]);
  }
  if (const auto status = heap.allocate(*y, product_of(n, *columns))) return status;
  for (int64_t i = 0; i < n; ++i) {
    onnxc_string* to = *y + i * *columns;
    onnxc_string* const end = to + *columns;
    detail::for_each_piece(x.data[i], *delimiter, limit, [&](onnxc_string piece) { *to++ = piece; });
    while (to < end) *to++ = {};
  }
  return {};
}

}  // namespace onnxc::scalar
