#include "compiler/select/conv/stem_winograd.h"

#include <string>
#include <vector>

#include "runtime_stub/onnxc/contract/stem.hpp"

namespace onnxc {
namespace {

struct StemForm {
  int outputs, taps;
  int points() const { return outputs + taps - 1; }
};
constexpr StemForm kForms[] = {{4, 3}, {6, 3}, {3, 4}, {5, 4}, {2, 5}, {4, 5}};

// The largest distance of neighbouring pixels of a tile, in floats: such distances become displacements in the code.
constexpr int64_t kMostStride = 16;
// Larger pads are beyond reason.
constexpr int64_t kMostPad = 1024;

/// Floats from one transformed row to the next.
Dim pitch_of(const Stem& stem, int pixels) {
  const ConvCall& c = stem.call;
  const int64_t pixel = stem.pixel();
  return contract::stem_winograd_pitch(c.w * pixel, c.ow, c.kw * pixel, c.window.strides[1] * pixel, c.window.pads_begin[1].value() * pixel,
                                       pixels);
}

StemWinograd plan_form(const Target& target, const Stem& stem, const StemForm& form, int pixels) {
  const ConvCall& c = stem.call;
  const int64_t kw = c.kw * stem.pixel(), across = tiled_rows(ConvCall::likely(c.ow), pixels),
                columns = contract::round_up(c.cout, target.vector_floats);
  const int64_t pieces = contract::stem_pieces(c.kh, form.taps, c.window.strides[0]), channels = c.cin / stem.pixel(),
                lines = pieces * channels, rows = contract::stem_winograd_rows(pieces, channels, form.points());
  const int64_t bands = c.likely_slices() * ((ConvCall::likely(c.oh) + form.outputs - 1) / form.outputs);
  const WinogradCosts& costs = target.machine->winograd;
  const double products =
      static_cast<double>(bands * across * columns * form.points()) * (static_cast<double>(lines * kw) + costs.stem_ends.of(form.points()));
  return {form.outputs,
          form.taps,
          pixels,
          pitch_of(stem, pixels) * rows,
          columns * rows * kw,
          products + costs.stem_input * static_cast<double>(bands * rows * ConvCall::likely(c.w) * stem.pixel())};
}

}  // namespace

std::optional<StemWinograd> plan_stem_winograd(const KernelQuery& l, const Stem& stem) {
  const ConvCall& c = stem.call;
  const Dim pad = c.window.pads_begin[1];
  const bool fits_window = c.window.dilations[0] == 1 && c.window.dilations[1] == 1 && c.window.strides[0] <= kMostStride &&
                           c.window.strides[1] <= kMostStride / stem.pixel();
  const bool known = pad.is_constant() && pad.value() >= 0 && pad.value() <= kMostPad && ConvCall::likely(c.ow) > 0;
  // Its tiles need 32 registers, and each multiply-add broadcasts one operand, which is free in AVX-512.
  if (!l.target().has(Feature::Avx512) || !fits_window || !known) return std::nullopt;
  std::optional<StemWinograd> best;
  for (const StemForm& form : kForms) {
    if (c.kh < form.taps) continue;
    for (const int pixels : form.points() == 6 ? std::vector{4, 5} : std::vector{3}) {
      const StemWinograd plan = plan_form(l.target(), stem, form, pixels);
      const bool fits = !plan.scratch.is_constant() || 4 * plan.scratch.value() <= l.target().workspace_bytes();
      if (fits && (!best || plan.macs < best->macs)) best = plan;
    }
  }
  return best;
}

PointerArg stem_winograd_weights(KernelQuery& l, const Stem& stem, const StemWinograd& plan) {
  const ConvCall& c = stem.call;
  const pack::ConvShape shape{.cout = c.cout, .cin = c.cin, .kh = c.kh, .kw = c.kw, .nr = l.target().vector_floats};
  return l.weights(conv_weights_name(l),
                   {conv_weights(l), plan.weights, [&l, shape, plan, stride = c.window.strides[0], joined = stem.joined] {
                      return pack::stem_winograd(conv_weights(l), shape, plan.outputs, plan.taps, stride, joined);
                    }});
}

StepBuilder& stem_winograd_args(StepBuilder& step, const Stem& stem, const StemWinograd& plan) {
  for (const int64_t value : {int64_t{plan.outputs}, int64_t{plan.taps}, int64_t{plan.pixels}, stem.call.window.strides[1] * stem.pixel()})
    step.template_arg(value);
  return step;
}

void consider_stem_winograd(KernelQuery& l) {
  const auto stem = stem_in_place(l);
  if (!stem) return;
  const auto plan = plan_stem_winograd(l, *stem);
  if (!plan) return;
  l.consider(
      "stem_winograd", plan->macs, 0,
      [&l, stem = *stem, plan = *plan] {
        const View x = stem_input(l, stem), y = l.out_any(0);
        const PointerArg u = stem_winograd_weights(l, stem, plan), scratch = l.thread_workspace("rows", ElementType::F32, plan.scratch);
        auto params = stem_params(l, stem, x, y);
        StepBuilder step = l.call("stem_winograd");
        stem_winograd_args(step, stem, plan)
            .pointer(x)
            .pointer(u)
            .pointer(y)
            .pointer(scratch)
            .params(std::move(params))
            // With few taps the set-up of a tile would dominate, so the call is specialised.
            .specialised();
        finish_conv(l, step, stem.call, y);
      },
      plan->growth(stem->call));
}

}  // namespace onnxc
