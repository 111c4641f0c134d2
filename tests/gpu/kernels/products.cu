// Products of matrices in every kind and tile of the catalogue.
#include <onnxc/gpu/gemm.hpp>
#include <onnxc/gpu/gemm_exact.hpp>
#include <onnxc/gpu/pack_rows.hpp>

#include "tests/gpu/kernels/ends.hpp"

namespace onnxc::test {

using namespace onnxc::gpu;

template <class Y, class A, class B, class Epilogue>
static void exact(Queue& gpu, void* y, const void* x, Epilogue epilogue) {
  gemm_exact(gpu, static_cast<Y*>(y), static_cast<const A*>(x), static_cast<const B*>(x), GemmExactParams{}, epilogue);
}
template <class Tile, class Kind, class Y, class Epilogue>
static void one(Queue& gpu, void* y, const void* x, Epilogue epilogue) {
  using A = typename gpu::detail::KindOf<Kind>::Left;
  using B = typename gpu::detail::KindOf<Kind>::Right;
  gemm<Tile, Kind>(gpu, static_cast<Y*>(y), static_cast<const A*>(x), static_cast<const B*>(x), GemmParams{}, epilogue);
}

Status products(Queue& gpu, void* y, const void* x, const float* f) noexcept {
  const Epilogue<AddRelu, PerCol<float>> end{{f}};
  const Epilogue<Requantize, PerCol<float>> bytes{{f}};
  one<Tile<128, 128, 32, 64, 3>, ThreeTf32, float>(gpu, y, x, end);
  one<Tile<64, 64, 32, 32, 3>, ThreeTf32, float>(gpu, y, x, end);
  one<Tile<32, 64, 32, 16, 4>, ThreeTf32, float>(gpu, y, x, end);
  one<Tile<128, 32, 32, 32, 3>, ThreeTf32, float>(gpu, y, x, end);
  one<Tile<128, 128, 64, 32, 4>, OnceTf32, float>(gpu, y, x, end);
  one<Tile<64, 64, 32, 32, 3>, OnceTf32, float>(gpu, y, x, end);
  one<Tile<32, 64, 32, 16, 4>, OnceTf32, float>(gpu, y, x, end);
  one<Tile<128, 256, 64, 64, 3>, F16, float16>(gpu, y, x, end);
  one<Tile<128, 128, 64, 64, 3>, F16, float16>(gpu, y, x, end);
  one<Tile<128, 64, 32, 32, 3>, F16, float16>(gpu, y, x, end);
  one<Tile<128, 32, 32, 32, 3>, F16, float16>(gpu, y, x, end);
  one<Tile<64, 64, 32, 32, 4>, F16, float16>(gpu, y, x, end);
  one<Tile<32, 64, 32, 16, 4>, F16, float>(gpu, y, x, end);
  one<Tile<128, 256, 64, 64, 3>, Bf16, bfloat16>(gpu, y, x, end);
  one<Tile<128, 128, 64, 64, 3>, Bf16, bfloat16>(gpu, y, x, end);
  one<Tile<128, 64, 32, 32, 3>, Bf16, bfloat16>(gpu, y, x, end);
  one<Tile<128, 32, 32, 32, 3>, Bf16, bfloat16>(gpu, y, x, end);
  one<Tile<64, 64, 32, 32, 4>, Bf16, bfloat16>(gpu, y, x, end);
  one<Tile<32, 64, 32, 16, 4>, Bf16, float>(gpu, y, x, end);
  one<Tile<128, 128, 64, 32, 4>, S8, int8_t>(gpu, y, x, bytes);
  one<Tile<128, 128, 64, 32, 4>, U8S8, uint8_t>(gpu, y, x, bytes);
  one<Tile<128, 32, 32, 32, 3>, U8S8, uint8_t>(gpu, y, x, bytes);
  one<Tile<64, 64, 32, 32, 3>, S8, int8_t>(gpu, y, x, bytes);
  one<Tile<64, 64, 32, 32, 3>, U8S8, uint8_t>(gpu, y, x, bytes);
  one<Tile<64, 64, 32, 32, 3>, U8, float>(gpu, y, x, Epilogue<Keep>{});
  one<Tile<64, 64, 32, 32, 3>, S8U8, int32_t>(gpu, y, x, Epilogue<Keep>{});
  one<Tile<32, 64, 32, 16, 4>, U8S8, uint8_t>(gpu, y, x, bytes);
  exact<float, float, float>(gpu, y, x, end);
  exact<double, double, double>(gpu, y, x, Epilogue<Keep>{});
  exact<float16, float16, float16>(gpu, y, x, end);
  exact<bfloat16, bfloat16, bfloat16>(gpu, y, x, end);
  exact<int32_t, int32_t, int32_t>(gpu, y, x, Epilogue<Keep>{});
  exact<int64_t, int64_t, int64_t>(gpu, y, x, Epilogue<Keep>{});
  exact<int32_t, uint8_t, int8_t>(gpu, y, x, Epilogue<Keep>{});
  pack_rows(gpu, static_cast<float*>(y), static_cast<const float*>(x), PackRowsParams{});
  pack_rows(gpu, static_cast<uint16_t*>(y), static_cast<const uint16_t*>(x), PackRowsParams{});
  pack_rows(gpu, static_cast<uint8_t*>(y), static_cast<const uint8_t*>(x), PackRowsParams{});
  return gpu.result();
}

}  // namespace onnxc::test
