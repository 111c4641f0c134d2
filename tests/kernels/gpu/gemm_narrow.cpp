// Products of halves and of bytes on a GPU against loops in double, in the emulator.
#include "tests/kernels/gpu/gemm_cases.hpp"

using namespace onnxc::gpu;
using namespace onnxc::test;

TEST_CASE("products of halves on a GPU") {
  check_sizes<F16>();
  check_sizes<Bf16>();
}

TEST_CASE("products of bytes on a GPU are exact") {
  check_sizes<S8>();
  check_sizes<U8>();
  check_sizes<U8S8>();
  check_sizes<S8U8>();
}
