// y[i] = Expr(x0[i], x1[i], ...): a fused elementwise expression as a loop of its own, with broadcasting.
//
// The loop nest has the extents of `shape`; the compiler merges axes that every operand walks in one go, so most maps
// have one or two. The type of an operand says how it moves along the innermost axis, strides in elements say how it
// moves along the outer ones (0 = repeated):
//
//   map_scalar<AddRelu>(share, {12, 768}, Stream{y, {768}}, Stream{x, {768}}, Stream{bias, {0}}, Fixed{scale, {1}});
//
//   Stream   element i of the row is data[i]
//   Fixed    one value for the row: data[0]
//   Strided  data[i * inner]
//
// `map_scalar` takes any element types, one value at a time; the compiler vectorises what it can. `map` (map.hpp) runs
// on vectors of floats. The output may be the same memory as an operand that moves in the same way. Nothing outside the
// rows is read or written.
#pragma once
#include "expr.hpp"
#include "passed.hpp"
#include "strided.hpp"

namespace onnxc::inline ONNXC_ISA {

/// The strides of an operand along the outer axes.
using OuterStrides = Passed<Ints>;
inline constexpr Ints kNoStrides;

template <class T>
struct Stream {
  using Element = T;
  T* data;
  OuterStrides outer = kNoStrides;
  ONNXC_BOTH T& element(T* row, Index i) const { return row[i]; }
};
template <class T>
struct Fixed {
  using Element = T;
  T* data;
  OuterStrides outer = kNoStrides;
  ONNXC_BOTH T& element(T* row, Index) const { return *row; }
};
template <class T>
struct Strided {
  using Element = T;
  T* data;
  Extent inner;
  OuterStrides outer = kNoStrides;
  ONNXC_BOTH T& element(T* row, Index i) const { return row[i * inner]; }
};
template <class T>
Stream(T*, Ints = {}) -> Stream<T>;
template <class T>
Fixed(T*, Ints = {}) -> Fixed<T>;
template <class T>
Strided(T*, Index, Ints = {}) -> Strided<T>;

namespace detail {

/// Calls row(first, last, pointers...) for each row of this share. Threads share out the rows, or a single long row.
template <class Row, class... Operands>
ONNXC_BOTH void for_rows(Share share, const Shape& shape, Row row, const Operands&... operands) {
  const Index length = shape.rank == 0 ? 1 : shape[shape.rank - 1], rows = shape.rank == 0 ? 1 : shape.count(0, shape.rank - 1);
  if (length <= 0 || rows <= 0) return;
  const bool by_rows = rows >= share.count;
  const auto [first_row, last_row] = by_rows ? share.slice(rows) : Share::Range{0, rows};
  const Share::Range columns = by_rows ? Share::Range{0, length} : share.slice(length, 64);
  if (columns.begin == columns.end) return;
  const int outer = shape.rank == 0 ? 0 : shape.rank - 1;
  const auto visit = [&](Index, auto*... at) { row(columns.begin, columns.end, at...); };
  walk(shape, outer, first_row, last_row, visit, operands...);
}

}  // namespace detail

/// See the head of the file. Any element types. Where there are more shares than for_rows has use for, each has some of
/// the elements: on a GPU.
ONNXC_EITHER template <class Expr, class Out, class... In>
ONNXC_ANYWHERE void map_scalar(Share share, Passed<Shape> shape, Out out, In... in) {
  const Index length = shape.rank == 0 ? 1 : shape[shape.rank - 1], rows = shape.rank == 0 ? 1 : shape.count(0, shape.rank - 1);
  if (share.count > max_of(rows, 1) * max_of(ceil_div(length, 64), 1)) {
    const auto [first, last] = share.slice(rows * length);
    for (Index at = first; at < last; ++at) {
      const Index row = at / length, i = at % length;
      const auto offset = [&](const Ints& strides) { return shape.rank == 0 ? 0 : strided_offset(shape, shape.rank - 1, strides, row); };
      out.element(out.data + offset(out.outer), i) = Expr::apply(Scalar{}, in.element(in.data + offset(in.outer), i)...);
    }
    return;
  }
  detail::for_rows(
      share, shape,
      [&](Index first, Index last, auto* y, auto*... x) {
        for (Index i = first; i < last; ++i) out.element(y, i) = Expr::apply(Scalar{}, in.element(x, i)...);
      },
      out, in...);
}

}  // namespace onnxc
