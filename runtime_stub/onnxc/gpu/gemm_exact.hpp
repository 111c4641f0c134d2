// Products of matrices by multiply-adds in ascending order of k, with operands at any strides and of any alignment.
//
//   gemm_exact(gpu, y, a, b, {.m = 197, .n = 768, .k = 768, .a_row = 768, .a_k = 1, .b_col = 1, .b_k = 768, .y_stride = 768},
//              Epilogue<AddBias, PerCol<float>>{{bias}});
//
// y[z][row][col] = epilogue(sum over k of a[z][row * a_row + k * a_k] b[z][col * b_col + k * b_k]), z = outer * batch + i. Both
// sides are f64, f32, halves (summed in f32) or integers; of two kinds of integers the left one says what sums are kept in.
// The epilogue sees the rows of all matrices one after the other: z * m + row. y overlaps no operand. Sizes may be 0.
#pragma once
#include "exact_product.hpp"

namespace onnxc::inline ONNXC_ISA::gpu {

/// Strides and steps in elements; a step of 0 repeats a matrix.
struct GemmExactParams {
  int64_t m, n, k;
  int64_t a_row, a_k, b_col, b_k, y_stride;
  int64_t batch = 1, a_batch = 0, b_batch = 0, y_batch = 0;  ///< matrices, and the steps between them
  int64_t outer = 1, a_outer = 0, b_outer = 0, y_outer = 0;  ///< the same around that
};

template <class Y, class A, class B, class Epi = Epilogue<Keep>>
static void gemm_exact(Queue& gpu, Y* y, const A* a, const B* b, const GemmExactParams& p, Epi epilogue = {}) noexcept {
  const detail::ExactSizes size{.m = p.m,
                                .n = p.n,
                                .k = p.k,
                                .y_stride = p.y_stride,
                                .inner = p.batch,
                                .a_inner = p.a_batch,
                                .a_outer = p.a_outer,
                                .b_inner = p.b_batch,
                                .b_outer = p.b_outer,
                                .y_inner = p.y_batch,
                                .y_outer = p.y_outer,
                                .row_step = p.m,
                                .col_step = 0,
                                .row_tiles = 0,
                                .col_tiles = 0};
  using Kernel = detail::ExactProduct<detail::AnyRows<A>, detail::AnyRows<B>, Y, Epi>;
  detail::launch_exact(gpu, Kernel{y, {a, p.a_row, p.a_k}, {b, p.b_col, p.b_k}, size, 0, epilogue}, p.batch * p.outer);
}

}  // namespace onnxc::gpu
