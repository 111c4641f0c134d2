// Products of bytes by columns (conv_columns.hpp): what planners pack and provide for them.
#pragma once
#include "sizes.hpp"

namespace onnxc {

/// How a machine wants columns. One type for all instruction sets, since functions of the compiler take it.
struct ColumnForm {
  int64_t pixels;    ///< whose columns are multiplied together
  int64_t unit;      ///< a run of a window begins at a multiple of so many steps of k
  int64_t steps;     ///< k is a multiple of so many in packed weights
  int64_t bytes;     ///< that a step of one column takes
  int64_t channels;  ///< of depthwise convolutions, whose weights lie side by side
};

}  // namespace onnxc

namespace onnxc::inline ONNXC_ISA::contract {

/// Outputs of a panel of weights.
inline constexpr int64_t kColumnOutputs = 4;

using onnxc::ColumnForm;
inline constexpr ColumnForm kPlainColumns{2, 1, 1, 1, 4}, kDspColumns{2, 4, 8, 2, 4}, kHeliumColumns{1, 1, 16, 1, 8};

/// The bytes of a window: so many runs, in each of which they lie one behind the other.
struct WindowRuns {
  int64_t count, bytes;
};
/// `joined`: neighbours in a row of the image are neighbours in memory, and in the window.
constexpr WindowRuns window_runs(int64_t kh, int64_t kw, int64_t channels, bool joined) {
  return joined ? WindowRuns{kh, kw * channels} : WindowRuns{kh * kw, channels};
}

/// Steps of k of a window, those that fill its runs and weights among them.
constexpr int64_t column_steps(const ColumnForm& form, WindowRuns runs) {
  return round_up(runs.count * round_up(runs.bytes, form.unit), form.steps);
}
/// Bytes of the scratch memory of a share of conv_columns.
constexpr int64_t column_scratch(const ColumnForm& form, WindowRuns runs) { return form.pixels * form.bytes * column_steps(form, runs); }

/// Bytes of the scratch memory of a share of depthwise_columns: where the taps of a window lie, twice, and a pixel outside of the image.
constexpr int64_t depthwise_columns_scratch(int64_t taps, int64_t channels, int64_t pointer_bytes) {
  return 2 * taps * pointer_bytes + channels;
}

}  // namespace onnxc::inline ONNXC_ISA::contract
