// y[i] = Expr(x0[i], x1[i], ...): a fused elementwise expression, with broadcasting. The arguments are those of map_scalar
// (../map_scalar.hpp):
//
//   onnxc::gpu::map<E0>(gpu, {12, 768}, onnxc::Stream{y, {768}}, onnxc::Stream{x, {768}}, onnxc::Stream{bias, {0}}, onnxc::Fixed{scale, {1}});
//
// A thread computes four neighbours of a row where rows have a multiple of four, and operands lie so that four elements are
// one access; else one. In place if wished.
#pragma once
#include "../map_scalar.hpp"
#include "index.hpp"
#include "operands.hpp"
#include "queue.hpp"

namespace onnxc::inline ONNXC_ISA::gpu {

/// Neighbours in memory, one access.
template <class T, int kCount>
struct alignas(sizeof(T) * kCount) Run {
  T at[kCount];
};

namespace detail {

/// An operand of map_scalar, where it has a position in a box: element i of a row is data[i * inner].
template <class T>
struct Mapped {
  T* data;
  int64_t inner;
  int64_t outer[kMaxRank] = {};
};
inline void copy_strides(int64_t (&to)[kMaxRank], const Ints& from) noexcept {
  for (int axis = 0; axis < from.size && axis < kMaxRank; ++axis) to[axis] = from[axis];
}
template <class T>
Mapped<T> mapped(const onnxc::Stream<T>& x) noexcept {
  Mapped<T> to{x.data, 1};
  copy_strides(to.outer, x.outer);
  return to;
}
template <class T>
Mapped<T> mapped(const Fixed<T>& x) noexcept {
  Mapped<T> to{x.data, 0};
  copy_strides(to.outer, x.outer);
  return to;
}
template <class T>
Mapped<T> mapped(const Strided<T>& x) noexcept {
  Mapped<T> to{x.data, x.inner};
  copy_strides(to.outer, x.outer);
  return to;
}

/// Whether each row can be read, or written, by runs of kCount.
template <int kCount, class T>
bool by_runs(const Mapped<T>& x, int rows_rank) noexcept {
  if (x.inner == 0) return true;
  if (x.inner != 1 || reinterpret_cast<std::uintptr_t>(x.data) % (sizeof(T) * kCount) != 0) return false;
  for (int axis = 0; axis < rows_rank; ++axis) {
    if (x.outer[axis] % kCount != 0) return false;
  }
  return true;
}

}  // namespace detail

/// See the head of the file. `length` runs of kCount make a row, `count` runs all.
template <class Expr, int kCount, class Y, class... X>
struct Map {
  static constexpr int kThreads = 256;
  struct Shared {};
  int64_t count;
  FastDivide length;
  Box rows;
  detail::Mapped<Y> y;
  Operands<detail::Mapped<X>...> x;

  ONNXC_DEVICE void operator()(Shared&) const {
    const int64_t step = int64_t{blocks().x} * kThreads;
    for (int64_t i = int64_t{block().x} * kThreads + thread(); i < count; i += step) compute(i);
  }

 private:
  ONNXC_DEVICE void compute(int64_t i) const {
    const int64_t row = length(i), column = (i - row * length.divisor()) * kCount;
    const auto at = [&](const auto& operand) {
      int64_t offset = column * operand.inner;
      rows.locate(row, [&](int axis, int64_t position) { offset += position * operand.outer[axis]; });
      return operand.data + offset;
    };
    const auto take = [&]<class T>(const detail::Mapped<T>& operand) {
      Run<std::remove_const_t<T>, kCount> run;
      const T* const from = at(operand);
      if (kCount > 1 && operand.inner != 0) {
        run = *reinterpret_cast<const Run<std::remove_const_t<T>, kCount>*>(from);
      } else {
        ONNXC_UNROLL_DEVICE
        for (int k = 0; k < kCount; ++k) run.at[k] = *from;
      }
      return run;
    };
    const auto apply = [&](const auto&... taken) {
      Run<Y, kCount> result;
      ONNXC_UNROLL_DEVICE
      for (int k = 0; k < kCount; ++k) result.at[k] = Expr::apply(Scalar{}, taken.at[k]...);
      return result;
    };
    const auto result = x.visit(take, apply);
    *reinterpret_cast<Run<Y, kCount>*>(at(y)) = result;
  }
};

namespace detail {

template <class Expr, int kCount, class Y, class... X>
static void launch_map(Queue& gpu, const Shape& shape, const Mapped<Y>& y, const Mapped<X>&... x) noexcept {
  using Kernel = Map<Expr, kCount, Y, X...>;
  const int outer = shape.rank - 1;
  const int64_t length = shape[outer] / kCount, count = length * shape.count(0, outer);
  launch(gpu, Kernel{count, FastDivide(length), Box(shape, 0, outer), y, operands(x...)}, grid_for(count, Kernel::kThreads));
}

template <class Expr, class Y, class... X>
static void map_mapped(Queue& gpu, const Shape& shape, const Mapped<Y>& y, const Mapped<X>&... x) noexcept {
  constexpr int kCount = 4;
  const int outer = shape.rank - 1;
  if (shape[outer] % kCount == 0 && by_runs<kCount>(y, outer) && (by_runs<kCount>(x, outer) && ...))
    launch_map<Expr, kCount>(gpu, shape, y, x...);
  else launch_map<Expr, 1>(gpu, shape, y, x...);
}

}  // namespace detail

/// See the head of the file.
template <class Expr, class Y, class... X>
static void map(Queue& gpu, Shape shape, Y y, X... x) noexcept {
  if (shape.rank == 0) shape = {1};
  if (shape.count() > 0) detail::map_mapped<Expr>(gpu, shape, detail::mapped(y), detail::mapped(x)...);
}

}  // namespace onnxc::gpu
