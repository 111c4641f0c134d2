// Functions of one byte, looked up in a table of 256.
//
//   byte_table(share, x, y, table, {.rows = 784, .columns = 96, .x_row = 96, .y_row = 96});
//
// With AVX512-VBMI a vector of bytes is looked up at once: the table lies in four registers, two of which an instruction searches. Elsewhere bytes are
// looked up one by one.
#pragma once
#include <type_traits>

#include "vec.hpp"

namespace onnxc::inline ONNXC_ISA {

struct ByteTableParams {
  int64_t rows = 1, columns = 1;
  int64_t x_row = 0, y_row = 0;  // elements from one row to the next
};

namespace detail {

#if defined(__AVX512VBMI__) && !defined(ONNXC_NO_INTRINSICS)
typedef x86::WideBytes WideBytesAnywhere __attribute__((aligned(1), may_alias));

/// y[i] = table[x[i]] for i in [0, n).
class ByteLookup {
 public:
  ONNXC_INLINE explicit ByteLookup(const uint8_t* table) { ONNXC_UNROLL for (int i = 0; i < 4; ++i) parts_[i] = load(table + 64 * i); }
  ONNXC_INLINE void apply(const uint8_t* x, uint8_t* y, int64_t n) const {
    for (; n >= 64; n -= 64, x += 64, y += 64) store(look_up(load(x)), y);
    if (n == 0) return;
    uint8_t last[64] = {};
    for (int64_t i = 0; i < n; ++i) last[i] = x[i];
    store(look_up(load(last)), last);
    for (int64_t i = 0; i < n; ++i) y[i] = last[i];
  }

 private:
  static ONNXC_INLINE x86::WideBytes load(const uint8_t* p) { return *reinterpret_cast<const WideBytesAnywhere*>(p); }
  static ONNXC_INLINE void store(x86::WideBytes x, uint8_t* p) { *reinterpret_cast<WideBytesAnywhere*>(p) = x; }
  ONNXC_INLINE x86::WideBytes look_up(x86::WideBytes codes) const {
    return codes < 128 ? x86::pick_bytes(parts_[0], parts_[1], codes) : x86::pick_bytes(parts_[2], parts_[3], codes);
  }
  x86::WideBytes parts_[4];
};
#else
class ByteLookup {
 public:
  ONNXC_INLINE explicit ByteLookup(const uint8_t* table) : table_(table) {}
  ONNXC_INLINE void apply(const uint8_t* x, uint8_t* y, int64_t n) const {
    for (int64_t i = 0; i < n; ++i) y[i] = table_[x[i]];
  }

 private:
  const uint8_t* table_;
};
#endif

}  // namespace detail

/// y[r * y_row + c] = table[x[r * x_row + c]], where x is taken as unsigned. X and Y are types of 8 bits; y may be x.
template <class X, class Y>
void byte_table(Share share, const X* x, Y* y, const Y* table, ByteTableParams p) {
  static_assert(sizeof(X) == 1 && sizeof(Y) == 1);
  const auto* const values = reinterpret_cast<const uint8_t*>(table);
  const detail::ByteLookup of(values);
  const auto* const from = reinterpret_cast<const uint8_t*>(x);
  auto* const to = reinterpret_cast<uint8_t*>(y);
  if (p.rows == 1 || (p.x_row == p.columns && p.y_row == p.columns)) {
    const auto [first, last] = share.slice(p.rows * p.columns);
    return of.apply(from + first, to + first, last - first);
  }
  const auto [first, last] = share.slice(p.rows);
  if (p.columns < 8) {
    for (int64_t r = first; r < last; ++r) {
      for (int64_t c = 0; c < p.columns; ++c) to[r * p.y_row + c] = values[from[r * p.x_row + c]];
    }
    return;
  }
  for (int64_t r = first; r < last; ++r) of.apply(from + r * p.x_row, to + r * p.y_row, p.columns);
}

}  // namespace onnxc::inline ONNXC_ISA
