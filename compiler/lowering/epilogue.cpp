// How an epilogue reads its operands: the result is seen as a matrix, and an operand that repeats over its rows or its
// columns has a form of its own.
#include <numeric>

#include "compiler/lowering/lowerer.h"
#include "compiler/ops/broadcast.h"
#include "compiler/ops/kernel_query.h"

namespace onnxc {

EpilogueShape KernelQuery::matrix_shape(const Extents& extents) const {
  EpilogueShape shape;
  for (std::size_t axis = 0; axis + 1 < extents.size(); ++axis) {
    shape.row_extents.push_back(extents[axis]);
    shape.row_axes.push_back(static_cast<int>(axis));
  }
  if (!extents.empty()) shape.col_axes.push_back(static_cast<int>(extents.size()) - 1);
  return shape;
}

EpilogueShape KernelQuery::image_shape(const Extents& extents) const {
  EpilogueShape shape;
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    if (axis == 1) continue;
    shape.row_extents.push_back(extents[axis]);
    shape.row_axes.push_back(static_cast<int>(axis));
  }
  shape.col_axes.push_back(1);
  return shape;
}

std::optional<FormArg> epilogue_operand(const EpilogueShape& shape, const Extents& result, const Extents& operand,
                                        const DimList& operand_strides) {
  for (std::size_t k = 0; k < operand.size(); ++k) {
    // Such an operand needs a loop of its own.
    if (may_repeat(operand[k], result[result.size() - operand.size() + k])) return std::nullopt;
  }
  const auto stride_of = [&](int axis) {
    const int at = axis - static_cast<int>(result.size() - operand.size());
    if (at < 0 || operand[static_cast<std::size_t>(at)] == Dim(1)) return Dim(0);
    return operand_strides[static_cast<std::size_t>(at)];
  };
  const auto extent_of = [&](int axis) { return result[static_cast<std::size_t>(axis)]; };
  // Columns: the operand has all of them at stride 1, or none.
  Dim col_stride = 1;
  bool by_col = false, any_col = false;
  for (std::size_t k = shape.col_axes.size(); k-- > 0;) {
    const int axis = shape.col_axes[k];
    if (extent_of(axis) == Dim(1)) continue;
    const Dim s = stride_of(axis);
    if (!any_col) by_col = !(s == Dim(0));
    any_col = true;
    if (by_col ? !(s == col_stride) : !(s == Dim(0))) return std::nullopt;
    col_stride *= extent_of(axis);
  }
  // Rows: extents and strides from the innermost outwards. Neighbouring axes that have the same effect are merged.
  struct Axis {
    Dim extent, stride;
  };
  std::vector<Axis> rows;
  for (std::size_t k = shape.row_axes.size(); k-- > 0;) {
    const Dim extent = extent_of(shape.row_axes[k]), stride = stride_of(shape.row_axes[k]);
    if (extent == Dim(1)) continue;
    if (!rows.empty() && ((rows.back().stride == Dim(0) && stride == Dim(0)) ||
                          (!(rows.back().stride == Dim(0)) && stride == rows.back().stride * rows.back().extent))) {
      rows.back().extent *= extent;
    } else {
      rows.push_back({extent, stride});
    }
  }
  FormArg form;
  const auto make = [&](const char* name, DimList members) {
    form.form = name;
    form.members = std::move(members);
    return form;
  };
  if (rows.empty() || (rows.size() == 1 && rows[0].stride == Dim(0))) return by_col ? make("PerCol", {}) : make("Single", {});
  if (rows.size() == 1) return by_col ? make("Rows", {rows[0].stride}) : make("PerRow", {1, rows[0].stride});
  // The operand repeats over the inner rows.
  if (rows.size() == 2 && rows[0].stride == Dim(0)) {
    return by_col ? make("PerGroup", {rows[0].extent, rows[1].stride}) : make("PerRow", {rows[0].extent, rows[1].stride});
  }
  if (rows.size() == 2 && rows[1].stride == Dim(0) && by_col) return make("Repeat", {rows[0].extent, rows[0].stride});
  return std::nullopt;
}

/// x0 + x1, both of `type`, which x0 of `epilogue` becomes; `bias` is the number of x1 then.
static Expr after_bias(const std::optional<Expr>& epilogue, int bias, ElementType type) {
  Expr sum;
  sum.finish(sum.apply(Fn::Add, sum.input(0, type), sum.input(1, type)));
  if (!epilogue) return sum;
  std::vector<int> others(static_cast<std::size_t>(bias));
  std::iota(others.begin(), others.end(), 0);
  return compose(*epilogue, 0, sum, others, {0, bias});
}

EpilogueArg KernelQuery::epilogue(const EpilogueShape& shape, StepBuilder& step, std::optional<PointerArg> bias) {
  lowerer_.applies_epilogue_ = true;
  EpilogueArg arg;
  if (!node_.epilogue && !bias) return arg;
  arg.expr = lowerer_.add_expr(bias ? after_bias(node_.epilogue, node_.epilogue_operands + 1, bias->as) : *node_.epilogue);
  const Extents& result = graph_[node_.outputs[0]].type.extents;
  const int own = node_.own_inputs();
  for (int i = 0; i < node_.epilogue_operands; ++i) {
    const ValueId v = node_.inputs[static_cast<std::size_t>(own + i)];
    const Extents& extents = graph_[v].type.extents;
    View view;
    // Images are read in the result's layout. An operand with one value for each channel may have any layout.
    const bool image = shape.col_axes.size() == 1 && shape.col_axes[0] == 1 && result.size() >= 3 && extents.size() == result.size();
    if (image && !graph_[v].constant) {
      const Layout layout = extents == result ? out_layout(0) : Layout{true, extents[1]};
      view = lowerer_.view_of(*lowerer_.scope_, v, &layout);
    } else {
      const Layout row_major;
      view = lowerer_.view_of(*lowerer_.scope_, v, &row_major);
    }
    auto form = epilogue_operand(shape, result, extents, view.strides());
    ONNXC_CHECK(form.has_value(), "fuse_expressions fuses operands that have a form");
    form->pointer = view.pointer;
    const bool same_places = extents == result && held_bits(view.element) == held_bits(graph_[node_.outputs[0]].type.element);
    if (form->form == "Rows" && same_places) step.may_share(this->result(), view);
    arg.operands.push_back(std::move(*form));
  }
  if (bias) arg.operands.push_back({"PerCol", *bias, {}, {}});
  return arg;
}

EpilogueArg KernelQuery::epilogue(const Expr& expr, std::vector<FormArg> operands) {
  return {lowerer_.add_expr(expr), std::move(operands), {}};
}

View KernelQuery::result() const { return lowerer_.scope_->views[node_.outputs[0]].front(); }

View KernelQuery::before_epilogue(const View& y, ElementType element) {
  if (!node_.epilogue || y.element == element) return y;
  return {workspace("sums", element, storage_elements(y.extents, y.layout)), element, y.extents, y.layout};
}

void KernelQuery::apply_epilogue(View result) { apply_epilogue(result, result); }
void KernelQuery::apply_epilogue(View result, View from) {
  lowerer_.applies_epilogue_ = true;
  if (!node_.epilogue) return;
  std::vector<View> operands{std::move(from)};
  operands[0].pointer.writes = false;
  for (int i = 0; i < node_.epilogue_operands; ++i) {
    const ValueId v = node_.inputs[static_cast<std::size_t>(node_.own_inputs() + i)];
    operands.push_back(lowerer_.view_of(*lowerer_.scope_, v, nullptr));
  }
  map_loop(*node_.epilogue, result, operands);
}

}  // namespace onnxc
