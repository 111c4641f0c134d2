// Convolution of channels-last images of bytes on cores without wide vectors, and products of matrices of bytes: inner products along k, of whose sums few are
// in registers. Sums of 32 bits are exact.
//
//   conv_columns<PlainColumns>(share, x, w, y, scratch, {.h = 25, .w = 5, .cin = 64, .oh = 25, .ow = 5, .cout = 64, .kh = 1, .kw = 1, .x_pixel = 64,
//                                                        .y_pixel = 64, .start = w_start}, Epilogue<Requantise>{});
//
// The window of an output is copied to `scratch` as a column: bytes of k one behind the other, with pixels outside of the image. The window of
// one or two pixels is multiplied by all panels of four outputs, whose epilogue follows at once. So no image is copied, scratch is small, and
// borders cost no decision in the inner loop. A window that lies in memory like a column is read there.
//
//   image, 3 x 3 taps            . a b c .                     column   . a b  . d e  . g h
//   under the first pixel        . d e f .
//                                . g h i .
//
// Columns is the machine: PlainColumns, DspColumns and HeliumColumns have a header each. It states what a column looks like in memory and how panels
// of weights are packed (contract::ColumnForm), and has
//
//   kForm                            its contract::ColumnForm
//   kInPlace                         whether a column may be bytes where they lie
//   column(scratch, j, k)            column j
//   put(column, at, from, n, moves)  writes steps [at, at + n) of a column: n bytes at `from`, or four equal ones at `from` over and over
//   multiply(x, w, k, sums)          sums[j][r] += column x[j] times output r of a panel, k steps of each
//   multiply_row(x, w, n, sums)      if !kInPlace: the same of n bytes where they lie, without a second column
//
// w packed: [group][ceil(cout_g / 4)][k][4] in the order that Columns states, with zeros beyond (pack::columns). start: [group][ceil(cout_g / 4)][4].
// A window is kh runs of kw * cin bytes where neighbours in a row are neighbours in memory (`joined`), else kh * kw runs of one pixel's bytes.
#pragma once
#include "column_window.hpp"
#include "finish_sums.hpp"

namespace onnxc::inline ONNXC_ISA {

/// See the head of the file. x must not overlap y; operands of the epilogue may be y itself. scratch: contract::column_scratch bytes of this share, aligned as an
/// int32_t.
template <class Columns, class Y, class Epi = Epilogue<Keep>>
void conv_columns(Share share, const uint8_t* x, const int8_t* w, Y* y, uint8_t* scratch, ColumnConvParams p, Epi epi = {}) {
  constexpr auto kPixels = static_cast<int32_t>(Columns::kForm.pixels), kOutputs = static_cast<int32_t>(contract::kColumnOutputs);
  const detail::ColumnWindow window(p);
  const auto cin = static_cast<int32_t>(p.cin / p.group), cout = static_cast<int32_t>(p.cout / p.group);
  const auto k = static_cast<int32_t>(contract::column_steps(Columns::kForm, {window.runs(), window.run}));
  const int8_t* panel = w;
  const int32_t* start = p.start;
  const auto [begin, end] = share.slice(p.n * p.oh * p.ow, kPixels);
  for (int32_t g = 0; g < static_cast<int32_t>(p.group); ++g) {
    const int8_t* const first_panel = panel;
    const int32_t* const first_start = start;
    detail::PixelWalk point(begin, p.oh, p.ow);
    for (int64_t pixel = begin; pixel < end; pixel += kPixels) {
      const int32_t count = end - pixel < kPixels ? 1 : kPixels;
      const uint8_t* columns[kPixels];
      bool alone = false;  // one column where it lies, beside none
      for (int32_t j = 0; j < kPixels; ++j) {
        columns[j] = columns[0];
        if (j >= count) continue;
        const int32_t top = point.y * static_cast<int32_t>(p.stride_y) - static_cast<int32_t>(p.pad_top),
                   left = point.x * static_cast<int32_t>(p.stride_x) - static_cast<int32_t>(p.pad_left);
        const uint8_t* const image = x + static_cast<std::ptrdiff_t>(point.n) * static_cast<int32_t>(p.h) * window.w * window.pixel + g * cin;
        const bool in_place = (Columns::kInPlace || count == 1) && window.is_one_run(top, left);
        alone = in_place && !Columns::kInPlace;
        columns[j] = in_place ? image + (static_cast<std::ptrdiff_t>(top) * window.w + left) * window.pixel : Columns::column(scratch, j, k);
        if (!in_place) detail::write_column<Columns>(window, Columns::column(scratch, j, k), image, top, left);
        point.advance();
      }
      panel = first_panel;
      start = first_start;
      for (int32_t channel = 0; channel < cout; channel += kOutputs, panel += k * kOutputs, start += kOutputs) {
        int32_t sums[kPixels][kOutputs];
        for (int32_t j = 0; j < kPixels; ++j) __builtin_memcpy(sums[j], start, sizeof sums[j]);
        if (alone) Columns::multiply_row(columns[0], panel, window.run, sums[0]);
        else Columns::multiply(columns, panel, Columns::kInPlace ? window.runs() * window.run : k, sums);
        const int32_t outputs = cout - channel < kOutputs ? cout - channel : kOutputs;
        for (int32_t j = 0; j < count; ++j) {
          const int64_t row = pixel + j, column = g * cout + channel;
          detail::finish_row(epi, sums[j], outputs, row, column, y + row * p.y_pixel + column);
        }
      }
    }
  }
}

}  // namespace onnxc::inline ONNXC_ISA
