// Packing of weights for the kernels that read them. Pure functions: dense arrays in, packed arrays out.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace onnxc::pack {

/// A matrix b[k, n] as panels [ceil(n / nr)][k][nr], columns beyond n filled with zeros: what gemm, gemv and conv read.
///
///   k = 2, n = 3, nr = 2:   1 2 3        panel 0: 1 2 4 5
///                           4 5 6        panel 1: 3 0 6 0
///
/// `b` is row-major with `ld` elements between rows (0: tight). `transposed`: b is stored as [n, k], as Gemm's transB and Linear layers have it.
struct PanelShape {
  int64_t k, n, nr;
  bool transposed = false;
  int64_t ld = 0;
};
std::vector<float> panels(std::span<const float> b, PanelShape shape);

/// Panels of any of these functions as tiles with pairs read them (tile.hpp), where k is even: of each two rows the whole vectors of the first, those of the second, and
/// one of what is left of both, in turn.
///
///   k = 2, nr = 3, lanes = 2:   1 2 3     becomes     1 2 4 5  3 6
///                               4 5 6
///
/// `run`: rows are paired within runs of so many; the last of an odd run stays as it is.
std::vector<float> pairs(std::vector<float> panels, int64_t nr, int64_t lanes, int64_t run = 2);

/// Number of floats in such an array.
int64_t panels_size(int64_t k, int64_t n, int64_t nr);

/// b as strassen.hpp reads it, k even: sums and differences of its quarters, made in double, in panels [ceil(n / 2 nr)][7][k / 2][nr].
std::vector<float> strassen(std::span<const float> b, PanelShape shape);

/// b as fast_inner_product.hpp reads it, nr the lanes of a vector: brought to one size by powers of two, w'[k, n] = b[k, n] / (d[k] e[n]), in panels [ceil(n / nr)][k + 2][nr] whose
/// last rows are -sum(w0 w1) and e; behind them d, all at most 1, and nr zeros. No weight may be larger than kMostInnerProductWeight, or NaN.
constexpr float kMostInnerProductWeight = 0x1p60f;
std::vector<float> fast_inner_product(std::span<const float> b, PanelShape shape);

/// n values padded with zeros to whole panels: bias.
std::vector<float> padded(std::span<const float> values, int64_t multiple);

/// Convolution weights [cout, cin / group, kh, kw] (ONNX Conv) as [group][ceil(cout_g / nr)][(ky * kw + kx) * cin_g + ci][nr].
///
///   cout 1, cin 2, 1x2, nr 2:   w[0][ci][0][kx] = 10 ci + kx       0 0   10 0   1 0   11 0
///                                                                  kx=0         kx=1
struct ConvShape {
  int64_t cout, cin, kh, kw;  // cin of one group
  int64_t group = 1, nr = 16;
};
std::vector<float> conv(std::span<const float> w, ConvShape shape);
/// Number of floats in such an array.
int64_t conv_size(ConvShape shape);

/// The bias of a grouped convolution: each group's share padded to whole panels.
std::vector<float> conv_bias(std::span<const float> bias, ConvShape shape);

/// The same panels with k running as (ci * kh + ky) * kw + kx, as conv_stem reads planar images, and Winograd's convolutions weights that they transform themselves.
std::vector<float> conv_stem(std::span<const float> w, ConvShape shape);

/// Transposed-convolution weights [cin, cout / group, kh, kw] (ONNX ConvTranspose) in the panels of `conv`; shape.cin is that of one group.
std::vector<float> conv_transpose(std::span<const float> w, ConvShape shape);

/// Weights [cout, cin, R, R] transformed for Winograd F(outputs, R): u = G w G^T, computed in double and rounded once, as
/// [ceil(cout / nr)][A * A][cin][nr], A = outputs + R - 1, which must be 4, 6 or 8: A^2 / R^2 times the size of the weights. Those of volumes
/// [cout, cin, kd, R, R] have kh = kd * R and become [ceil(cout / nr)][A * A][kd][cin][nr].
std::vector<float> winograd(std::span<const float> w, ConvShape shape, int outputs);

/// Weights [cout, cin, kd, kh, kw] cut into pieces of R x R, the last ones filled with zeros: [cout, cin, kd * pieces down * pieces across, R, R], as `winograd` takes them.
std::vector<float> square_pieces(std::span<const float> w, int64_t kd, int64_t kh, int64_t kw, int64_t r);

/// Weights [cout, cin, 3, 3] of a convolution of stride 2, transformed by phases as winograd_stride2.hpp has it: [ceil(cout / nr)][(outputs + 2)^2][cin][nr]; outputs: 2 or 4.
std::vector<float> winograd_stride2(std::span<const float> w, ConvShape shape, int outputs);

/// Weights [cout, cin, kh, kw] transformed along their rows alone, for F(outputs, taps), as [ceil(cout / nr)][outputs + taps - 1][kh][cin][nr]; `down`: along their
/// columns, kh and kw exchanged. Where kh is 1, kw may be more than `taps`: [pieces] of so many taps then in the place of [kh], the last filled with zeros.
std::vector<float> winograd_line(std::span<const float> w, ConvShape shape, int outputs, int taps, bool down = false);

/// Weights [cout, cin, kh, kw] of a convolution of so many rows at a time, transformed along their columns for F(outputs, taps), as
/// [ceil(cout / nr)][pieces][cin][kw][outputs + taps - 1][nr]: pieces of every `stride`-th tap, at most `taps` of them, by their first (stem_winograd.hpp). `joined`: for a
/// channels-last image, as one of one channel and rows that are cin times as long.
std::vector<float> stem_winograd(std::span<const float> w, ConvShape shape, int outputs, int taps, int64_t stride, bool joined = false);

/// Weights of small groups [cout, cin of a group, kh, kw] as [ceil(cout / lanes)][ky][ci][kx][lanes], as conv_grouped reads them.
std::vector<float> grouped(std::span<const float> w, ConvShape shape, int64_t lanes);

/// Weights of few output channels [cout, cin, kh, kw], or [cin, cout, kh, kw] of a transposed convolution, as [kh * kw][ceil(cin / lanes)][cout][lanes], zeros beyond cin,
/// as conv_narrow reads them.
std::vector<float> narrow(std::span<const float> w, ConvShape shape, int64_t lanes, bool transposed = false);

/// Depthwise weights [c, 1, kh, kw] as [kh * kw][c].
std::vector<float> depthwise(std::span<const float> w, int64_t c, int64_t kh, int64_t kw);

/// Those of 3x3, transformed along their columns for F(2,3), as [kw][4][c].
std::vector<float> depthwise_winograd(std::span<const float> w, int64_t c);

}  // namespace onnxc::pack
