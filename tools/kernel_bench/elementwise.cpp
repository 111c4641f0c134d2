// targets/kernels/elementwise.inc.
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

}  // namespace

void add_elementwise(Suite& suite) {
  for (const int64_t n : {100, 4'000, 200'000}) {
    suite.add("map", "add_relu_" + std::to_string(n), [n](Data& d) {
      return [n, x = d.numbers(n), z = d.numbers(n), y = d.room(n)] { map<AddRelu>({}, {n}, Stream{y}, Stream{x}, Stream{z}); };
    });
    suite.add("map", "swish_" + std::to_string(n),
              [n](Data& d) { return [n, x = d.numbers(n), y = d.room(n)] { map<Swish>({}, {n}, Stream{y}, Stream{x}); }; });
    suite.add("map_scalar", "int64_add_" + std::to_string(n), [n](Data& d) {
      return [n, x = d.counting(n, 9), z = d.counting(n, 7), y = d.room<int64_t>(n)] {
        map_scalar<Add>({}, {n}, Stream{y}, Stream{x}, Stream{z});
      };
    });
  }
}

}  // namespace onnxc::inline ONNXC_ISA::bench
