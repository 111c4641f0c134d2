// Ends of products as the compiler prints them.
#pragma once
#include <onnxc/expr.hpp>
#include <onnxc/fn.hpp>

namespace onnxc::test {

struct AddRelu {
  template <class L, class X0, class X1>
  static ONNXC_BOTH auto apply([[maybe_unused]] L lanes, X0 x0, X1 x1) {
    return fn::max(fn::add(x0, x1), lanes(0.0f));
  }
};
/// Of sums of bytes.
struct Requantize {
  template <class L, class X0, class X1>
  static ONNXC_BOTH auto apply([[maybe_unused]] L lanes, X0 x0, X1 x1) {
    return fn::quantize<int8_t>(fn::cast<float>(x0), x1, lanes(0.0f));
  }
};

}  // namespace onnxc::test
