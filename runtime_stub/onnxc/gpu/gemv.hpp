// Products of few rows, which are bound by reading the right side: weights of f32 or halves, whatever the left side is.
//
//   gemv<1>(gpu, y, a, b, {.m = 1, .n = 768, .k = 768, .a_stride = 768, .b_stride = 768, .y_stride = 768},
//           Epilogue<AddBias, PerCol<float>>{{bias}});
//
// As `gemm` (gemm.hpp), for p.m <= kRows, which is 1, 2, 4 or 8, in f32 by multiply-adds: rows of both sides begin at multiples
// of 16 bytes and end in zeros. p.splits is 1.
//
// A block has four columns. Its threads read 16 bytes of each at a time, and their sums are added in a fixed order: of N sums
// in each lane of a warp, lanes first exchange halves of them, then quarters, so that each lane adds up one in the end.
#pragma once
#include "gemm.hpp"

namespace onnxc::inline ONNXC_ISA::gpu {
namespace detail {

/// The sum over the lanes of value [lane / (32 / N)], for a power of two N. Lanes that differ in `kMask` come together first.
template <int N, int kMask = 16>
ONNXC_DEVICE float add_lanes(const float (&values)[N]) {
  if constexpr (N > 1) {
    const bool upper = (lane() & kMask) != 0;
    float half[N / 2];
    ONNXC_UNROLL_DEVICE
    for (int i = 0; i < N / 2; ++i) {
      const float mine = upper ? values[i + N / 2] : values[i], other = upper ? values[i] : values[i + N / 2];
      half[i] = mine + shuffle_xor(other, kMask);
    }
    return add_lanes<N / 2, kMask / 2>(half);
  } else if constexpr (kMask > 0) {
    const float sum[1] = {values[0] + shuffle_xor(values[0], kMask)};
    return add_lanes<1, kMask / 2>(sum);
  } else {
    return values[0];
  }
}

template <int kRows, class Y, class A, class B, class Epilogue>
struct FewRows {
  static constexpr int kThreads = 128, kWarps = kThreads / 32, kCols = 4, kSums = kRows * kCols;
  static constexpr int kAtOnce = 16 / (sizeof(A) < sizeof(B) ? sizeof(A) : sizeof(B));  // elements of k
  struct Shared {
    float sums[kWarps][kSums];
  };
  Y* y;
  const A* a;
  const B* b;
  GemmParams p;
  int64_t groups;  // of columns
  Epilogue epilogue;

  ONNXC_DEVICE void operator()(Shared& shared) const {
    const int64_t z = block().x / groups, outer = z / p.batch, inner = z - outer * p.batch, first_col = (block().x - z * groups) * kCols;
    const A* const left = a + inner * p.a_batch + outer * p.a_outer;
    const B* const right = b + inner * p.b_batch + outer * p.b_outer + first_col * p.b_stride;
    float sums[kSums] = {};
    for (int64_t k = thread() * kAtOnce; k < p.k; k += kThreads * kAtOnce) {
      float cols[kCols][kAtOnce];
      ONNXC_UNROLL_DEVICE
      for (int j = 0; j < kCols; ++j) read(cols[j], right + j * p.b_stride, k, first_col + j < p.n);
      ONNXC_UNROLL_DEVICE
      for (int i = 0; i < kRows; ++i) {
        float row[kAtOnce];
        read(row, left + i * p.a_stride, k, i < p.m);
        ONNXC_UNROLL_DEVICE
        for (int j = 0; j < kCols; ++j) {
          ONNXC_UNROLL_DEVICE
          for (int e = 0; e < kAtOnce; ++e) sums[i * kCols + j] = fmaf(row[e], cols[j][e], sums[i * kCols + j]);
        }
      }
    }
    const float sum = add_lanes(sums);
    constexpr int kLanes = 32 / kSums;
    if (lane() % kLanes == 0) shared.sums[warp()][lane() / kLanes] = sum;
    sync_block();
    const int row = thread() / kCols;
    const int64_t col = first_col + thread() % kCols;
    if (thread() >= kSums || row >= p.m || col >= p.n) return;
    float total = shared.sums[0][thread()];
    ONNXC_UNROLL_DEVICE
    for (int w = 1; w < kWarps; ++w) total += shared.sums[w][thread()];
    y[inner * p.y_batch + outer * p.y_outer + row * p.y_stride + col] =
        static_cast<Y>(epilogue(Scalar{}, total, [&](const auto& form) { return *form.at(z * p.m + row, col); }));
  }

 private:
  /// kAtOnce elements of a row from k on, zeros beyond its end or where it is not there.
  template <class T>
  ONNXC_DEVICE void read(float (&to)[kAtOnce], const T* row, int64_t k, bool valid) const {
    constexpr int kPack = 16 / sizeof(T);
    ONNXC_UNROLL_DEVICE
    for (int first = 0; first < kAtOnce; first += kPack) {
      Pack<T> from{};
      if (valid && k + first < p.k) from = load(row + k + first);
      ONNXC_UNROLL_DEVICE
      for (int e = 0; e < kPack && first + e < kAtOnce; ++e) to[first + e] = static_cast<float>(from.at[e]);
    }
  }
};

}  // namespace detail

template <int kRows, class Y, class A, class B, class Epi = Epilogue<Keep>>
static void gemv(Queue& gpu, Y* y, const A* a, const B* b, const GemmParams& p, Epi epilogue = {}) noexcept {
  using Kernel = detail::FewRows<kRows, Y, A, B, Epi>;
  const int64_t groups = ceil_div(p.n, Kernel::kCols), blocks = p.m <= 0 ? 0 : groups * p.batch * p.outer;
  if (blocks >= int64_t{1} << 31) return gpu.call([](Stream) { return Status{ONNXC_DEVICE_FAILED, "a product of too many columns"}; });
  launch(gpu, Kernel{y, a, b, p, groups, epilogue}, {static_cast<int>(blocks), 1, 1});
}

}  // namespace onnxc::gpu
