// targets/kernels/elementwise.inc.
//
// The work of a shape is what lowering/map_loop.cpp states: vector_operations of the expression, and the bytes of the operands by their own sizes.
#include <onnxc/map.hpp>

#include "tools/kernel_bench/suite.h"

namespace onnxc::inline ONNXC_ISA::bench {
namespace {

struct AddRelu {
  template <class L, class X0, class X1>
  static ONNXC_INLINE auto apply(L lanes, X0 x0, X1 x1) {
    return fn::max(fn::add(x0, x1), lanes(0.0f));
  }
};
struct Add {
  template <class L, class X0, class X1>
  static ONNXC_INLINE auto apply(L, X0 x0, X1 x1) {
    return fn::add(x0, x1);
  }
};
struct Swish {
  template <class L, class X>
  static ONNXC_INLINE auto apply(L, X x) {
    return fn::mul(x, fn::sigmoid(x));
  }
};
struct Erf {
  template <class L, class X>
  static ONNXC_INLINE auto apply(L, X x) {
    return fn::erf(x);
  }
};
struct Exp {
  template <class L, class X>
  static ONNXC_INLINE auto apply(L, X x) {
    return fn::exp(x);
  }
};
struct Tanh {
  template <class L, class X>
  static ONNXC_INLINE auto apply(L, X x) {
    return fn::tanh(x);
  }
};
struct Log {
  template <class L, class X>
  static ONNXC_INLINE auto apply(L, X x) {
    return fn::log(fn::abs(x));
  }
};
struct Sqrt {
  template <class L, class X>
  static ONNXC_INLINE auto apply(L, X x) {
    return fn::sqrt(fn::abs(x));
  }
};

// What QuantizeLinear and DequantizeLinear are, alone and between bytes.
struct Dequantise {
  template <class L, class X>
  static ONNXC_INLINE auto apply(L lanes, X x) {
    return fn::mul(fn::sub(fn::template cast<float>(x), lanes(128.0f)), lanes(0.02f));
  }
};
template <class T>
struct Quantise {
  template <class L, class X>
  static ONNXC_INLINE auto apply(L lanes, X x) {
    return fn::template cast<T>(fn::add(fn::round(fn::div(x, lanes(0.02f))), lanes(128.0f)));
  }
};
template <class T>
struct Rescale {
  template <class L, class X>
  static ONNXC_INLINE auto apply(L lanes, X x) {
    return fn::template cast<T>(fn::add(fn::round(fn::mul(fn::template cast<float>(x), lanes(0.02f))), lanes(128.0f)));
  }
};
template <class T>
struct Requantise {
  template <class L, class X>
  static ONNXC_INLINE auto apply(L lanes, X x) {
    return Quantise<T>::apply(lanes, Dequantise::apply(lanes, x));
  }
};
template <class T>
struct Residual {
  template <class L, class X0, class X1>
  static ONNXC_INLINE auto apply(L lanes, X0 x0, X1 x1) {
    return Quantise<T>::apply(lanes, fn::add(Dequantise::apply(lanes, x0), Dequantise::apply(lanes, x1)));
  }
};

template <class Expr, class Y, class... X>
void add_map(Suite& suite, const char* name, double operations, double bytes) {
  for (const int64_t n : {4'000, 200'000}) {
    const auto count = static_cast<double>(n);
    suite.add("map", name + ("_" + std::to_string(n)), {operations * count, bytes * count}, [n](Data& d) {
      if constexpr (sizeof...(X) == 2) {
        return [n, x = d.counting<std::tuple_element_t<0, std::tuple<X...>>>(n, 200),
                z = d.counting<std::tuple_element_t<1, std::tuple<X...>>>(n, 77),
                y = d.room<Y>(n)] { map<Expr>({}, {n}, Stream{y}, Stream{x}, Stream{z}); };
      } else {
        return [n, x = d.counting<X...>(n, 200), y = d.room<Y>(n)] { map<Expr>({}, {n}, Stream{y}, Stream{x}); };
      }
    });
  }
}

}  // namespace

void add_elementwise(Suite& suite) {
  add_map<AddRelu, float, float, float>(suite, "add_relu", 2, 12);
  add_map<Swish, float, float>(suite, "swish", 22, 8);
  add_map<Erf, float, float>(suite, "erf", 51, 8);
  add_map<Exp, float, float>(suite, "exp", 21, 8);
  add_map<Tanh, float, float>(suite, "tanh", 25, 8);
  add_map<Log, float, float>(suite, "log", 40, 8);
  add_map<Sqrt, float, float>(suite, "sqrt", 24, 8);
  add_map<Quantise<uint8_t>, uint8_t, float>(suite, "quantise_u8", 21, 5);
  add_map<Quantise<int16_t>, int16_t, float>(suite, "quantise_i16", 21, 6);
  add_map<Dequantise, float, uint8_t>(suite, "dequantise_u8", 4, 5);
  add_map<Dequantise, float, int32_t>(suite, "dequantise_i32", 3, 8);
  add_map<Rescale<uint8_t>, uint8_t, int32_t>(suite, "rescale_i32", 10, 5);
  add_map<Rescale<uint8_t>, uint8_t, uint8_t>(suite, "rescale_u8", 11, 2);
  add_map<Requantise<uint8_t>, uint8_t, uint8_t>(suite, "requantise_u8", 22, 2);
  add_map<Residual<uint8_t>, uint8_t, uint8_t, uint8_t>(suite, "residual_u8", 23, 3);
  for (const int64_t n : {100, 4'000, 200'000}) {
    suite.add("map_scalar", "int64_add_" + std::to_string(n), [n](Data& d) {
      return [n, x = d.counting(n, 9), z = d.counting(n, 7), y = d.room<int64_t>(n)] {
        map_scalar<Add>({}, {n}, Stream{y}, Stream{x}, Stream{z});
      };
    });
  }
}

}  // namespace onnxc::inline ONNXC_ISA::bench
