// Winograd's convolutions: the points of their transforms, how many products and weights they have, and how a block of
// tiles lies in scratch memory. The kernels are winograd.hpp, winograd_stride2.hpp and winograd_line.hpp.
// stem_winograd.hpp has the same points, and a contract of its own.
#pragma once
#include "sizes.hpp"

namespace onnxc::inline ONNXC_ISA::contract {

/// Finite point i of `points`, the last of which is infinity: 0, then p and -p of each pair. winograd_transform.hpp
/// says why those of six differ.
constexpr double winograd_point(int64_t points, int64_t i) {
  constexpr double kOfSix[] = {0, 0.75, -0.75, 1.5, -1.5}, kOfOthers[] = {0, 1, -1, 2, -2, 0.5, -0.5};
  return points == 6 ? kOfSix[i] : kOfOthers[i];
}

/// F(outputs, taps) in one direction. With stride 2 it goes by phases, and taps are 3.
struct WinogradForm {
  int outputs, taps, stride = 1;

  /// Products in a direction.
  constexpr int points() const { return stride == 1 ? outputs + taps - 1 : 2 * outputs + 1; }
  /// Weights in a direction: with stride 2, products by the middle tap share theirs.
  constexpr int kept() const { return stride == 1 ? points() : outputs + 2; }
  /// Pieces into which a kernel of `length` taps is cut, the last one filled with zeros.
  constexpr int64_t pieces(int64_t length) const { return (length + taps - 1) / taps; }
};

/// Floats from one tile of a frequency to the next: its channels in whole vectors of any machine, and 16 more, since
/// rows a power of two apart would share cache sets.
constexpr int64_t winograd_pitch(int64_t channels) { return round_up(channels, 16) + 16; }
/// Where a tile of frequency 0 says whether it is spoilt: the first float behind its channels.
constexpr int64_t winograd_mark(int64_t channels) { return winograd_pitch(channels) - 16; }
/// Floats from one frequency of `floats` floats to the next: an odd number of cache lines, because a transform touches
/// all frequencies at once.
constexpr int64_t winograd_plane(int64_t floats) { return ((floats + 15) / 16 | 1) * 16; }
/// Channels whose untransformed weights, with `taps` taps of a frequency, are transformed at a time, such that the
/// result stays in L2.
constexpr int64_t winograd_depth(int64_t cin, int64_t taps) { return min(cin, max(8, 32 / taps)); }

/// Floats from one frequency to the next in scratch memory: of transformed inputs; behind all of these, of products;
/// behind all of those, of weights that the kernel itself transforms, or 0.
struct WinogradPlanes {
  int64_t inputs, products, weights = 0;
};

/// `block` tiles of `taps` taps of a frequency, [tap][tile][channel], by panels of nr output channels. `untransformed`:
/// the kernel transforms the weights.
constexpr WinogradPlanes winograd_planes(int64_t cin, int64_t taps, int64_t block, int64_t nr, bool untransformed) {
  return {winograd_plane(taps * block * winograd_pitch(cin)), winograd_plane(block * nr),
          untransformed ? winograd_plane(taps * winograd_depth(cin, taps) * nr) : 0};
}

/// Scratch of a share that transforms in both directions.
constexpr int64_t winograd_scratch(const WinogradForm& form, const WinogradPlanes& planes) {
  const int64_t points = form.points(), kept = form.kept();
  return points * points * (planes.inputs + planes.products) + kept * kept * planes.weights;
}

/// Tiles in a line of `outputs` outputs. The outputs of a tile are `dilation` apart.
constexpr int64_t winograd_line_tiles(int64_t outputs_of_tile, int64_t outputs, int64_t dilation) {
  const int64_t longest = (outputs + dilation - 1) / dilation;  // outputs of one phase
  return (longest + outputs_of_tile - 1) / outputs_of_tile * dilation;
}

/// Blocks of `lines` output lines by `width` tiles. `pieces`: of the kernel along a line; `taps` and `dilation`: across the lines.
constexpr WinogradPlanes winograd_line_planes(int64_t cin, int64_t pieces, int64_t taps, int64_t dilation, int64_t lines, int64_t width,
                                              int64_t nr) {
  const int64_t read = inputs_under(lines, 1, taps, dilation);
  return {winograd_plane(pieces * read * width * winograd_pitch(cin)), winograd_plane(lines * width * nr)};
}

/// Scratch of a share that transforms along lines alone.
constexpr int64_t winograd_line_scratch(const WinogradForm& form, const WinogradPlanes& planes) {
  return form.points() * (planes.inputs + planes.products);
}

}  // namespace onnxc::contract
