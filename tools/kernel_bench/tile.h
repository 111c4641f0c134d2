// The register tiles that the compiler chooses for large products on this machine; targets/machines/ has all of them.
#pragma once
#include <onnxc/vec.hpp>

namespace onnxc::inline ONNXC_ISA::bench {

struct RegisterTile {
  int mr, nv, nr;
};
constexpr RegisterTile tile_of(int mr, int nv) { return {mr, nv, nv * Vec::width}; }
inline constexpr RegisterTile kTile = Vec::width == 16 ? tile_of(14, 2) : tile_of(6, 2);
inline constexpr RegisterTile kWinogradTile = Vec::width == 16 ? tile_of(7, 4) : tile_of(6, 2);

constexpr int64_t padded_to(int64_t n, int64_t multiple) { return (n + multiple - 1) / multiple * multiple; }

}  // namespace onnxc::inline ONNXC_ISA::bench
