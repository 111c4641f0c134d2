// Kernels that move or combine values, as units use them: what nvcc makes of each is checked by kernels.sh.
#include <onnxc/gpu/copy_strided.hpp>
#include <onnxc/gpu/gather.hpp>
#include <onnxc/gpu/map.hpp>
#include <onnxc/gpu/norm.hpp>
#include <onnxc/gpu/pool.hpp>
#include <onnxc/gpu/pool_bytes.hpp>
#include <onnxc/gpu/reduce.hpp>
#include <onnxc/gpu/scatter.hpp>
#include <onnxc/gpu/softmax.hpp>
#include <onnxc/gpu/sum_bytes.hpp>

namespace {

struct AddTanh {
  template <class L, class A, class B>
  static ONNXC_BOTH auto apply(L, A a, B b) {
    return onnxc::fn::tanh(onnxc::fn::add(a, b));
  }
};

struct AddByte {
  template <class L, class A, class B>
  static ONNXC_BOTH auto apply(L, A a, B b) {
    return static_cast<uint8_t>(a + b);
  }
};

using namespace onnxc;

}  // namespace

void rows(gpu::Queue& queue, float* y, const float* x, signed char* bytes, const signed char* from_bytes, const int64_t* indices,
          const int32_t* short_indices, unsigned* owners) {
  gpu::gather(queue, Tensor<float>{y, {4, 8}}, Tensor<const float>{x, {9, 8}}, Tensor<const int64_t>{indices, {4}}, {});
  gpu::gather(queue, Tensor<signed char>{bytes, {4, 8}}, Tensor<const signed char>{from_bytes, {9, 8}},
              Tensor<const int32_t>{short_indices, {4}}, {});
  gpu::gather_nd(queue, Tensor<float>{y, {4, 8}}, Tensor<const float>{x, {9, 8}}, Tensor<const int64_t>{indices, {4, 1}}, 0);
  gpu::gather_elements(queue, Tensor<float>{y, {4, 8}}, Tensor<const float>{x, {9, 8}}, Tensor<const int64_t>{indices, {4, 8}}, 0);
  gpu::map<AddTanh>(queue, {12, 768}, onnxc::Stream{y, {768}}, onnxc::Stream{x, {768}}, Fixed{x, {0}});
  gpu::scatter_nd(queue, Tensor<float>{y, {9, 8}}, Tensor<const float>{x, {9, 8}}, Tensor<const int64_t>{indices, {4, 1}},
                  Tensor<const float>{x, {4, 8}}, owners);
  gpu::scatter_elements(queue, Tensor<float>{y, {9, 8}}, Tensor<const float>{x, {9, 8}}, Tensor<const int32_t>{short_indices, {4, 8}},
                        Tensor<const float>{x, {4, 8}}, 0, owners);
  gpu::copy_strided(queue, {3, 4}, y, {4, 1}, x, {1, 3});
  gpu::copy_strided(queue, {3, 4}, bytes, {4, 1}, from_bytes, {1, 3});
  gpu::softmax_in_warp<8, false>(queue, x, y, {.rows = 1, .n = 1, .x_row = 1, .y_row = 1});
  gpu::softmax_in_block<true>(queue, x, y, {.rows = 1, .n = 1, .x_row = 1, .y_row = 1});
  gpu::norm<true>(queue, x, y, {.rows = 1, .n = 1, .x_row = 1, .y_row = 1});
  gpu::norm<false>(queue, x, y, {.rows = 1, .n = 1, .x_row = 1, .y_row = 1});
  gpu::reduce_last<scalar::Sum, scalar::Square>(queue, x, y, {.r = 1, .x_row = 1});
  gpu::reduce_middle<scalar::Max, scalar::Same>(queue, x, y, {.r = 1, .x_row = 1});
  const auto* const codes = reinterpret_cast<const uint8_t*>(from_bytes);
  gpu::sum_bytes_last(queue, codes, y, {.r = 1, .x_row = 1});
  gpu::sum_bytes_middle(queue, codes, reinterpret_cast<uint8_t*>(bytes), {.r = 1, .x_row = 1},
                        Epilogue<AddByte, PerCol<int32_t>>{{short_indices}});
  gpu::max_pool(queue, x, y, {.c = 1});
  gpu::max_pool_bytes(queue, from_bytes, bytes, {.c = 1});
  gpu::average_pool(queue, x, y, {.c = 1}, Epilogue<AddTanh, PerCol<float>>{{x}});
}
