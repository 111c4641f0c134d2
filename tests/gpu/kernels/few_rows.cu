// Products of few rows, in every type of weights.
#include <onnxc/gpu/gemv_nbits.hpp>

#include "tests/gpu/kernels/ends.hpp"

namespace onnxc::test {

using namespace onnxc::gpu;

template <class Y, class A, class B, class Epilogue>
static void all(Queue& gpu, void* y, const void* x, Epilogue epilogue) {
  gemv<1>(gpu, static_cast<Y*>(y), static_cast<const A*>(x), static_cast<const B*>(x), GemmParams{}, epilogue);
  gemv<2>(gpu, static_cast<Y*>(y), static_cast<const A*>(x), static_cast<const B*>(x), GemmParams{}, epilogue);
  gemv<4>(gpu, static_cast<Y*>(y), static_cast<const A*>(x), static_cast<const B*>(x), GemmParams{}, epilogue);
  gemv<8>(gpu, static_cast<Y*>(y), static_cast<const A*>(x), static_cast<const B*>(x), GemmParams{}, epilogue);
}

Status few_rows(Queue& gpu, void* y, const void* x, const float* f) noexcept {
  const Epilogue<AddRelu, PerCol<float>> end{{f}};
  all<float, float, float>(gpu, y, x, end);
  all<float, float, float16>(gpu, y, x, end);
  all<float, float, bfloat16>(gpu, y, x, end);
  all<float16, float16, float16>(gpu, y, x, end);
  all<bfloat16, bfloat16, bfloat16>(gpu, y, x, end);
  const auto* const codes = static_cast<const uint8_t*>(x);
  gemv_nbits<2, 1>(gpu, static_cast<float*>(y), f, codes, f, nullptr, {.m = 1, .n = 1, .k = 1, .block = 16}, end);
  gemv_nbits<4, 8>(gpu, static_cast<float*>(y), f, codes, f, codes, {.m = 1, .n = 1, .k = 1, .block = 16}, end);
  gemv_nbits<8, 8>(gpu, static_cast<float*>(y), f, codes, f, f, {.m = 1, .n = 1, .k = 1, .block = 16}, end);
  return gpu.result();
}

}  // namespace onnxc::test
