// Depthwise convolutions, in every type and specialisation of the catalogue.
#include <onnxc/gpu/conv_depthwise.hpp>

#include "tests/gpu/kernels/ends.hpp"

namespace onnxc::test {

using namespace onnxc::gpu;

template <class Y, class A, class B, class Epilogue>
static void all(Queue& gpu, void* y, const void* x, Epilogue epilogue) {
  const auto one = [&](auto kernel) {
    constexpr int kKw = decltype(kernel)::value / 10, kStride = decltype(kernel)::value % 10;
    conv_depthwise<kKw, kStride>(gpu, static_cast<Y*>(y), static_cast<const A*>(x), static_cast<const B*>(x), ConvParams{}, epilogue);
  };
  one(std::integral_constant<int, 0>{});
  one(std::integral_constant<int, 31>{});
  one(std::integral_constant<int, 32>{});
  one(std::integral_constant<int, 51>{});
  one(std::integral_constant<int, 52>{});
}

Status depthwise(Queue& gpu, void* y, const void* x, const float* f) noexcept {
  const Epilogue<AddRelu, PerCol<float>> end{{f}};
  const Epilogue<Requantize, PerCol<float>> bytes{{f}};
  all<float, float, float>(gpu, y, x, end);
  all<float16, float16, float16>(gpu, y, x, end);
  all<bfloat16, bfloat16, bfloat16>(gpu, y, x, end);
  all<int8_t, int8_t, int8_t>(gpu, y, x, bytes);
  all<uint8_t, uint8_t, int8_t>(gpu, y, x, bytes);
  return gpu.result();
}

}  // namespace onnxc::test
