// Convolution of channels-last images of bytes on cores without wide vectors, and products of matrices of bytes: inner products along k, of
// whose sums few are in registers. Sums of 32 bits are exact.
//
//   conv_columns<PlainColumns>(share, x, w, y, scratch, {.h = 25, .w = 5, .cin = 64, .oh = 25, .ow = 5, .cout = 64, .kh = 1, .kw = 1, .x_pixel = 64,
//                                                        .y_pixel = 64, .start = w_start}, Epilogue<Requantise>{});
//
// The window of an output is copied to `scratch` as a column: bytes of k one behind the other, with pixels outside of the image. The window
// of one or two pixels is multiplied by all panels of four outputs, whose epilogue follows at once. So no image is copied, scratch is
// small, and borders cost no decision in the inner loop. A window that lies in memory like a column is read there.
//
//   image, 3 x 3 taps            . a b c .                     column   . a b  . d e  . g h
//   under the first pixel        . d e f .
//                                . g h i .
//
// Columns is the machine: PlainColumns, DspColumns and HeliumColumns have a header each. It states what a column looks like in memory and
// how panels of weights are packed (contract::ColumnForm), and has
//
//   kForm                            its contract::ColumnForm
//   kInPlace                         whether a column may be bytes where they lie
//   column(scratch, j, k)            column j
//   put(column, at, from, n, moves)  writes steps [at, at + n) of a column: n bytes at `from`, or four equal ones at `from` over and over
//   multiply(x, w, k, start, sums)   sums[j][r] = start[r] + column x[j] times output r of a panel, k steps of each
//   multiply_row(x, w, n, start, sums)   the same of n bytes where they lie, without a second column; if there are two columns
//
// w packed: [group][ceil(cout_g / 4)][k][4] in the order that Columns states, with zeros beyond (pack::columns). start: [group][ceil(cout_g
// / 4)][4]. A window is kh runs of kw * cin bytes where neighbours in a row are neighbours in memory (`joined`), else kh * kw runs of one
// pixel's bytes.
#pragma once
#include "column_window.hpp"
#include "finish_sums.hpp"

namespace onnxc::inline ONNXC_ISA {

namespace detail {

/// All that does not depend on the epilogue, so that a unit has it once.
template <class Columns>
class ColumnProducts {
 public:
  static constexpr auto kPixels = static_cast<int32_t>(Columns::kForm.pixels), kOutputs = static_cast<int32_t>(contract::kColumnOutputs);

  __attribute__((noinline)) ColumnProducts(const uint8_t* x, uint8_t* scratch, const ColumnConvParams& p, int32_t first)
      : p_(p),
        window_(p),
        point_(first, p.oh, p.ow),
        x_(x),
        scratch_(scratch),
        k_(static_cast<int32_t>(contract::column_steps(Columns::kForm, {window_.runs(), window_.run}))),
        steps_(Columns::kInPlace ? window_.runs() * window_.run : k_) {}

  /// Bytes of a panel of weights.
  int32_t panel_bytes() const { return k_ * kOutputs; }

  /// Moves to the next `count` outputs and makes columns of their windows, in the channels of that group.
  __attribute__((noinline)) void load(int32_t group, int32_t count) {
    const std::ptrdiff_t row = window_.w * window_.pixel;
    alone_ = false;
    for (int32_t j = 0; j < kPixels; ++j) {
      columns_[j] = columns_[0];
      if (j >= count) continue;
      const int32_t top = point_.y * p_.stride_y - p_.pad_top, left = point_.x * p_.stride_x - p_.pad_left;
      const uint8_t* const image = x_ + point_.n * p_.h * row + group * p_.cin / p_.group;
      const bool in_place = (Columns::kInPlace || count == 1) && window_.is_one_run(top, left);
      uint8_t* const column = Columns::column(scratch_, j, k_);
      columns_[j] = in_place ? image + top * row + left * window_.pixel : column;
      if (!in_place) write_column<Columns>(window_, column, image, top, left);
      alone_ = in_place && kPixels > 1 && count == 1;
      point_.advance();
    }
  }

  /// The sums of a panel.
  __attribute__((noinline)) void multiply(const int8_t* panel, const int32_t* start, int32_t (&sums)[kPixels][kOutputs]) const {
    if constexpr (kPixels > 1) {
      if (alone_) return Columns::multiply_row(columns_[0], panel, window_.run, start, sums[0]);
    }
    Columns::multiply(columns_, panel, steps_, start, sums);
  }

 private:
  const ColumnConvParams& p_;
  ColumnWindow window_;
  PixelWalk point_;
  const uint8_t* x_;
  uint8_t* scratch_;
  int32_t k_, steps_;  ///< of a panel and of a column
  const uint8_t* columns_[kPixels];
  bool alone_;  ///< one column where it lies, beside none
};

}  // namespace detail

/// See the head of the file. x must not overlap y; operands of the epilogue may be y itself. scratch: contract::column_scratch bytes of
/// this share, aligned as an int32_t.
template <class Columns, class Y, class Epi = Epilogue<Keep>>
ONNXC_NOCLONE void conv_columns(Share share, const uint8_t* x, const int8_t* w, Y* y, uint8_t* scratch, const ColumnConvParams& p,
                                Epi epi = {}) {
  using Products = detail::ColumnProducts<Columns>;
  constexpr int32_t kPixels = Products::kPixels, kOutputs = Products::kOutputs;
  const int32_t group = p.group, cout = p.cout / group, y_pixel = p.y_pixel;
  const int8_t* panel = w;
  const int32_t* start = p.start;
  const auto [begin, end] = detail::pixels_of(share, p, kPixels);
  for (int32_t g = 0; g < group; ++g) {
    const int8_t* const first_panel = panel;
    const int32_t* const first_start = start;
    Products products(x, scratch, p, begin);
    for (int32_t pixel = begin; pixel < end; pixel += kPixels) {
      const int32_t count = end - pixel < kPixels ? 1 : kPixels;
      products.load(g, count);
      panel = first_panel;
      start = first_start;
      for (int32_t channel = 0; channel < cout; channel += kOutputs, panel += products.panel_bytes(), start += kOutputs) {
        int32_t sums[kPixels][kOutputs];
        products.multiply(panel, start, sums);
        const int32_t outputs = cout - channel < kOutputs ? cout - channel : kOutputs;
        for (int32_t j = 0; j < count; ++j) {
          const int32_t row = pixel + j, column = g * cout + channel;
          detail::finish_row(epi, sums[j], outputs, row, column, y + static_cast<std::ptrdiff_t>(row) * y_pixel + column);
        }
      }
    }
  }
}

}  // namespace onnxc::inline ONNXC_ISA
