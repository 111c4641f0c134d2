// How an epilogue reads its operands: the result is seen as a matrix, and an operand that repeats over its rows or its
// columns has a form of its own.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <span>

#include "compiler/lowering/lowerer.h"
#include "compiler/lowering/share_epilogues.h"
#include "compiler/ops/broadcast.h"
#include "compiler/ops/kernel_query.h"
#include "compiler/support/sha256.h"

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

namespace {

constexpr std::size_t kMostOperands = 2, kMostNumbers = 8;  // of onnxc::Epilogue with onnxc::Numbers

bool is_number(const Expr::Term& term) { return term.kind == Expr::Kind::Constant && term.type == ElementType::F32; }

/// Rebuilds an expression with the operands of sums and products in one order, which changes no result: by what is above them, numbers
/// apart. So relu(x0 + x1) and relu(x1 + x0) are one expression, and so are two that differ in numbers.
class InOrder {
 public:
  explicit InOrder(const Expr& expr) : expr_(expr), texts_(expr.terms.size()), moved_(expr.terms.size(), -1) {
    for (std::size_t i = 0; i < texts_.size(); ++i) texts_[i] = outline_text(expr.terms[i]);
  }

  Expr rebuild() {
    result_.finish(moved(static_cast<int>(expr_.terms.size()) - 1));
    return std::move(result_);
  }

 private:
  static constexpr std::size_t kLongest = 256;
  static bool commutes(const Expr::Term& term) { return term.kind == Expr::Kind::Apply && (term.fn == Fn::Add || term.fn == Fn::Mul); }
  const std::string& text(int i) const { return texts_[static_cast<std::size_t>(i)]; }

  std::string outline_text(const Expr::Term& term) const {
    switch (term.kind) {
      case Expr::Kind::Input: return fmt::format("x{}", term.args[0]);
      case Expr::Kind::Constant: return is_number(term) ? "~" : fmt::format("~{} {}", static_cast<int>(term.type), term.bits);
      case Expr::Kind::Apply: break;
    }
    std::vector<std::string> args;
    for (int k = 0; k < info(term.fn).arity; ++k) args.push_back(text(term.args[k]));
    if (commutes(term)) std::ranges::sort(args);
    const std::string all = fmt::format("{}{}({})", info(term.fn).name, static_cast<int>(term.type), fmt::join(args, ","));
    return all.size() <= kLongest ? all : sha256(std::as_bytes(std::span(all)));  // a term that is used twice would double it
  }

  int moved(int i) {
    int& to = moved_[static_cast<std::size_t>(i)];
    if (to >= 0) return to;
    Expr::Term term = expr_.terms[static_cast<std::size_t>(i)];
    if (commutes(term) && text(term.args[1]) < text(term.args[0])) std::swap(term.args[0], term.args[1]);
    if (term.kind == Expr::Kind::Apply) {
      for (int k = 0; k < info(term.fn).arity; ++k) term.args[k] = moved(term.args[k]);
    }
    result_.terms.push_back(term);
    return to = static_cast<int>(result_.terms.size()) - 1;
  }

  const Expr& expr_;
  std::vector<std::string> texts_;
  std::vector<int> moved_;
  Expr result_;
};

/// The expression with all numbers alike: what epilogues of one instance have in common.
std::vector<Expr::Term> outline_of(const Expr& expr) {
  std::vector<Expr::Term> terms = expr.terms;
  for (Expr::Term& term : terms) {
    if (is_number(term)) term.bits = 0;
  }
  return terms;
}

bool same_forms(const EpilogueArg& a, const EpilogueArg& b, const Program& program) {
  return std::ranges::equal(a.operands, b.operands, [&](const FormArg& x, const FormArg& y) {
    return x.form == y.form && program[x.pointer.buffer].element == program[y.pointer.buffer].element && x.pointer.as == y.pointer.as;
  });
}

/// Epilogues of one kernel that differ in numbers alone.
struct Group {
  std::string kernel;
  std::vector<Expr::Term> outline;
  std::vector<EpilogueArg*> members;
};

/// Makes one expression of a group's. The numbers that differ become its last inputs.
void merge(Program& program, const Group& group) {
  const auto expr_of = [&](const EpilogueArg& e) -> const Expr& { return program.exprs[static_cast<std::size_t>(e.expr)]; };
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < group.outline.size(); ++i) {
    const uint64_t first = expr_of(*group.members[0]).terms[i].bits;
    if (std::ranges::any_of(group.members, [&](const EpilogueArg* e) { return expr_of(*e).terms[i].bits != first; })) places.push_back(i);
  }
  const std::size_t operands = group.members[0]->operands.size();
  if (places.empty() || places.size() > kMostNumbers || operands > kMostOperands) return;
  Expr merged = expr_of(*group.members[0]);
  for (std::size_t k = 0; k < places.size(); ++k)
    merged.terms[places[k]] = {Expr::Kind::Input, ElementType::F32, {}, {static_cast<int>(1 + operands + k), -1, -1}};
  for (EpilogueArg* e : group.members) {
    for (const std::size_t i : places) e->numbers.push_back(std::bit_cast<float>(static_cast<uint32_t>(expr_of(*e).terms[i].bits)));
  }
  for (EpilogueArg* e : group.members) e->expr = static_cast<int>(program.exprs.size());
  program.exprs.push_back(std::move(merged));
}

template <class Visit>
void for_each_expr(Program& program, Visit visit) {
  for_each_call(program.steps, [&](Call& call, int) {
    for (TemplateArg& arg : call.template_args) {
      if (auto* const expr = std::get_if<ExprType>(&arg)) visit(expr->number);
    }
    for (Arg& arg : call.args) {
      if (auto* const epilogue = std::get_if<EpilogueArg>(&arg); epilogue != nullptr && epilogue->expr >= 0) visit(epilogue->expr);
    }
  });
}

/// Leaves each expression that calls name once, in the order of calls.
void keep_used(Program& program) {
  std::vector<Expr> kept;
  for_each_expr(program, [&](int& number) {
    const Expr& expr = program.exprs[static_cast<std::size_t>(number)];
    const auto found = std::ranges::find(kept, expr);
    number = static_cast<int>(found - kept.begin());
    if (found == kept.end()) kept.push_back(expr);
  });
  program.exprs = std::move(kept);
}

}  // namespace

void share_epilogues(Program& program) {
  for (Expr& expr : program.exprs) expr = InOrder(expr).rebuild();
  std::vector<Group> groups;
  for_each_call(program.steps, [&](Call& call, int) {
    for (Arg& arg : call.args) {
      auto* const epilogue = std::get_if<EpilogueArg>(&arg);
      if (epilogue == nullptr || epilogue->expr < 0) continue;
      const std::vector<Expr::Term> outline = outline_of(program.exprs[static_cast<std::size_t>(epilogue->expr)]);
      auto group = std::ranges::find_if(groups, [&](const Group& g) {
        return g.kernel == call.kernel && g.outline == outline && same_forms(*g.members[0], *epilogue, program);
      });
      if (group == groups.end()) group = groups.insert(groups.end(), Group{call.kernel, outline, {}});
      group->members.push_back(epilogue);
    }
  });
  for (const Group& group : groups) merge(program, group);
  keep_used(program);
}

}  // namespace onnxc
