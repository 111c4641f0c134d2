#include "compiler/ops/training/gradient_rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/ops/reduce/reduce.h"
#include "compiler/ops/training/expr_adjoint.h"
#include "compiler/support/error_codes.h"

namespace onnxc {
namespace {

using List = std::vector<int64_t>;

ValueId reshape_to(GraphBuilder& b, ValueId v, Extents to) {
  return b.extents(v) == to ? v : b.op("Reshape", {v, b.shape(to)}, {{"allowzero", int64_t{1}}});
}
ValueId expand_to(GraphBuilder& b, ValueId v, Extents to) { return b.extents(v) == to ? v : b.op("Expand", {v, b.shape(to)}); }
ValueId swap_last(GraphBuilder& b, ValueId v) {
  List perm;
  for (int64_t k = 0; k < b.rank(v); ++k) perm.push_back(k);
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return b.op("Transpose", {v}, {{"perm", perm}});
}

struct Rule {
  GraphBuilder& b;
  const TapeEntry& entry;
  int i;
  ValueId g;  ///< the derivative with respect to output 0
  const Node& node = *entry.node;

  ValueId x(int k = 0) const { return entry.inputs[static_cast<std::size_t>(k)]; }
  ValueId y() const { return entry.outputs[0]; }
  [[noreturn]] void refuse(const std::string& found) const { node.fail(ErrorCode::NoGradient, "Gradient: " + found); }
  int64_t axis(int64_t otherwise, int rank) const {
    const int64_t a = node.integer("axis", otherwise);
    return a < 0 ? a + rank : a;
  }

  ValueId elementwise(const Expr& e) {
    const auto last = static_cast<int>(entry.inputs.size());
    Expr d;
    try {
      d = adjoint(e, i, last);
    } catch (const Error& error) {
      refuse(error.what());
    }
    if (d.empty()) return kAbsent;
    // g is one of them, and has the shape of the result.
    std::vector<ValueId> used;
    for (Expr::Term& t : d.terms) {
      if (t.kind != Expr::Kind::Input) continue;
      used.push_back(t.args[0] == last ? g : x(t.args[0]));
      t.args[0] = static_cast<int>(used.size()) - 1;
    }
    return sum_to(b, node, b.map(std::move(d), std::move(used)), b.extents(x(i)));
  }

  ValueId matmul() {
    ValueId p = x(0), q = x(1), h = g;
    if (b.rank(p) == 1) {
      p = b.op("Unsqueeze", {p, b.integers({0})});
      h = b.op("Unsqueeze", {h, b.integers({b.rank(q) == 1 ? 0 : b.rank(h) - 1})});
    }
    if (b.rank(q) == 1) {
      q = b.op("Unsqueeze", {q, b.integers({1})});
      h = b.op("Unsqueeze", {h, b.integers({b.rank(h)})});
    }
    const ValueId d = i == 0 ? b.op("MatMul", {h, swap_last(b, q)}) : b.op("MatMul", {swap_last(b, p), h});
    return reshape_to(b, sum_to(b, node, d, b.extents(i == 0 ? p : q)), b.extents(x(i)));
  }

  ValueId transpose() {
    const int rank = b.rank(x());
    List perm = node.integers("perm"), inverse(static_cast<std::size_t>(rank));
    if (perm.empty()) {
      for (int64_t k = rank; k-- > 0;) perm.push_back(k);
    }
    for (std::size_t k = 0; k < perm.size(); ++k) inverse[static_cast<std::size_t>(perm[k])] = static_cast<int64_t>(k);
    return b.op("Transpose", {g}, {{"perm", inverse}});
  }

  ValueId reduction() {
    const auto axes = reduced_axes(b.graph(), node);
    if (!axes) refuse("the axes are not known");
    const Extents in = b.extents(x());
    Extents keep = in;
    for (int a : *axes) keep[static_cast<std::size_t>(a)] = 1;
    const ValueId h = reshape_to(b, g, keep), value = x();
    const ElementType type = b.type(value).element;
    const std::string prologue = node.string("prologue", "");
    if (node.op == "ReduceSum") {
      if (prologue == "abs") return b.op("Mul", {h, b.op("Sign", {value})});
      if (prologue == "square") return b.op("Mul", {h, b.op("Mul", {b.number(type, 2), value})});
      if (prologue == "exp") return b.op("Mul", {h, b.op("Exp", {value})});
      return expand_to(b, h, in);
    }
    if (node.op == "ReduceProd") {
      // The product of all other elements along the axis: of those before times those after.
      const bool all = axes->size() == in.size();
      if (axes->size() != 1 && !all) refuse("ReduceProd of several axes that are not all");
      const ValueId line = all ? b.op("Reshape", {value, b.integers({-1})}) : value, axis = b.integers({all ? 0 : (*axes)[0]});
      const ValueId before = b.op("CumProd", {line, axis}, {{"exclusive", int64_t{1}}});
      const ValueId after = b.op("CumProd", {line, axis}, {{"exclusive", int64_t{1}}, {"reverse", int64_t{1}}});
      return b.op("Mul", {h, reshape_to(b, b.op("Mul", {before, after}), in)});
    }
    // If several elements are the largest, each gets an equal share.
    const ValueId chosen = b.op("Cast", {b.op("Equal", {value, reshape_to(b, y(), keep)})}, {{"to", static_cast<int64_t>(type)}});
    const ValueId count = b.op("ReduceSum", {chosen, b.integers({axes->begin(), axes->end()})}, {{"keepdims", int64_t{1}}});
    return b.op("Mul", {chosen, b.op("Div", {h, count})});
  }

  ValueId softmax() {
    const ValueId axes = b.integers({axis(-1, b.rank(x()))});
    const auto total = [&](ValueId v) { return b.op("ReduceSum", {v, axes}, {{"keepdims", int64_t{1}}}); };
    if (node.op == "LogSoftmax") return b.op("Sub", {g, b.op("Mul", {b.op("Exp", {y()}), total(g)})});
    return b.op("Mul", {y(), b.op("Sub", {g, total(b.op("Mul", {g, y()}))})});
  }

  ValueId concat() {
    const int64_t k = axis(0, b.rank(y()));
    Extents sizes;
    for (ValueId v : entry.inputs) sizes.push_back(b.extents(v)[static_cast<std::size_t>(k)]);
    return b.ops("Split", {g, b.shape(sizes)}, static_cast<int>(sizes.size()), {{"axis", k}})[static_cast<std::size_t>(i)];
  }

  ValueId gather() {
    const int rank = b.rank(x());
    if (axis(0, rank) != 0) refuse("Gather along an axis other than 0");
    const ValueId zeros = b.op("Expand", {b.number(b.type(x()).element, 0), b.shape(b.extents(x()))});
    const ValueId indices = b.op("Cast", {x(1)}, {{"to", static_cast<int64_t>(ElementType::I64)}});
    return b.op("ScatterND", {zeros, b.op("Unsqueeze", {indices, b.integers({-1})}), g}, {{"reduction", std::string("add")}});
  }
};

}  // namespace

ValueId sum_to(GraphBuilder& b, const Node& node, ValueId g, Extents to) {
  const Extents from = b.extents(g);
  const std::size_t lead = from.size() - to.size();
  List axes;
  for (std::size_t k = 0; k < from.size(); ++k) {
    if (k >= lead && to[k - lead] == from[k]) continue;
    if (k >= lead && !(to[k - lead] == Dim(1)))
      node.fail(ErrorCode::OpenDimension,
                fmt::format("Gradient: whether {} was broadcast to {} is only known when the model runs", text(to), text(from)),
                "fix the dimensions with --dim");
    axes.push_back(static_cast<int64_t>(k));
  }
  if (!axes.empty()) g = b.op("ReduceSum", {g, b.integers(axes)}, {{"keepdims", int64_t{1}}});
  return reshape_to(b, g, to);
}

ValueId differentiate(GraphBuilder& b, const TapeEntry& entry, int i, const std::vector<ValueId>& by_outputs) {
  const Node& node = *entry.node;
  Rule rule{b, entry, i, by_outputs[0]};
  if (node.is_map()) return rule.elementwise(*node.epilogue);
  const Operator* op = find_operator(node);
  if (op != nullptr && op->express != nullptr) return rule.elementwise(op->express(b.graph(), node));
  const auto is_any = [&](std::initializer_list<std::string_view> names) {
    return node.domain.empty() && std::find(names.begin(), names.end(), node.op) != names.end();
  };
  if (is_any({"Shape", "Size"})) return kAbsent;
  if (node.is("Split")) {
    std::vector<ValueId> parts;
    for (std::size_t k = 0; k < entry.outputs.size(); ++k) {
      const ValueId y = entry.outputs[k];
      if (y == kAbsent) rule.refuse("Split without all of its outputs");
      parts.push_back(by_outputs[k] != kAbsent ? by_outputs[k] : b.op("Expand", {b.number(b.type(y).element, 0), b.shape(b.extents(y))}));
    }
    return i == 0 ? b.op("Concat", parts, {{"axis", node.integer("axis", 0)}}) : kAbsent;
  }
  if (is_any({"MatMul"})) return rule.matmul();
  if (is_any({"Concat"})) return rule.concat();
  if (is_any({"Identity", "Reshape", "Squeeze", "Unsqueeze", "Flatten", "Transpose", "ReduceSum", "ReduceProd", "ReduceMax", "ReduceMin",
              "Softmax", "LogSoftmax", "Expand", "Gather"})) {
    if (i != 0) return kAbsent;  // axes, shapes, indices
    if (node.op == "Transpose") return rule.transpose();
    if (node.op.starts_with("Reduce")) return rule.reduction();
    if (node.op.ends_with("Softmax")) return rule.softmax();
    if (node.op == "Expand") return sum_to(b, node, rule.g, b.extents(rule.x()));
    if (node.op == "Gather") return rule.gather();
    return reshape_to(b, rule.g, b.extents(rule.x()));
  }
  rule.refuse(fmt::format("operator {} has no derivative rule", node.full_op()));
}

}  // namespace onnxc
