#include "compiler/select/conv/depthwise.h"

#include <algorithm>

#include "compiler/select/islands/row_sums.h"
#include "runtime_stub/onnxc/contract/depthwise.hpp"

namespace onnxc {
namespace {

bool is_depthwise(const ConvCall& c) { return !c.is_deep() && c.group == c.cin && c.cout == c.cin; }
/// Kernels with unrolled rows are compiled for these sizes, and for the stride along a row.
bool has_unrolled_rows(const ConvCall& c) {
  return c.kh == c.kw && (c.kh == 3 || c.kh == 5 || c.kh == 7) && c.window.dilations[1] == 1 && c.window.strides[1] <= 2;
}

}  // namespace

void consider_depthwise(KernelQuery& l, const ConvCall& c) {
  if (!is_depthwise(c)) return;
  const bool unrolled = has_unrolled_rows(c);
  const int64_t lanes = l.target().vector_floats, channels = (c.cin + lanes - 1) / lanes * lanes,
                scratch = unrolled ? 0
                                   : contract::depthwise_any_scratch(c.kh, c.kw, c.window.strides[1], c.window.dilations[0],
                                                                     c.window.dilations[1], lanes);
  // The dilation is beyond reason.
  if (4 * scratch > l.target().workspace_bytes()) return;
  l.consider(unrolled ? "depthwise" : "depthwise_any", c.macs * static_cast<double>(channels) / static_cast<double>(c.cin), 0,
             [&l, c, unrolled, scratch] {
               const View x = l.in(0, conv_input_layout(l)), y = l.out_any(0);
               const PointerArg w = l.weights(conv_weights_name(l), ElementType::F32, pack::depthwise(conv_weights(l), c.cin, c.kh, c.kw));
               StepBuilder step = l.call(unrolled ? "depthwise" : "depthwise_any");
               auto params = c.params(x, y, bias_as_given(l));
               if (unrolled) {
                 step.template_arg(c.kh).template_arg(c.kw).template_arg(c.window.strides[1]).template_arg(7);
                 if (const auto sums = wanted_row_sums(l)) {
                   step.template_arg(true);
                   params.emplace_back("row_sums", *sums);
                 }
               }
               step.pointer(x).pointer(w).pointer(y);
               if (!unrolled) step.pointer(l.thread_workspace("rows", ElementType::F32, Dim(scratch)));
               step.params(std::move(params));
               if (unrolled && c.kh < 7)
                 // Rows of the kernel are short compared with the work of finding their edges, so known sizes pay.
                 step.specialised();
               finish_conv(l, step, c, y);
             });
}

void consider_depthwise_taps(KernelQuery& l, const ConvCall& c) {
  if (!is_depthwise(c)) return;
  l.consider("depthwise_taps", c.macs, 0, [&l, c] {
    const View x = l.in(0, conv_input_layout(l)), y = l.out_any(0);
    const PointerArg w = l.weights(conv_weights_name(l), ElementType::F32, pack::depthwise(conv_weights(l), c.cin, c.kh, c.kw));
    StepBuilder step = l.call("depthwise_taps");
    step.pointer(x).pointer(w).pointer(y).params(c.params(x, y, bias_as_given(l)));
    finish_conv(l, step, c, y);
  });
}

void consider_depthwise_winograd(KernelQuery& l, const ConvCall& c) {
  if (!is_depthwise(c) || !has_depthwise_winograd(l.target(), c)) return;
  // The distance of pixels from which on a page holds only few of them.
  constexpr int64_t kFarBytes = 1024;
  // Frequencies of a column of two output rows, and the taps across, each a vector of multiply-adds.
  constexpr double kPoints = 4, kAcross = 3;
  const DepthwiseWinogradCosts& costs = l.target().machine->depthwise_winograd;
  const double waits = 4 * c.cin < kFarBytes ? 0 : costs.far_pixel;
  const int64_t lanes = l.target().vector_floats, channels = (c.cin + lanes - 1) / lanes * lanes;
  const double pairs = static_cast<double>(c.likely_slices() * ((ConvCall::likely(c.oh) + 1) / 2)),
               steps = (kPoints * kAcross + waits) * static_cast<double>(ConvCall::likely(c.ow)) + costs.begin;
  l.consider(
      "depthwise_winograd", pairs * steps * static_cast<double>(channels), 0,
      [&l, c] {
        const View x = l.in(0, conv_input_layout(l)), y = l.out_any(0);
        const PointerArg w = l.weights(conv_weights_name(l), ElementType::F32, pack::depthwise_winograd(conv_weights(l), c.cin));
        StepBuilder step = l.call("depthwise_winograd");
        auto params = c.params(x, y, bias_as_given(l));
        if (const auto sums = wanted_row_sums(l)) {
          step.template_arg(true);
          params.emplace_back("row_sums", *sums);
        }
        step.pointer(x).pointer(w).pointer(y).params(std::move(params)).specialised();
        finish_conv(l, step, c, y);
      },
      4 * 3 * c.cin);
}

}  // namespace onnxc
