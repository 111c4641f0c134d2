// Packing of weights for the kernels that read them. Pure functions: dense arrays in, packed arrays out.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime_stub/onnxc/contract/columns.hpp"

namespace onnxc::pack {

/// A matrix b[k, n] as panels [ceil(n / nr)][k][nr], with zeros in columns beyond n: what gemm, gemv and conv read.
///
///   k = 2, n = 3, nr = 2:   1 2 3        panel 0: 1 2 4 5
///                           4 5 6        panel 1: 3 0 6 0
///
/// `b` is row-major with `ld` elements from one row to the next (0: no gaps). `transposed`: b is stored as [n, k], as
/// Gemm's transB and Linear layers have it.
struct PanelShape {
  int64_t k, n, nr;
  bool transposed = false;
  int64_t ld = 0;
};
std::vector<float> panels(std::span<const float> b, PanelShape shape);

/// Panels of any of these functions in the order of tiles with pairs (tile.hpp). Each two rows become: the whole
/// vectors of the first, those of the second, and one vector that interlaces what is left of both.
///
///   k = 2, nr = 3, lanes = 2:   1 2 3     becomes     1 2 4 5  3 6
///                               4 5 6
///
/// Rows are paired within runs of `run` rows; the last row of an odd run stays as it is. k is even, or a multiple of
/// the run.
std::vector<float> pairs(std::vector<float> panels, int64_t nr, int64_t lanes, int64_t run = 2);

/// b rounded to bfloat16 as gemm_bf16.hpp reads it, [ceil(n / nr)][ceil(k / 2)][nr][2], with zeros beyond n and k: the bits.
///
///   k = 3, n = 1, nr = 2:   1 2 3, each in a row     1 2 0 0   3 0 0 0
std::vector<uint16_t> bf16_pairs(std::span<const float> b, PanelShape shape);

/// The number of floats in the panels.
int64_t panels_size(int64_t k, int64_t n, int64_t nr);

/// b as strassen.hpp reads it, for an even k: sums and differences of its quarters, computed in double, in panels
/// [ceil(n / 2 nr)][7][k / 2][nr].
std::vector<float> strassen(std::span<const float> b, PanelShape shape);

/// b as fast_inner_product.hpp reads it, where nr is the number of lanes. Powers of two bring its values to one
/// magnitude, w'[k, n] = b[k, n] / (d[k] e[n]). The result is panels [ceil(n / nr)][k + 2][nr], whose last two rows
/// are -sum(w0 w1) and e; then d, at most 1 each, and nr zeros. No weight may be NaN or exceed
/// kMostInnerProductWeight.
constexpr float kMostInnerProductWeight = 0x1p60f;
std::vector<float> fast_inner_product(std::span<const float> b, PanelShape shape);

/// Bytes b[k, n] in quads of rows, [ceil(n / nr)][ceil(k / 4)][nr][4], with zeros beyond n and k: what gemm_quads reads.
std::vector<int8_t> quads(std::span<const int8_t> b, PanelShape shape);

/// Weights of 2, 4 or 8 bits in the form of MatMulNBits (runtime_stub/onnxc/scalar/matmul_nbits.hpp), as gemm_nbits.hpp reads them.
struct NBitsWeights {
  int64_t block;                        ///< of a column, which has one scale
  std::span<const uint8_t> codes;       ///< [n][blocks][block * bits / 8]
  std::span<const float> scales;        ///< [n][blocks]
  std::span<const uint8_t> zero_codes;  ///< [n][ceil(blocks * bits / 8)], or empty
  std::span<const float> zeros;         ///< [n][blocks], or empty
};
struct NBitsShape {
  int64_t k, n, bits, nr;
  bool half_scales = false;  ///< scales become float16, which holds them
};
std::vector<std::byte> nbits(const NBitsWeights& weights, NBitsShape shape);
int64_t nbits_size(const NBitsWeights& weights, NBitsShape shape);
/// The length of blocks in that form.
int64_t nbits_block(int64_t block);

/// Values padded with zeros to a multiple of `multiple`: a bias in whole panels.
std::vector<float> padded(std::span<const float> values, int64_t multiple);

/// Convolution weights [cout, cin / group, kh, kw] (ONNX Conv) as [group][ceil(cout_g / nr)][(ky * kw + kx) * cin_g +
/// ci][nr].
///
///   cout 1, cin 2, 1x2, nr 2:   w[0][ci][0][kx] = 10 ci + kx       0 0   10 0   1 0   11 0
///                                                                  kx=0         kx=1
struct ConvShape {
  int64_t cout, cin, kh, kw;  // cin of one group
  int64_t group = 1, nr = 16;
};
std::vector<float> conv(std::span<const float> w, ConvShape shape);
/// The same weights in quads of channels, [group][ceil(cout_g / nr)][(ky * kw + kx) * ceil(cin_g / 4) + ci / 4][nr][ci % 4]: what conv_quads reads.
std::vector<int8_t> conv_quads(std::span<const int8_t> w, ConvShape shape);
/// The same weights of one group in quads along rows of the kernel, [ceil(cout / nr)][(ci * kh + ky) * ceil(kw / 4) + kx / 4][nr][kx % 4]: what
/// conv_quads_planar reads.
std::vector<int8_t> planar_quads(std::span<const int8_t> w, ConvShape shape);
/// Depthwise weights [c, 1, kh, kw] as depthwise_bytes reads them: [ceil(c / lanes)][ceil(kh / 4)][kw][rows][lanes][4]. The last axis runs down a column
/// of the kernel, which lies stride_y rows lower for each of `rows`. All else is zero.
///
///   kh = 3, rows = 2, stride_y = 1:   w0 w1 w2 0    0 w0 w1 w2
struct DepthwiseQuads {
  int64_t c, kh, kw, rows, stride_y, lanes;
};
std::vector<int8_t> depthwise_quads(std::span<const int8_t> w, DepthwiseQuads shape);
/// Weights [cout, cin, kh, kw] as conv_columns reads them, in the order of a machine: [group][ceil(cout_g / 4)][k][4], where k runs as the windows' columns do
/// (contract::window_runs). `cin` of one group. `transposed`: [cin, cout], of a product of matrices.
struct ColumnShape {
  contract::ColumnForm form = contract::kPlainColumns;
  int64_t cout, cin, kh = 1, kw = 1, group = 1;
  bool joined = true, transposed = false;
};
std::vector<int8_t> columns(std::span<const int8_t> w, const ColumnShape& shape);
/// Whether two neighbouring outputs fit numbers of 16 bits, as the form of DspColumns needs it.
bool fits_pairs(std::span<const int8_t> w, const ColumnShape& shape);
/// Where its sums begin, [group][4 ceil(cout_g / 4)]: `start`, which may be empty, and what the form adds to it.
std::vector<int32_t> column_start(std::span<const int32_t> start, std::span<const int8_t> w, const ColumnShape& shape);
/// Depthwise weights [c, 1, kh, kw] as depthwise_columns reads them: [ceil(c / channels)][taps][channels].
std::vector<int8_t> depthwise_columns(std::span<const int8_t> w, const contract::ColumnForm& form, int64_t c, int64_t taps);
std::vector<int32_t> depthwise_start(std::span<const int32_t> start, const contract::ColumnForm& form, int64_t c);
/// The number of floats in the panels.
int64_t conv_size(ConvShape shape);

/// The bias of a grouped convolution: the values of each group padded to whole panels.
std::vector<float> conv_bias(std::span<const float> bias, ConvShape shape);

/// The same panels with k running as (ci * kh + ky) * kw + kx. conv_stem reads planar images so, and Winograd's
/// kernels read weights so that they transform themselves.
std::vector<float> conv_stem(std::span<const float> w, ConvShape shape);

/// Weights of a transposed convolution [cin, cout / group, kh, kw] (ONNX ConvTranspose) in the panels of `conv`.
/// shape.cin counts the channels of one group.
std::vector<float> conv_transpose(std::span<const float> w, ConvShape shape);

/// Weights [cout, cin, R, R] transformed for Winograd's F(outputs, R): u = G w G^T, computed in double and rounded
/// once, as [ceil(cout / nr)][A * A][cin][nr] with A = outputs + R - 1, which must be 4, 6 or 8. They have A^2 / R^2
/// times the size of w. For volumes, w is [cout, cin, kd, R, R], shape.kh is kd * R, and the result is [ceil(cout /
/// nr)][A * A][kd][cin][nr].
std::vector<float> winograd(std::span<const float> w, ConvShape shape, int outputs);

/// Weights [cout, cin, kd, kh, kw] cut into pieces of R x R, the last ones padded with zeros: [cout, cin, kd * pieces
/// down * pieces across, R, R], as `winograd` takes them.
std::vector<float> square_pieces(std::span<const float> w, int64_t kd, int64_t kh, int64_t kw, int64_t r);

/// Weights [cout, cin, 3, 3] of a convolution of stride 2, transformed by phases as winograd_stride2.hpp describes:
/// [ceil(cout / nr)][(outputs + 2)^2][cin][nr], where outputs is 2 or 4.
std::vector<float> winograd_stride2(std::span<const float> w, ConvShape shape, int outputs);

/// Weights [cout, cin, kh, kw] transformed along their rows alone, for F(outputs, taps), as
/// [ceil(cout / nr)][outputs + taps - 1][kh][cin][nr]. `down`: along their columns, with kh and kw exchanged. If kh is 1,
/// kw may exceed `taps`: then pieces of `taps` taps, the last padded with zeros, take the place of [kh].
std::vector<float> winograd_line(std::span<const float> w, ConvShape shape, int outputs, int taps, bool down = false);

/// Weights [cout, cin, kh, kw] transformed along their columns for F(outputs, taps), as [ceil(cout /
/// nr)][pieces][cin][kw][outputs + taps - 1][nr]. A piece has every `stride`-th tap, `taps` of them at most; pieces
/// are ordered by their first tap (stem_winograd.hpp). `joined`: the image is channels-last, so its channels become
/// one, with rows that are cin times as long.
std::vector<float> stem_winograd(std::span<const float> w, ConvShape shape, int outputs, int taps, int64_t stride, bool joined = false);

/// Weights of small groups [cout, cin of a group, kh, kw] as [ceil(cout / lanes)][ky][ci][kx][lanes], as conv_grouped
/// reads them.
std::vector<float> grouped(std::span<const float> w, ConvShape shape, int64_t lanes);

/// Weights of few output channels, [cout, cin, kh, kw], or [cin, cout, kh, kw] of a transposed convolution, as [kh *
/// kw][ceil(cin / lanes)][cout][lanes] with zeros beyond cin, as conv_few_outputs reads them.
std::vector<float> few_outputs(std::span<const float> w, ConvShape shape, int64_t lanes, bool transposed = false);

/// Depthwise weights [c, 1, kh, kw] as [kh * kw][c].
std::vector<float> depthwise(std::span<const float> w, int64_t c, int64_t kh, int64_t kw);

/// 3x3 depthwise weights transformed along their columns for F(2,3), as [kw][4][c].
std::vector<float> depthwise_winograd(std::span<const float> w, int64_t c);

}  // namespace onnxc::pack
