// STFT: the discrete Fourier transform of frames of a signal, each weighted by a window.
#include <fmt/format.h>

#include "compiler/ops/dispatch.h"
#include "compiler/ops/tensor/moves.h"
#include "compiler/support/error_codes.h"
#include "runtime_stub/onnxc/scalar/dft.hpp"

namespace onnxc {
namespace {

/// The samples of a frame: those of the window, else the given number, else the whole signal.
Dim frame_length(const Operands& o) {
  if (o.has(2)) return o.in[2][0];
  return o.has(3) ? o.known(3)[0] : o.in[0][1];
}

void infer_stft(Inference& n) {
  const Extents& x = n.extents(0);
  if (x.size() != 2 && x.size() != 3) n.fail(fmt::format("the signal has rank {}; [batch, samples, 1 or 2] is needed", x.size()));
  if (!is_float(n.element(0))) n.fail(fmt::format("the signal is {}, not a float", name(n.element(0))));
  if (x.size() == 3 && !x[2].is_constant())
    n.fail(ErrorCode::OpenDimension, fmt::format("the last axis has extent {}", x[2].text()), "fix it to 1 or 2 with --dim");
  const int64_t parts = x.size() == 3 ? x[2].value() : 1;
  if (parts != 1 && parts != 2) n.fail(fmt::format("the last axis has extent {}; 1 (real) or 2 (complex) is needed", parts));
  const bool onesided = n.node().integer("onesided", 1) != 0;
  if (onesided && parts == 2) n.fail("onesided=1 needs a real signal", "use onesided=0");
  const DimList step = n.known_elements(1, "frame_step");
  if (step.size() != 1 || step[0].max_value() < 1) n.fail("frame_step is not one positive number");
  n.unify(step[0], max(step[0], 1), "frame_step is positive");
  if (n.has(2)) {
    if (n.rank(2) != 1) n.fail(fmt::format("the window has rank {}, not 1", n.rank(2)));
    if (n.element(2) != n.element(0)) n.fail(fmt::format("the window is {}, the signal {}", name(n.element(2)), name(n.element(0))));
  }
  if (n.has(3)) {
    const DimList given = n.known_elements(3, "frame_length");
    if (given.size() != 1 || given[0].max_value() < 1) n.fail("frame_length is not one positive number");
    n.unify(given[0], max(given[0], 1), "frame_length is positive");
    if (n.has(2)) n.unify(n.extents(2)[0], given[0], "the lengths of window and frame");
  }
  const Dim length = frame_length(Operands(n.graph(), n.node()));
  if ((x[1] - length).max_value() < 0) n.fail(fmt::format("a frame of {} is longer than the signal of {}", length.text(), x[1].text()));
  const Dim frames = n.let(max(0, floor_div(x[1] - length, max(step[0], 1)) + 1), "frames"),
            bins = n.let(onesided ? floor_div(length, 2) + 1 : length, "bins");
  n.output(0, n.element(0), {x[0], frames, bins, 2});
}

void evaluate_stft(Evaluation& e) {
  const Operands o(e);
  const int64_t length = frame_length(o).value();
  std::vector<double> work(static_cast<std::size_t>(scalar::fft_numbers(length)));
  for_float(e.type(0), [&]<class T>() {
    scalar::stft(e.out<T>(), e.in<T>(0), e.has(2) ? e.in<T>(2).data : nullptr, work.data(), length, o.known(1)[0].value(), true);
  });
}

void lower_stft(KernelQuery& l) {
  const Operands o(l.graph(), l.node());
  const Dim length = frame_length(o);
  const View x = l.in(0), y = l.out(0);
  const bool chirp = length.is_constant() && scalar::has_large_factor(length.value());
  const PointerArg work = l.share_workspace(
      "spectrum", ElementType::F64, chirp ? Dim(scalar::fft_numbers(length.value())) : 6 * max(length, 0), y.extents[0] * y.extents[1]);
  View window;
  if (l.has(2)) window = l.in(2);
  StepBuilder call = l.call("scalar_stft");
  call.template_arg(y.element).tensor(y).tensor(x);
  if (l.has(2)) call.pointer(window);
  else call.null();
  call.pointer(work).dim(length).dim(o.known(1)[0]).flag(chirp).emit();
}

}  // namespace

extern const Operator op_STFT;
const Operator op_STFT{.name = "STFT",
                       .min_inputs = 2,
                       .max_inputs = 4,
                       .max_outputs = 1,
                       .infer = infer_stft,
                       .evaluate = evaluate_stft,
                       .lower = lower_stft};

}  // namespace onnxc
