#include "targets/machine.h"

#include <array>
#include <cstddef>

namespace onnxc::machines {
namespace {

/// A table of tiles in which some tiles are replaced by those of the same shape.
template <std::size_t N, std::size_t M>
constexpr std::array<ProductTile, N> with_tiles(const ProductTile (&all)[N], const ProductTile (&replaced)[M]) {
  std::array<ProductTile, N> tiles{};
  for (std::size_t i = 0; i < N; ++i) {
    tiles[i] = all[i];
    for (const ProductTile& other : replaced) {
      if (other.rows == all[i].rows && other.vectors == all[i].vectors && other.pairs == all[i].pairs) tiles[i] = other;
    }
  }
  return tiles;
}

// Each group builds on the ones above it.
namespace data {
#include "targets/machines/generic.inc"

#include "targets/machines/avx2.inc"

#include "targets/machines/avx512.inc"
#include "targets/machines/helium.inc"
#include "targets/machines/neon.inc"
#include "targets/machines/sapphire_rapids.inc"
#include "targets/machines/scalar.inc"

#include "targets/machines/zen4.inc"
#include "targets/machines/zen5.inc"
}  // namespace data

}  // namespace

// These are copies, since g++ 12 does not always accept a constant that the header declares in the initialiser of the
// next one.
constinit const Machine kGeneric = data::kGeneric, kScalar = data::kScalar, kHelium = data::kHelium, kAvx2 = data::kAvx2,
                        kZen3 = data::kZen3, kNeon = data::kNeon, kAvx512 = data::kAvx512, kSapphireRapids = data::kSapphireRapids,
                        kZen4 = data::kZen4, kZen5 = data::kZen5;

}  // namespace onnxc::machines
