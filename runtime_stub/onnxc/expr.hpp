// How a fused expression meets a kernel.
//
// The compiler prints each fused elementwise group as a struct of one static function over values:
//
//   struct AddRelu {                                                  // relu(x0 + x1)
//     template <class L, class X0, class X1> static ONNXC_INLINE auto apply(L lanes, X0 x0, X1 x1) {
//       return fn::max(fn::add(x0, x1), lanes(0.0f));
//     }
//   };
//
// `lanes` makes constants of the width in use: Scalar{} gives them back, Lanes{} fills a vector. The same struct is a loop of its own
// (`map`), the epilogue of a GEMM, convolution or pool, or the prologue of a reduction.
//
// An epilogue sees the output as a matrix [rows, cols]: for GEMM its rows and columns; for a channels-last image pixels by channels.
// Operands beside the accumulator are addressed by (row, col):
#pragma once
#include <utility>

#include "base.hpp"
#include "passed.hpp"

// Before a template of both sides of a GPU whose expression, or other part, may be the host's alone: nvcc then does not ask.
#if defined(__CUDACC__)
#define ONNXC_EITHER _Pragma("nv_exec_check_disable")
#else
#define ONNXC_EITHER
#endif

namespace onnxc::inline ONNXC_ISA {

/// Makes the constants of an expression when it runs on single values.
struct Scalar {
  template <class T>
  constexpr T operator()(T value) const {
    return value;
  }
};

/// operand(row, col) = data[row * stride + col].
template <class T>
struct Rows {
  const T* data;
  Extent stride;
  ONNXC_BOTH const T* at(Index row, Index col) const { return data + row * stride + col; }
  static constexpr bool varies_by_col = true;
};
/// operand(row, col) = data[col]: bias, a value for each channel.
template <class T>
struct PerCol {
  const T* data;
  ONNXC_BOTH const T* at(Index, Index col) const { return data + col; }
  static constexpr bool varies_by_col = true;
};
/// operand(row, col) = data[row / period * stride]: a value for each row (period 1, stride 1).
template <class T>
struct PerRow {
  const T* data;
  Extent period = 1, stride = 1;
  ONNXC_BOTH const T* at(Index row, Index) const { return data + row / period * stride; }
  static constexpr bool varies_by_col = false;
};
/// operand(row, col) = data[row / period * stride + col]: a value for each image and channel (squeeze-and-excite).
template <class T>
struct PerGroup {
  const T* data;
  Extent period, stride;
  ONNXC_BOTH const T* at(Index row, Index col) const { return data + row / period * stride + col; }
  static constexpr bool varies_by_col = true;
};
/// operand(row, col) = data[row % period * stride + col]: a matrix repeated down the rows (a bias of [S, N] under [B, S, N]).
template <class T>
struct Repeat {
  const T* data;
  Extent period, stride;
  ONNXC_BOTH const T* at(Index row, Index col) const { return data + row % period * stride + col; }
  static constexpr bool varies_by_col = true;
};
/// One value for all.
template <class T>
struct Single {
  const T* data;
  ONNXC_BOTH const T* at(Index, Index) const { return data; }
  static constexpr bool varies_by_col = false;
};

/// Expr over (accumulator, operands...). The kernel passes `load(operand, row, col)`, because it knows the width and the tail.
template <class Expr, class... Operands>
struct Epilogue;

template <class Expr>
struct Epilogue<Expr> {
  static constexpr bool kReads = false;
  ONNXC_EITHER template <class L, class V, class Load>
  ONNXC_BOTH auto operator()(L lanes, V acc, Load&&) const {
    return Expr::apply(lanes, acc);
  }
};
template <class Expr, class A>
struct Epilogue<Expr, A> {
  static constexpr bool kReads = true;
  A a;
  ONNXC_EITHER template <class L, class V, class Load>
  ONNXC_BOTH auto operator()(L lanes, V acc, Load&& load) const {
    return Expr::apply(lanes, acc, load(a));
  }
};
template <class Expr, class A, class B>
struct Epilogue<Expr, A, B> {
  static constexpr bool kReads = true;
  A a;
  B b;
  ONNXC_EITHER template <class L, class V, class Load>
  ONNXC_BOTH auto operator()(L lanes, V acc, Load&& load) const {
    return Expr::apply(lanes, acc, load(a), load(b));
  }
};
template <class Expr, class A, class B, class C>
struct Epilogue<Expr, A, B, C> {
  static constexpr bool kReads = true;
  A a;
  B b;
  C c;
  ONNXC_EITHER template <class L, class V, class Load>
  ONNXC_BOTH auto operator()(L lanes, V acc, Load&& load) const {
    return Expr::apply(lanes, acc, load(a), load(b), load(c));
  }
};
template <class Expr, class A, class B, class C, class D>
struct Epilogue<Expr, A, B, C, D> {
  static constexpr bool kReads = true;
  A a;
  B b;
  C c;
  D d;
  ONNXC_EITHER template <class L, class V, class Load>
  ONNXC_BOTH auto operator()(L lanes, V acc, Load&& load) const {
    return Expr::apply(lanes, acc, load(a), load(b), load(c), load(d));
  }
};

/// Constants of the expression that differ between calls: its last inputs. To the expression they are what constants of its own would be.
template <int N>
struct Numbers {
  const float* values;
};

namespace detail {
template <class Expr, class L, int... i, class... X>
ONNXC_INLINE auto apply_numbers(L lanes, const float* numbers, std::integer_sequence<int, i...>, X... x) {
  return Expr::apply(lanes, x..., lanes(numbers[i])...);
}
}  // namespace detail

template <class Expr, int N>
struct Epilogue<Expr, Numbers<N>> {
  static constexpr bool kReads = false;
  Numbers<N> numbers;
  template <class L, class V, class Load>
  ONNXC_INLINE auto operator()(L lanes, V acc, Load&&) const {
    return detail::apply_numbers<Expr>(lanes, numbers.values, std::make_integer_sequence<int, N>{}, acc);
  }
};
template <class Expr, class A, int N>
struct Epilogue<Expr, A, Numbers<N>> {
  static constexpr bool kReads = true;
  A a;
  Numbers<N> numbers;
  template <class L, class V, class Load>
  ONNXC_INLINE auto operator()(L lanes, V acc, Load&& load) const {
    return detail::apply_numbers<Expr>(lanes, numbers.values, std::make_integer_sequence<int, N>{}, acc, load(a));
  }
};
template <class Expr, class A, class B, int N>
struct Epilogue<Expr, A, B, Numbers<N>> {
  static constexpr bool kReads = true;
  A a;
  B b;
  Numbers<N> numbers;
  template <class L, class V, class Load>
  ONNXC_INLINE auto operator()(L lanes, V acc, Load&& load) const {
    return detail::apply_numbers<Expr>(lanes, numbers.values, std::make_integer_sequence<int, N>{}, acc, load(a), load(b));
  }
};

/// The epilogue that changes nothing.
struct Keep {
  template <class L, class V>
  static ONNXC_BOTH V apply(L, V acc) {
    return acc;
  }
};

}  // namespace onnxc
