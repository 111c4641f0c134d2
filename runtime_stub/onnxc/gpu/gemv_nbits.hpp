// Products with weights of 8, 4 or 2 bits in blocks, which are bound by reading the weights: com.microsoft's MatMulNBits.
//
//   gemv_nbits<4, 1>(gpu, y, a, w, scales, nullptr, {.m = 1, .n = 4096, .k = 4096, .block = 32}, Epilogue<AddRelu, PerCol<float>>{{bias}});
//
// Operands lie as for scalar::matmul_nbits (../scalar/matmul_nbits.hpp), without a bias, which an epilogue adds; w begins at a multiple of 16
// bytes. Any m: weights are read once for each kMostRows rows, which is 1, 2, 4 or 8. Fewer rows take a kernel for fewer. Each weight is
// rounded as there, and products of a and weights are summed in f32, in another order that does not depend on time.
//
// A block has four columns. A thread reads the codes of 16 weights at a time, or of 8, which belong to one block of scales. A code becomes a float as
// the lowest bits of 2^23, since conversions of integers are slow. Sums are added as in gemv.hpp.
#pragma once
#include <bit>

#include "../scalar/matmul_nbits.hpp"
#include "finish.hpp"
#include "gemv.hpp"

namespace onnxc::inline ONNXC_ISA::gpu {
namespace detail {

/// The codes of 8 or 16 weights, in the order of their bits.
template <int kBits, int kCount>
struct alignas(kCount* kBits / 8) Codes {
  using Word = std::conditional_t < kCount* kBits<32, uint16_t, uint32_t>;
  static constexpr int kPerWord = 8 * sizeof(Word) / kBits;
  Word words[kCount / kPerWord];
  ONNXC_DEVICE uint32_t at(int i) const { return static_cast<uint32_t>(words[i / kPerWord]) >> i % kPerWord * kBits & ((1u << kBits) - 1); }
};

template <int kBits, int kRows, class Zeros, class Epilogue>
struct FewRowsOfBits {
  static constexpr int kThreads = 128, kWarps = kThreads / 32, kCols = 4, kSums = kRows * kCols, kPack = 4;
  static constexpr int kAtOnce = kRows > 4 ? 8 : 16;  // with more, registers would be spilled
  using Codes = detail::Codes<kBits, kAtOnce>;
  struct Shared {
    float sums[kWarps][kSums];
  };
  float* y;
  const float* a;
  const uint8_t* w;
  const float* scales;
  Zeros zeros;
  scalar::MatMulNBitsParams p;
  uint32_t groups, blocks_of_column, zeros_of_column;  // groups of columns; bytes of zero points
  int log_block;
  bool by_packs;  // rows of a can be read by 16 bytes
  Epilogue epilogue;

  /// What makes weights of a block's codes. The zero point is subtracted from 2^23 + code: after 2^23, or together with it where it is an
  /// integer, which is exact as well.
  struct Dequantise {
    static constexpr float kShift = 8388608.0f;  // 2^23
    static constexpr bool kIsFloat = std::is_same_v<std::remove_cv_t<std::remove_pointer_t<Zeros>>, float>;
    float zero = 0, scale = 0;

    Dequantise() = default;
    ONNXC_DEVICE Dequantise(const FewRowsOfBits& of, uint32_t column, uint32_t number)
        : scale(of.scales[column * of.blocks_of_column + number]) {
      if constexpr (std::is_same_v<Zeros, std::nullptr_t>) zero = 1 << (kBits - 1);
      else if constexpr (kIsFloat) zero = of.zeros[column * of.blocks_of_column + number];
      else zero = static_cast<float>(code_in(of.zeros + column * of.zeros_of_column, number));
    }
    ONNXC_DEVICE float weight(uint32_t code) const {
      const float shifted = std::bit_cast<float>(0x4b000000u | code);
      if constexpr (kIsFloat) return ((shifted - kShift) - zero) * scale;
      else return (shifted - (kShift + zero)) * scale;
    }
  };

  ONNXC_DEVICE void operator()(Shared& shared) const {
    const uint32_t number = static_cast<uint32_t>(block().x), of_rows = number / groups, first_col = (number - of_rows * groups) * kCols,
                   first_row = of_rows * kRows, length = static_cast<uint32_t>(p.k), whole = by_packs ? length / kAtOnce * kAtOnce : 0;
    float sums[kSums] = {};
    uint32_t k = static_cast<uint32_t>(thread()) * kAtOnce;
    for (; k < whole; k += kThreads * kAtOnce) add_whole(sums, first_row, first_col, k);
    for (; k < length; k += kThreads * kAtOnce) add_some(sums, first_row, first_col, k);
    const float sum = add_lanes(sums);
    constexpr int kLanes = 32 / kSums;
    if (lane() % kLanes == 0) shared.sums[warp()][lane() / kLanes] = sum;
    sync_block();
    const int64_t row = first_row + thread() / kCols, col = first_col + thread() % kCols;
    if (thread() >= kSums || row >= p.m || col >= p.n) return;
    float total = shared.sums[0][thread()];
    ONNXC_UNROLL_DEVICE
    for (int s = 1; s < kWarps; ++s) total += shared.sums[s][thread()];
    y[row * p.n + col] = finished(epilogue, total, row, col);
  }

 private:
  /// What is behind the last row, or column, is the last one again, whose sums nobody stores.
  ONNXC_DEVICE const float* row_at(uint32_t row) const { return a + min_of(row, p.m - 1) * p.k; }
  ONNXC_DEVICE uint32_t column_at(uint32_t column) const { return static_cast<uint32_t>(min_of(column, p.n - 1)); }
  /// The codes of a column from k on, a multiple of kAtOnce.
  ONNXC_DEVICE const Codes* codes_at(uint32_t column, uint32_t k) const {
    constexpr int kLog = kAtOnce == 8 ? 3 : 4;
    return reinterpret_cast<const Codes*>(w) + ((column * blocks_of_column << (log_block - kLog)) + (k >> kLog));
  }
  static ONNXC_DEVICE uint32_t code_in(const uint8_t* bytes, uint32_t i) {
    constexpr uint32_t kPerByte = 8 / kBits;
    return static_cast<uint32_t>(bytes[i / kPerByte]) >> i % kPerByte * kBits & ((1u << kBits) - 1);
  }

  /// Adds the products of kAtOnce values from k on.
  ONNXC_DEVICE void add_whole(float (&sums)[kSums], uint32_t first_row, uint32_t first_col, uint32_t k) const {
    Codes cols[kCols];
    Dequantise of[kCols];
    ONNXC_UNROLL_DEVICE
    for (int j = 0; j < kCols; ++j) {
      const uint32_t col = column_at(first_col + j);
      cols[j] = *codes_at(col, k);
      of[j] = Dequantise(*this, col, k >> log_block);
    }
    ONNXC_UNROLL_DEVICE
    for (int first = 0; first < kAtOnce; first += kPack) {
      Pack<float> rows[kRows];
      ONNXC_UNROLL_DEVICE
      for (int i = 0; i < kRows; ++i) rows[i] = load(row_at(first_row + i) + k + first);
      ONNXC_UNROLL_DEVICE
      for (int j = 0; j < kCols; ++j) {
        ONNXC_UNROLL_DEVICE
        for (int e = 0; e < kPack; ++e) {
          const float weight = of[j].weight(cols[j].at(first + e));
          ONNXC_UNROLL_DEVICE
          for (int i = 0; i < kRows; ++i) sums[i * kCols + j] = fmaf(rows[i].at[e], weight, sums[i * kCols + j]);
        }
      }
    }
  }
  /// The same of what there is before the end of rows, and where rows do not begin at whole accesses.
  ONNXC_DEVICE void add_some(float (&sums)[kSums], uint32_t first_row, uint32_t first_col, uint32_t k) const {
    const uint32_t first = k, end = static_cast<uint32_t>(min_of(int64_t{k} + kAtOnce, p.k));
    ONNXC_KEEP_LOOP
    for (; k < end; ++k) {
      ONNXC_UNROLL_DEVICE
      for (int j = 0; j < kCols; ++j) {
        const uint32_t col = column_at(first_col + j), code = code_in(reinterpret_cast<const uint8_t*>(codes_at(col, first)), k - first);
        const float weight = Dequantise(*this, col, k >> log_block).weight(code);
        ONNXC_UNROLL_DEVICE
        for (int i = 0; i < kRows; ++i) sums[i * kCols + j] = fmaf(row_at(first_row + i)[k], weight, sums[i * kCols + j]);
      }
    }
  }
};

template <int kBits, int kRows, class Zeros, class Epi>
static void few_rows_of_bits(Queue& gpu, float* y, const float* a, const uint8_t* w, const float* scales, Zeros zeros,
                             const scalar::MatMulNBitsParams& p, const Epi& epilogue) noexcept {
  using Kernel = FewRowsOfBits<kBits, kRows, Zeros, Epi>;
  constexpr int64_t kMost = 0x7fffffff;
  const int64_t groups = ceil_div(p.n, Kernel::kCols), blocks = groups * ceil_div(p.m, kRows), of_column = ceil_div(p.k, p.block);
  if (blocks > kMost || p.n * of_column * p.block / Kernel::kAtOnce > kMost || p.k > kMost)
    return gpu.call([](Stream) { return Status{ONNXC_DEVICE_FAILED, "a product of too many weights"}; });
  if (blocks <= 0) return;
  const bool by_packs = p.k % 4 == 0 && reinterpret_cast<std::uintptr_t>(a) % 16 == 0;
  const auto number = [](int64_t n) { return static_cast<uint32_t>(n); };
  launch(gpu,
         Kernel{y, a, w, scales, zeros, p, number(groups), number(of_column), number(ceil_div(of_column * kBits, int64_t{8})),
                std::countr_zero(static_cast<uint64_t>(p.block)), by_packs, epilogue},
         {static_cast<int>(blocks), 1, 1});
}

}  // namespace detail

/// See the head of the file. `zeros`: packed codes, floats or nullptr. p.block is a power of two, 16 or more.
template <int kBits, int kMostRows, class Zeros, class Epi = Epilogue<Keep>>
static void gemv_nbits(Queue& gpu, float* y, const float* a, const uint8_t* w, const float* scales, Zeros zeros,
                       scalar::MatMulNBitsParams p, Epi epilogue = {}) noexcept {
  if constexpr (kMostRows > 1) {
    if (p.m <= kMostRows / 2) return gemv_nbits<kBits, kMostRows / 2>(gpu, y, a, w, scales, zeros, p, epilogue);
  }
  detail::few_rows_of_bits<kBits, kMostRows>(gpu, y, a, w, scales, zeros, p, epilogue);
}

}  // namespace onnxc::gpu
