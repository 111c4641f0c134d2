// DFT: the discrete Fourier transform along one axis. The axis may be known only to a run if the output's shape does
// not depend on it.
#include <fmt/format.h>

#include "compiler/ops/dispatch.h"
#include "compiler/ops/tensor/moves.h"
#include "compiler/support/error_codes.h"
#include "runtime_stub/onnxc/scalar/dft.hpp"

namespace onnxc {
namespace {

/// Before opset 20 the axis was an attribute, 1 by default.
void resolve_dft(GraphBuilder& b, Node& node) {
  while (node.inputs.size() < 3) node.inputs.push_back(kAbsent);
  if (node.version < 20) {
    node.inputs[2] = b.integers({node.integer("axis", 1)});
    node.attributes.erase("axis");
  } else if (node.inputs[2] == kAbsent) {
    node.inputs[2] = b.integers({-2});
  }
}

struct Form {
  bool inverse, onesided;
};
Form form_of(const Node& node) { return {node.integer("inverse", 0) != 0, node.integer("onesided", 0) != 0}; }

/// 1 or 2: the last axis, for real or complex numbers.
int64_t parts_of(const Node& node, const Extents& x) {
  const Dim parts = x.back();
  if (!parts.is_constant())
    node.fail(ErrorCode::OpenDimension, fmt::format("the last axis has extent {}", parts.text()), "fix it to 1 or 2 with --dim");
  if (parts.value() != 1 && parts.value() != 2)
    node.fail(ErrorKind::Invalid, fmt::format("the last axis has extent {}; 1 (real) or 2 (complex) is needed", parts.value()));
  return parts.value();
}

/// For each signal axis, 1 if it is the transformed one, else 0.
DimList chosen_axis(Dim axis, std::size_t rank) {
  const Dim a = axis + static_cast<int64_t>(rank) * min(1, max(0, 0 - axis));  // a negative axis counts from the end
  DimList chosen;
  for (int64_t k = 0; k + 1 < static_cast<int64_t>(rank); ++k) chosen.push_back(max(0, 1 - max(a - k, k - a)));
  return chosen;
}

/// The length of the transform: dft_length, or the length that the extent of the chosen axis implies.
Dim length_of(const Node& node, const Extents& x, const DimList& chosen, const std::optional<Dim>& given) {
  if (given) return *given;
  const Form form = form_of(node);
  Dim length = 0;
  for (std::size_t k = 0; k < chosen.size(); ++k) length += chosen[k] * (form.inverse && form.onesided ? 2 * (x[k] - 1) : x[k]);
  return length;
}

/// If the output's shape is the input's for any axis, only the kernel reads the axis.
bool shape_depends_on_axis(const Node& node) { return node.has_input(1) || form_of(node).onesided; }

void infer_dft(Inference& n) {
  const Extents x = n.extents(0);
  if (x.size() < 2) n.fail(fmt::format("the input has rank {}; [..., signal, 1 or 2] is needed", x.size()));
  if (!is_float(n.element(0))) n.fail(fmt::format("the input is {}, not a float", name(n.element(0))));
  const Form form = form_of(n.node());
  const int64_t parts = parts_of(n.node(), x);
  if (form.onesided && parts != (form.inverse ? 2 : 1))
    n.fail(form.inverse ? "onesided=1 with inverse=1 needs a complex input" : "onesided=1 needs a real input", "use onesided=0");
  if (!(element_count(n.extents(2)) == Dim(1))) n.fail(fmt::format("the axis has shape {}; it is a scalar", text(n.extents(2))));
  if (n.constant(2) != nullptr && n.axis(to_integers(*n.constant(2))[0], static_cast<int>(x.size())) == static_cast<int>(x.size()) - 1)
    n.fail("the axis is the last one, which holds real and imaginary parts");
  Extents y = x;
  y.back() = form.inverse && form.onesided ? 1 : 2;
  if (shape_depends_on_axis(n.node())) {
    const DimList chosen = chosen_axis(n.known_elements(2, "the axis")[0], x.size());
    std::optional<Dim> given;
    if (n.has(1)) {
      const DimList wanted = n.known_elements(1, "dft_length");
      if (wanted.size() != 1) n.fail(fmt::format("dft_length has {} elements; it is a scalar", wanted.size()));
      if (wanted[0].max_value() < 1) n.fail(fmt::format("dft_length is {}", wanted[0].text()));
      given = wanted[0];
    }
    const Dim length = length_of(n.node(), x, chosen, given), bins = form.onesided && !form.inverse ? floor_div(length, 2) + 1 : length;
    for (std::size_t k = 0; k < chosen.size(); ++k) y[k] = n.let(x[k] + chosen[k] * (bins - x[k]), "bins");
  }
  n.output(0, n.element(0), std::move(y));
}

void evaluate_dft(Evaluation& e) {
  const Form form = form_of(e.node());
  const Extents x = to_extents(e.input(0).shape);
  std::optional<Dim> given;
  if (e.has(1)) given = to_integers(e.input(1))[0];
  const int64_t length = length_of(e.node(), x, chosen_axis(to_integers(e.input(2))[0], x.size()), given).value();
  if (length < 0) e.node().fail(ErrorKind::Invalid, fmt::format("dft_length is {}", length));
  std::vector<double> work(static_cast<std::size_t>(scalar::fft_numbers(length)));
  for_float(e.type(0), [&]<class T>() {
    for_index(e.type(2), [&]<class I>() {
      e.check(scalar::dft(e.out<T>(), e.in<T>(0), e.in<I>(2), work.data(),
                          {.length = length, .inverse = form.inverse, .onesided = form.onesided, .chirp = true}));
    });
  });
}

void lower_dft(KernelQuery& l) {
  const Form form = form_of(l.node());
  const Operands operands(l.graph(), l.node());
  const Extents& x = l.extents(0);
  Dim length = 0, longest = 0;  // 0: the extent of the axis
  if (shape_depends_on_axis(l.node())) {
    length =
        length_of(l.node(), x, chosen_axis(operands.known(2)[0], x.size()), l.has(1) ? std::optional(operands.known(1)[0]) : std::nullopt);
    longest = max(length, 0);
  } else {
    for (std::size_t k = 0; k + 1 < x.size(); ++k) longest = max(longest, x[k]);
  }
  // If all lengths are known, memory for a chirp is only needed if one of them has a large factor.
  Dim numbers = 6 * longest;
  bool chirp = false;
  const auto visit = [&](Dim n) {
    if (!n.is_constant() || !scalar::has_large_factor(n.value())) return;
    chirp = true;
    numbers = max(numbers, scalar::fft_numbers(n.value()));
  };
  if (longest.is_constant()) {
    if (shape_depends_on_axis(l.node())) visit(longest);
    else
      for (std::size_t k = 0; k + 1 < x.size(); ++k) visit(x[k]);
  }
  const View in = l.in(0), axis = l.in(2);
  const PointerArg work = l.share_workspace("spectrum", ElementType::F64, numbers, element_count(x));
  l.call("scalar_dft")
      .tensor(l.out(0))
      .tensor(in)
      .tensor(axis)
      .pointer(work)
      .params({{"length", dim_arg(length)},
               {"inverse", flag_arg(form.inverse)},
               {"onesided", flag_arg(form.onesided)},
               {"chirp", flag_arg(chirp)}})
      .emit();
}

}  // namespace

extern const Operator op_DFT;
const Operator op_DFT{.name = "DFT",
                      .min_inputs = 1,
                      .max_inputs = 3,
                      .max_outputs = 1,
                      .resolve = resolve_dft,
                      .infer = infer_dft,
                      .evaluate = evaluate_dft,
                      .lower = lower_dft};

}  // namespace onnxc
