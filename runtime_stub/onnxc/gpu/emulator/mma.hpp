// Products of matrices by a warp: a whole tile at once, in double or modulo 2^32, by the lane that comes last. Sums of
// floats are cut, not rounded, as the accumulators of tensor cores are.
#pragma once
#if !defined(__CUDACC__)
#include <bit>

#include "../../types.hpp"
#include "warp.hpp"

namespace onnxc::inline ONNXC_ISA::gpu {
namespace emulator {

inline void decode(Tf32, uint32_t word, float* to) { *to = std::bit_cast<float>(word & 0xFFFFE000u); }
inline void decode(Bf16, uint32_t word, float* to) {
  to[0] = std::bit_cast<float>(word << 16);
  to[1] = std::bit_cast<float>(word & 0xFFFF0000u);
}
inline void decode(F16, uint32_t word, float* to) {
  for (int i = 0; i < 2; ++i) to[i] = static_cast<float>(float16::from_bits(static_cast<uint16_t>(word >> (16 * i))));
}
template <bool kSigned>
void decode_bytes(uint32_t word, int32_t* to) {
  for (int i = 0; i < 4; ++i) {
    const auto byte = static_cast<uint8_t>(word >> (8 * i));
    to[i] = kSigned ? static_cast<int8_t>(byte) : byte;
  }
}
/// A word of the left side, and of the right side.
template <class Kind>
void decode_left(Kind kind, uint32_t word, typename Kind::Sum* to) {
  if constexpr (Kind::kValues == 4) decode_bytes<Kind::kLeftSigned>(word, to);
  else decode(kind, word, to);
}
template <class Kind>
void decode_right(Kind kind, uint32_t word, typename Kind::Sum* to) {
  if constexpr (Kind::kValues == 4) decode_bytes<Kind::kRightSigned>(word, to);
  else decode(kind, word, to);
}
/// Toward zero.
inline float cut(double sum) {
  return static_cast<float>(std::bit_cast<double>(std::bit_cast<uint64_t>(sum) & ~((uint64_t{1} << 29) - 1)));
}
inline int32_t cut(uint32_t sum) { return static_cast<int32_t>(sum); }

}  // namespace emulator

/// Lane 4g + t has words t and t + 4 of rows g and g + 8 of a (a[0]: g, t; a[1]: g + 8, t; a[2]: g, t + 4; a[3]), words t
/// and t + 4 of column g of b, and columns 2t and 2t + 1 of rows g (c[0], c[1]) and g + 8 of c.
template <class Kind, int M, int N>
void mma(typename Kind::Sum (&c)[M][N][4], const uint32_t (&a)[M][4], const uint32_t (&b)[N][2] ONNXC_CALLER) {
  using Sum = typename Kind::Sum;
  struct Operand {
    Sum (&c)[M][N][4];
    const uint32_t (&a)[M][4], (&b)[N][2];
  } mine{c, a, b};
  emulator::together(&mine,
                     [](void* const* all) {
                       using Wide = std::conditional_t<std::is_same_v<Sum, float>, double, uint32_t>;
                       constexpr int V = Kind::kValues, K = 8 * V;
                       alignas(64) Wide rows[16 * M][K], columns[K][8 * N], sums[16 * M][8 * N];
                       for (int l = 0; l < 32; ++l) {
                         const auto& [cl, al, bl] = *static_cast<const Operand*>(all[l]);
                         const int g = l / 4, t = l % 4;
                         Sum values[V];
                         for (int i = 0; i < M; ++i) {
                           for (int r = 0; r < 4; ++r) {
                             emulator::decode_left(Kind{}, al[i][r], values);
                             for (int v = 0; v < V; ++v)
                               rows[16 * i + g + r % 2 * 8][(t + r / 2 * 4) * V + v] = static_cast<Wide>(values[v]);
                           }
                         }
                         for (int j = 0; j < N; ++j) {
                           for (int r = 0; r < 2; ++r) {
                             emulator::decode_right(Kind{}, bl[j][r], values);
                             for (int v = 0; v < V; ++v) columns[(t + r * 4) * V + v][8 * j + g] = static_cast<Wide>(values[v]);
                           }
                         }
                         for (int i = 0; i < M; ++i) {
                           for (int j = 0; j < N; ++j) {
                             for (int r = 0; r < 4; ++r)
                               sums[16 * i + g + r / 2 * 8][8 * j + 2 * t + r % 2] = static_cast<Wide>(cl[i][j][r]);
                           }
                         }
                       }
                       for (int i = 0; i < 16 * M; ++i) {
                         for (int k = 0; k < K; ++k) {
                           const Wide x = rows[i][k];
                           for (int j = 0; j < 8 * N; ++j) sums[i][j] += x * columns[k][j];
                         }
                       }
                       for (int l = 0; l < 32; ++l) {
                         auto& cl = static_cast<Operand*>(all[l])->c;
                         const int g = l / 4, t = l % 4;
                         for (int i = 0; i < M; ++i) {
                           for (int j = 0; j < N; ++j) {
                             for (int r = 0; r < 4; ++r) cl[i][j][r] = emulator::cut(sums[16 * i + g + r / 2 * 8][8 * j + 2 * t + r % 2]);
                           }
                         }
                       }
                     },
                     {file, line});
}

}  // namespace onnxc::gpu
#endif
