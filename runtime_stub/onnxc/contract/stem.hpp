// The first convolution of a network: the copies of conv_stem.hpp, and the transformed rows of stem_winograd.hpp.
#pragma once
#include "sizes.hpp"

namespace onnxc::inline ONNXC_ISA::contract {

/// Floats that conv_stem may copy for a tile.
inline constexpr int64_t kStemFloats = 4096;

/// Floats from one copied row to the next, for rows of `columns` columns of the image.
constexpr int64_t stem_pitch(int64_t columns) { return round_up(columns, 16); }
/// Floats of the copied rows under a tile; kStemFloats at most.
constexpr int64_t stem_floats(int64_t cin, int64_t kh, int64_t columns) { return cin * kh * stem_pitch(columns); }

/// Floats that are copied at a time where the stack has no room for more: for the tiles at the two sides of a row.
constexpr int64_t stem_room(int64_t cin, int64_t kh, int64_t columns) { return 2 * stem_floats(cin, kh, columns); }
/// The memory for them: what is stored last may be a whole vector.
constexpr int64_t stem_scratch(int64_t cin, int64_t kh, int64_t columns) { return stem_room(cin, kh, columns) + 16; }

/// Whether one of the pieces of `taps` taps begins with this tap. Taps of a piece are `stride` apart, so `stride`
/// pieces lie interlaced.
constexpr bool stem_piece_begins(int64_t tap, int64_t taps, int64_t stride) { return tap % (taps * stride) < stride; }
/// Pieces of a kernel of kh rows.
constexpr int64_t stem_pieces(int64_t kh, int64_t taps, int64_t stride) {
  return kh / (taps * stride) * stride + min(kh % (taps * stride), stride);
}

/// Floats before column 0 of a transformed row.
constexpr int64_t stem_lead(int64_t pad_left) { return round_up(pad_left, 16); }

/// Floats from one transformed row to the next: what is written, or what tiles of `pixels` pixels read. It is never a
/// multiple of a page, since rows would then share sets of L1. N is int64_t, or the compiler's type for extents that
/// are known only at run time.
template <class N>
constexpr N stem_winograd_pitch(N w, N ow, int64_t kw, int64_t stride_x, int64_t pad_left, int64_t pixels) {
  const int64_t lead = stem_lead(pad_left);
  const N read = (round_up(ow, pixels) - 1) * stride_x + (kw + lead - pad_left), written = round_up(w, 16) + lead;
  return round_up(max(read, written), 32) + 16;
}

/// Transformed rows of that pitch in the scratch of a share.
constexpr int64_t stem_winograd_rows(int64_t pieces, int64_t cin, int64_t points) { return pieces * cin * points; }

}  // namespace onnxc::contract
