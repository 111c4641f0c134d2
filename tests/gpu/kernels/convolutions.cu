// Convolutions in every kind and tile of the catalogue.
#include <onnxc/gpu/conv.hpp>
#include <onnxc/gpu/conv_exact.hpp>

#include "tests/gpu/kernels/ends.hpp"

namespace onnxc::test {

using namespace onnxc::gpu;

template <class Y, class A, class B, class Epilogue>
static void exact(Queue& gpu, void* y, const void* x, Epilogue epilogue) {
  conv_exact(gpu, static_cast<Y*>(y), static_cast<const A*>(x), static_cast<const B*>(x), ConvParams{}, epilogue);
}
template <class Tile, class Kind, class Y, class Epilogue>
static void one(Queue& gpu, void* y, const void* x, Epilogue epilogue) {
  using A = typename gpu::detail::KindOf<Kind>::Left;
  using B = typename gpu::detail::KindOf<Kind>::Right;
  conv<Tile, Kind>(gpu, static_cast<Y*>(y), static_cast<const A*>(x), static_cast<const B*>(x), ConvParams{}, epilogue);
}

Status convolutions(Queue& gpu, void* y, const void* x, const float* f) noexcept {
  const Epilogue<AddRelu, PerCol<float>> end{{f}};
  const Epilogue<Requantize, PerCol<float>> bytes{{f}};
  one<Tile<128, 128, 32, 64, 3>, ThreeTf32, float>(gpu, y, x, end);
  one<Tile<64, 64, 32, 32, 3>, ThreeTf32, float>(gpu, y, x, end);
  one<Tile<32, 64, 32, 16, 4>, ThreeTf32, float>(gpu, y, x, end);
  one<Tile<128, 32, 32, 32, 3>, ThreeTf32, float>(gpu, y, x, end);
  one<Tile<128, 128, 64, 32, 4>, OnceTf32, float>(gpu, y, x, end);
  one<Tile<64, 64, 32, 32, 3>, OnceTf32, float>(gpu, y, x, end);
  one<Tile<32, 64, 32, 16, 4>, OnceTf32, float>(gpu, y, x, end);
  one<Tile<128, 128, 64, 32, 3>, F16, float16>(gpu, y, x, end);
  one<Tile<128, 64, 32, 32, 3>, F16, float16>(gpu, y, x, end);
  one<Tile<128, 32, 32, 32, 3>, F16, float16>(gpu, y, x, end);
  one<Tile<64, 64, 32, 32, 4>, F16, float16>(gpu, y, x, end);
  one<Tile<32, 64, 32, 16, 4>, F16, float>(gpu, y, x, end);
  one<Tile<128, 128, 64, 32, 3>, Bf16, bfloat16>(gpu, y, x, end);
  one<Tile<128, 64, 32, 32, 3>, Bf16, bfloat16>(gpu, y, x, end);
  one<Tile<128, 32, 32, 32, 3>, Bf16, bfloat16>(gpu, y, x, end);
  one<Tile<64, 64, 32, 32, 4>, Bf16, bfloat16>(gpu, y, x, end);
  one<Tile<32, 64, 32, 16, 4>, Bf16, float>(gpu, y, x, end);
  one<Tile<128, 128, 64, 32, 4>, S8, int8_t>(gpu, y, x, bytes);
  one<Tile<128, 128, 64, 32, 4>, U8S8, uint8_t>(gpu, y, x, bytes);
  one<Tile<128, 32, 32, 32, 3>, U8S8, uint8_t>(gpu, y, x, bytes);
  one<Tile<64, 64, 32, 32, 3>, S8, int8_t>(gpu, y, x, bytes);
  one<Tile<64, 64, 32, 32, 3>, U8S8, uint8_t>(gpu, y, x, bytes);
  one<Tile<32, 64, 32, 16, 4>, S8, int8_t>(gpu, y, x, bytes);
  one<Tile<32, 64, 32, 16, 4>, U8S8, uint8_t>(gpu, y, x, bytes);
  exact<float, float, float>(gpu, y, x, end);
  exact<double, double, double>(gpu, y, x, Epilogue<Keep>{});
  exact<float16, float16, float16>(gpu, y, x, end);
  exact<int8_t, uint8_t, int8_t>(gpu, y, x, bytes);
  return gpu.result();
}

}  // namespace onnxc::test
