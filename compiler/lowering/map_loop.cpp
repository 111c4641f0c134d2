// Elementwise loops: the iteration space of an expression, merged to as few axes as its operands allow.
#include <algorithm>

#include "compiler/lowering/lowerer.h"
#include "compiler/lowering/vector_operations.h"
#include "compiler/ops/broadcast.h"

namespace onnxc {
namespace {

struct Axis {
  Dim extent;
  DimList strides;  ///< of y, then of each operand
};

/// What is read from or written to beyond L2 costs as much as so many bytes more within it: of operands that do not fit, and of inputs
/// and constants of a model whose weights drive them out from run to run.
double bytes_from_afar(int64_t bytes, int64_t of_callers, int64_t weights, const Target& target) {
  const int64_t l2 = 2 * target.l2_bytes;
  const int64_t cold = weights > 2 * l2 ? of_callers : 0, beyond = std::max<int64_t>(0, bytes - cold - l2);
  const MemoryCosts& costs = target.machine->memory;
  return costs.cold * static_cast<double>(cold) + costs.beyond_l2 * static_cast<double>(beyond);
}

}  // namespace

void KernelQuery::map_loop(const Expr& expr, View y, const std::vector<View>& x) {
  std::vector<DimList> strides{y.strides()};
  for (const View& operand : x) strides.push_back(broadcast_strides(y.extents, operand.extents, operand.strides()));
  std::vector<Axis> axes;
  for (int axis : memory_order(static_cast<int>(y.extents.size()), y.layout)) {
    const auto a = static_cast<std::size_t>(axis);
    if (y.extents[a] == Dim(1)) continue;
    Axis next{y.extents[a], {}};
    for (const auto& s : strides) next.strides.push_back(s[a]);
    bool merged = !axes.empty();
    if (merged) {
      for (std::size_t k = 0; k < next.strides.size() && merged; ++k) merged = axes.back().strides[k] == next.strides[k] * next.extent;
    }
    if (merged) {
      axes.back().extent *= next.extent;
      axes.back().strides = next.strides;
    } else {
      axes.push_back(std::move(next));
    }
  }
  if (axes.empty()) axes.push_back({1, DimList(strides.size(), 1)});
  DimList shape;
  for (const Axis& axis : axes) shape.push_back(axis.extent);
  const auto operand = [&](std::size_t k, PointerArg pointer) {
    FormArg form;
    const Dim inner = axes.back().strides[k];
    form.form = inner == Dim(1) ? "Stream" : inner == Dim(0) ? "Fixed" : "Strided";
    form.pointer = pointer;
    if (form.form == "Strided") form.members.push_back(inner);
    form.has_list = axes.size() > 1;
    for (std::size_t axis = 0; axis + 1 < axes.size(); ++axis) form.list.push_back(axes[axis].strides[k]);
    return form;
  };
  bool vectors = optimise() && is_vectorisable(expr);
  std::vector<FormArg> operands;
  for (std::size_t k = 0; k <= x.size(); ++k) {
    operands.push_back(operand(k, k == 0 ? y.pointer : x[k - 1].pointer));
    if (k == 0) operands[0].pointer.writes = true;
    const ElementType element = k == 0 ? y.element : x[k - 1].element;
    operands.back().pointer.as = element;
    vectors = vectors && operands.back().form != "Strided" && (k == 0 ? operands[0].form == "Stream" : true) && has_lanes(element);
  }
  StepBuilder step = call(lowerer_.uses_gpu_kernels() ? "gpu_map" : vectors ? "map" : "map_scalar");
  step.template_arg(ExprType{lowerer_.add_expr(expr)}).dims(shape);
  for (auto& form : operands) step.form(form);
  for (std::size_t k = 0; k < x.size(); ++k) {
    if (x[k].extents == y.extents && held_bits(x[k].element) == held_bits(y.element)) step.may_share(y, x[k]);
  }
  const auto bytes_of = [](const View& v) { return element_count(v.extents) * (held_bits(v.element) / 8); };
  Dim bytes = bytes_of(y), of_callers = 0;
  for (const View& v : x) {
    bytes += bytes_of(v);
    const Buffer::Space space = lowerer_.program_[v.pointer.buffer].space;
    if (space == Buffer::Space::Input || space == Buffer::Space::Weights) of_callers += bytes_of(v);
  }
  step.work(element_count(y.extents) * (vectors ? vector_operations(expr) : operations(expr)));
  step.call().bytes = bytes;
  if (bytes.is_constant() && of_callers.is_constant())
    step.bytes_from_afar(bytes_from_afar(bytes.value(), of_callers.value(), lowerer_.constant_bytes_, target()));
  step.emit();
}

void lower_map(KernelQuery& l) {
  const Node& node = l.node();
  std::vector<View> operands;
  const bool last = l.out_layout(0).channels_last;
  for (int i = 0; i < static_cast<int>(node.inputs.size()); ++i) {
    const Extents& extents = l.extents(i);
    // An operand of full size is read in the result's layout. A smaller one may have any layout, which its strides
    // describe.
    if (last && extents == l.output_type(0).extents && l.constant(i) == nullptr) operands.push_back(l.in(i, l.out_layout(0)));
    else if (!last && extents.size() >= 3) operands.push_back(l.in(i));
    else operands.push_back(l.in_any(i));
  }
  l.map_loop(*node.epilogue, l.out_any(0), operands);
}

}  // namespace onnxc
