// DFT: the discrete Fourier transform along one axis. The axis may be known only when the model runs, where the output's shape does not depend on it.
#include <fmt/format.h>

#include "compiler/ops/dispatch.h"
#include "compiler/ops/tensor/moves.h"
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

/// 1 or 2: the last axis, real numbers or complex ones.
int64_t parts_of(const Node& node, const Extents& x) {
  const Dim parts = x.back();
  if (!parts.is_constant()) node.fail(ErrorKind::Unsupported, fmt::format("the last axis has extent {}", parts.text()), "fix it to 1 or 2 with --dim");
  if (parts.value() != 1 && parts.value() != 2)
    node.fail(ErrorKind::Invalid, fmt::format("the last axis has extent {}; 1 (real) or 2 (complex) is needed", parts.value()));
  return parts.value();
}

void infer_dft(Inference& n) {
  const Extents& x = n.extents(0);
  if (x.size() < 2) n.fail(fmt::format("the input has rank {}; [..., signal, 1 or 2] is needed", x.size()));
  if (!is_float(n.element(0))) n.fail(fmt::format("the input is {}, not a float", name(n.element(0))));
  const Form form = form_of(n.node());
  const int64_t parts = parts_of(n.node(), x);
  if (form.onesided && parts != (form.inverse ? 2 : 1))
    n.fail(form.inverse ? "onesided=1 with inverse=1 needs a complex input" : "onesided=1 needs a real input", "use onesided=0");
  if (!(element_count(n.extents(2)) == Dim(1))) n.fail(fmt::format("the axis has shape {}; it is a scalar", text(n.extents(2))));
  Extents y = x;
  y.back() = form.inverse && form.onesided ? 1 : 2;
  if (n.constant(2) != nullptr || n.has(1) || form.onesided) {
    const int64_t given = n.known_integers(2, "the axis")[0];
    const int axis = n.axis(given, static_cast<int>(x.size()));
    if (axis == static_cast<int>(x.size()) - 1) n.fail("the axis is the last one, which holds real and imaginary parts");
    const auto k = static_cast<std::size_t>(axis);
    Dim length = form.inverse && form.onesided ? 2 * (x[k] - 1) : x[k];
    if (n.has(1)) {
      const std::vector<Dim> wanted = n.known_elements(1, "dft_length");
      if (wanted.size() != 1) n.fail(fmt::format("dft_length has {} elements; it is a scalar", wanted.size()));
      length = wanted[0];
      if (length.max_value() < 1) n.fail(fmt::format("dft_length is {}", length.text()));
    }
    y[k] = form.onesided && !form.inverse ? floor_div(length, 2) + 1 : length;
  }
  n.output(0, n.element(0), std::move(y));
}

/// Length of the transform; 0 where the kernel finds it at the axis.
Dim length_of(const Node& node, const Extents& y, const TensorData* axis, const std::optional<Dim>& wanted, const Extents& x) {
  if (wanted) return *wanted;
  if (axis == nullptr) return 0;
  int64_t k = to_integers(*axis)[0];
  if (k < 0) k += static_cast<int64_t>(x.size());
  const Form form = form_of(node);
  return form.onesided && !form.inverse ? x[static_cast<std::size_t>(k)] : y[static_cast<std::size_t>(k)];
}

void evaluate_dft(Evaluation& e) {
  const Form form = form_of(e.node());
  std::optional<Dim> wanted;
  if (e.has(1)) wanted = to_integers(e.input(1))[0];
  const Dim length = length_of(e.node(), to_extents(e.output(0).shape), &e.input(2), wanted, to_extents(e.input(0).shape));
  std::vector<double> work(static_cast<std::size_t>(6 * length.value()));
  for_float(e.type(0), [&]<class T>() {
    for_index(e.type(2), [&]<class I>() {
      e.check(scalar::dft(e.out<T>(), e.in<T>(0), e.in<I>(2), work.data(), {.length = length.value(), .inverse = form.inverse, .onesided = form.onesided}));
    });
  });
}

void lower_dft(Lowering& l) {
  const Form form = form_of(l.node());
  std::optional<Dim> wanted;
  if (l.has(1)) wanted = Operands(l.graph(), l.node()).known(1)[0];
  const Extents& x = l.extents(0);
  const Dim length = length_of(l.node(), l.output_type(0).extents, l.constant(2), wanted, x);
  Dim longest = length;
  if (length == Dim(0)) {
    for (std::size_t k = 0; k + 1 < x.size(); ++k) longest = max(longest, x[k]);
  }
  const View in = l.in(0), axis = l.in(2);
  const PointerArg work = l.workspace("spectrum", ElementType::F64, 6 * longest);
  l.call("scalar_dft").tensor(l.out(0)).tensor(in).tensor(axis).pointer(work)
      .params({{"length", dim_arg(length)}, {"inverse", flag_arg(form.inverse)}, {"onesided", flag_arg(form.onesided)}});
}

}  // namespace

extern const Operator op_DFT;
const Operator op_DFT{.name = "DFT", .min_inputs = 1, .max_inputs = 3, .max_outputs = 1, .resolve = resolve_dft, .infer = infer_dft, .evaluate = evaluate_dft,
                      .lower = lower_dft};

}  // namespace onnxc
