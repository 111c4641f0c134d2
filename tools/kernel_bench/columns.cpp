// Kernels of bytes for microcontrollers, with this machine's instructions in the place of theirs: tests/firmware counts what they take there.
#include <onnxc/columns_dsp.hpp>
#include <onnxc/columns_helium.hpp>
#include <onnxc/columns_plain.hpp>

#include "compiler/select/weights/pack.h"
#include "tools/kernel_bench/suite.h"

namespace onnxc::inline ONNXC_ISA::bench {
namespace {

constexpr int64_t kSide = 16, kChannels = 32;
constexpr ColumnConvParams kConv{.h = kSide,
                                 .w = kSide,
                                 .cin = kChannels,
                                 .oh = kSide,
                                 .ow = kSide,
                                 .cout = kChannels,
                                 .kh = 3,
                                 .kw = 3,
                                 .pad_top = 1,
                                 .pad_left = 1,
                                 .x_pixel = kChannels,
                                 .y_pixel = kChannels};
const std::string kShape = "16x16x32_k3";

template <class Columns>
void add_conv(Suite& suite, const char* row) {
  suite.add(row, kShape, {static_cast<double>(kSide * kSide * 9 * kChannels * kChannels), 0}, [](Data& d) {
    const pack::ColumnShape shape{.form = Columns::kForm, .cout = kChannels, .cin = kChannels, .kh = 3, .kw = 3};
    auto p = kConv;
    p.start = d.room<int32_t>(kChannels);
    return [p, x = d.room<uint8_t>(kSide * kSide * kChannels), y = d.room<int32_t>(kSide * kSide * kChannels),
            w = d.copy(pack::columns(std::vector<int8_t>(9 * kChannels * kChannels, 3), shape)),
            scratch = d.room<uint8_t>(contract::column_scratch(Columns::kForm, contract::window_runs(3, 3, kChannels, true)))] {
      conv_columns<Columns>({}, x, w, y, scratch, p);
    };
  });
}

template <class Columns>
void add_depthwise(Suite& suite, const char* row) {
  suite.add(row, kShape, {static_cast<double>(kSide * kSide * 9 * kChannels), 0}, [](Data& d) {
    auto p = kConv;
    p.start = d.room<int32_t>(kChannels);
    return [p, x = d.room<uint8_t>(kSide * kSide * kChannels), y = d.room<int32_t>(kSide * kSide * kChannels),
            w = d.copy(pack::depthwise_columns(std::vector<int8_t>(9 * kChannels, 3), Columns::kForm, kChannels, 9)),
            scratch = d.room<uint8_t>(contract::depthwise_columns_scratch(9, kChannels, sizeof(void*)))] {
      depthwise_columns<Columns>({}, x, w, y, scratch, p);
    };
  });
}

}  // namespace

void add_columns(Suite& suite) {
  add_conv<PlainColumns>(suite, "conv_columns_plain");
  add_conv<DspColumns>(suite, "conv_columns_dsp");
  add_conv<HeliumColumns>(suite, "conv_columns_helium");
  add_depthwise<PlainColumns>(suite, "depthwise_columns_plain");
  add_depthwise<DspColumns>(suite, "depthwise_columns_dsp");
  add_depthwise<HeliumColumns>(suite, "depthwise_columns_helium");
}

}  // namespace onnxc::inline ONNXC_ISA::bench
