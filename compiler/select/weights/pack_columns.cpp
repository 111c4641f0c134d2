#include <array>

#include "compiler/select/weights/pack.h"
#include "runtime_stub/onnxc/contract/columns.hpp"

namespace onnxc::pack {
namespace {

using contract::kColumnOutputs;

/// The steps of k of a group of four, in the order in which a column has them.
constexpr std::array<int64_t, 4> kEvenFirst{0, 2, 1, 3};

/// Weights as (output, step of k): those of one group.
template <class At>
void append_column_panels(std::vector<int8_t>& to, const contract::ColumnForm& form, int64_t k, int64_t outputs, At at) {
  for (int64_t panel = 0; panel < outputs; panel += kColumnOutputs) {
    const auto weight = [&](int64_t r, int64_t step) { return panel + r < outputs ? at(panel + r, step) : int8_t{0}; };
    if (form.steps == contract::kHeliumColumns.steps) {
      for (int64_t step = 0; step < k; step += form.steps) {
        for (int64_t r = 0; r < kColumnOutputs; ++r) {
          for (int64_t i = 0; i < form.steps; ++i) to.push_back(weight(r, step + i));
        }
      }
    } else if (form.steps == contract::kDspColumns.steps) {
      for (int64_t step = 0; step < k; step += 2) {
        for (const int64_t r : {0, 2}) {
          for (const int64_t i : {0, 1}) {
            const int64_t s = step / 4 * 4 + kEvenFirst[static_cast<std::size_t>(step % 4 + i)];
            const int both = 256 * weight(r + 1, s) + weight(r, s);
            to.push_back(static_cast<int8_t>(both));
            to.push_back(static_cast<int8_t>(both >> 8));
          }
        }
      }
    } else {
      for (int64_t step = 0; step < k; ++step) {
        for (int64_t r = 0; r < kColumnOutputs; ++r) to.push_back(weight(r, step));
      }
    }
  }
}

}  // namespace

std::vector<int8_t> columns(std::span<const int8_t> w, const ColumnShape& s) {
  const contract::WindowRuns runs = contract::window_runs(s.kh, s.kw, s.cin, s.joined);
  const int64_t k = contract::column_steps(s.form, runs), pitch = contract::round_up(runs.bytes, s.form.unit), outputs = s.cout / s.group;
  std::vector<int8_t> out;
  for (int64_t group = 0; group < s.group; ++group) {
    append_column_panels(out, s.form, k, outputs, [&](int64_t output, int64_t step) {
      const int64_t run = step / pitch, byte = step % pitch;
      if (run >= runs.count || byte >= runs.bytes) return int8_t{0};
      const int64_t tap = s.joined ? run * s.kw + byte / s.cin : run, channel = s.joined ? byte % s.cin : byte,
                    row = group * outputs + output;
      return w[static_cast<std::size_t>(s.transposed ? channel * s.cout + row : (row * s.cin + channel) * s.kh * s.kw + tap)];
    });
  }
  return out;
}

bool fits_pairs(std::span<const int8_t> w, const ColumnShape& s) {
  const int64_t k = s.cin * s.kh * s.kw, outputs = s.cout / s.group;
  const auto at = [&](int64_t row, int64_t step) {
    return w[static_cast<std::size_t>(s.transposed ? step * s.cout + row : row * k + step)];
  };
  for (int64_t row = 0; row < s.cout; row += outputs) {
    for (int64_t r = row; r + 1 < row + outputs; r += 2) {
      for (int64_t step = 0; step < k; ++step) {
        if (at(r + 1, step) == -128 && at(r, step) < 0) return false;
      }
    }
  }
  return true;
}

std::vector<int32_t> column_start(std::span<const int32_t> start, std::span<const int8_t> w, const ColumnShape& s) {
  const int64_t k = s.cin * s.kh * s.kw, outputs = s.cout / s.group;
  std::vector<int32_t> out;
  for (int64_t group = 0; group < s.group; ++group) {
    for (int64_t r = 0; r < contract::round_up(outputs, kColumnOutputs); ++r) {
      const int64_t row = group * outputs + r;
      uint32_t sum = r < outputs && !start.empty() ? static_cast<uint32_t>(start[static_cast<std::size_t>(row)]) : 0;
      for (int64_t step = 0; r < outputs && step < k && s.form.steps == contract::kHeliumColumns.steps; ++step)
        sum += 128 * static_cast<uint32_t>(w[static_cast<std::size_t>(s.transposed ? step * s.cout + row : row * k + step)]);
      out.push_back(static_cast<int32_t>(sum));
    }
  }
  return out;
}

std::vector<int8_t> depthwise_columns(std::span<const int8_t> w, const contract::ColumnForm& form, int64_t c, int64_t taps) {
  std::vector<int8_t> out;
  const auto weight = [&](int64_t channel, int64_t tap) {
    return channel < c ? w[static_cast<std::size_t>(channel * taps + tap)] : int8_t{0};
  };
  const auto append_16_bits = [&](int8_t value) {
    out.push_back(value);
    out.push_back(static_cast<int8_t>(value < 0 ? -1 : 0));
  };
  for (int64_t panel = 0; panel < c; panel += form.channels) {
    for (int64_t tap = 0; tap < taps; ++tap) {
      if (form.bytes == 1) {
        for (int64_t i = 0; i < form.channels; ++i) out.push_back(weight(panel + i, tap));
      } else if (tap + 1 < taps) {
        for (int64_t i = 0; i < form.channels; ++i) append_16_bits(weight(panel + i, tap)), append_16_bits(weight(panel + i, tap + 1));
        ++tap;
      } else {
        for (const int64_t i : kEvenFirst) append_16_bits(weight(panel + i, tap));
      }
    }
  }
  return out;
}

std::vector<int32_t> depthwise_start(std::span<const int32_t> start, const contract::ColumnForm& form, int64_t c) {
  std::vector<int32_t> out(static_cast<std::size_t>(contract::round_up(c, form.channels)));
  std::copy(start.begin(), start.end(), out.begin());
  return out;
}

}  // namespace onnxc::pack
