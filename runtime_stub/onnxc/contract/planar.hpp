// Convolutions whose vectors run along the rows of a planar image (conv_planar.hpp): the copy of what a band of outputs
// reads.
#pragma once
#include "sizes.hpp"

namespace onnxc::inline ONNXC_ISA::contract {

/// Rows of outputs for which the image is copied at a time.
inline constexpr int64_t kPlanarBand = 16;

/// What the copy depends on. Kernels pass their own parameters in its place, whose members have the same names.
struct PlanarShape {
  int64_t cin, oh, ow, kh, kw, stride_y, dilation_y, dilation_x;
};

/// A row of outputs, in whole tiles of nr.
constexpr int64_t planar_width(int64_t ow, int64_t nr) { return round_up(ow, nr); }
/// Floats from one row of the copy to the next.
template <class Shape>
constexpr int64_t planar_pitch(const Shape& s, int64_t nr) {
  return planar_width(s.ow, nr) + (s.kw - 1) * s.dilation_x;
}
/// Rows of the copy under `rows` rows of outputs.
template <class Shape>
constexpr int64_t planar_rows(const Shape& s, int64_t rows) {
  return inputs_under(rows, s.stride_y, s.kh, s.dilation_y);
}
/// Floats from one channel of the copy to the next.
template <class Shape>
constexpr int64_t planar_plane(const Shape& s, int64_t nr) {
  return planar_rows(s, min(s.oh, kPlanarBand)) * planar_pitch(s, nr);
}
/// Scratch of a share. The vectors that fill a row go up to one vector beyond it.
template <class Shape>
constexpr int64_t planar_scratch(const Shape& s, int64_t nr, int64_t lanes) {
  return s.cin * planar_plane(s, nr) + lanes;
}

}  // namespace onnxc::contract
