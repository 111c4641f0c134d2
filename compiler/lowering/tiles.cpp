#include "compiler/lowering/tiles.h"

#include <span>

namespace onnxc {
namespace {

struct Candidate {
  int rows, vectors;
  double efficiency;  ///< of the FMA peak for whole tiles
};

// PERFORMANCE figures: 16-wide tiles on Zen 4 and Sapphire Rapids, 8-wide with 16 registers; 2026-11.
constexpr Candidate kAvx512[] = {{14, 2, 0.98}, {12, 2, 0.97}, {8, 3, 0.98}, {9, 3, 0.97}, {6, 4, 0.97}, {7, 4, 0.97}, {14, 1, 0.88},
                                 {1, 4, 0.5},   {2, 4, 0.75},  {3, 4, 0.85}, {4, 4, 0.9},  {5, 4, 0.93}};
constexpr Candidate kAvx2[] = {{6, 2, 0.97}, {4, 3, 0.96}, {8, 1, 0.75}, {1, 4, 0.5}, {2, 4, 0.7}, {3, 3, 0.85}};
constexpr Candidate kNarrow[] = {{6, 2, 0.95}, {4, 3, 0.94}, {8, 1, 0.75}, {1, 4, 0.5}, {2, 4, 0.7}};

}  // namespace

Tile choose_tile(const Target& target, Dim m, int64_t n) {
  std::span<const Candidate> list = kNarrow;
  if (target.isa == Isa::Avx512) list = kAvx512;
  if (target.isa == Isa::Avx2) list = kAvx2;
  constexpr int64_t kLarge = 14 * 12 * 9 * 8;  // whole tiles of all kinds
  const int64_t rows = m.is_constant() ? (m.value() < 1 ? 1 : m.value()) : kLarge;
  const Candidate* best = nullptr;
  double least = 0;
  for (const Candidate& c : list) {
    // Rows beyond the last whole tile take a half tile or a whole one.
    const int64_t half = (c.rows + 1) / 2, rest = rows % c.rows;
    const int64_t done = rows - rest + (rest == 0 ? 0 : rest <= half && c.rows > 3 ? half : c.rows);
    const int64_t nr = static_cast<int64_t>(c.vectors) * target.vector_floats, columns = (n + nr - 1) / nr * nr;
    const double work = static_cast<double>(done) * static_cast<double>(columns) / c.efficiency;
    if (best == nullptr || work < least) {
      best = &c;
      least = work;
    }
  }
  return {best->rows, best->vectors, best->vectors * target.vector_floats};
}

}  // namespace onnxc
