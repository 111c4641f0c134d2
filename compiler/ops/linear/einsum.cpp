// Einsum: sums of products over labelled axes, as in "bij,bjk->bik".
//
// Any equation becomes a chain of steps with two operands each. If no label repeats within an operand, such a step is
//   - a product that broadcasts, if no label is summed:             "bi,bj->bij"   b: both   i: left   j: right
//   - a MatMul of [b, i, k] and [b, k, j] if labels k are summed:   "bik,jkb->bij"
// between Transposes and Reshapes. Axes that only one operand has and that are summed are summed first. What remains
// (diagonals) is a kernel that walks strides.
//
// Extents of one label broadcast between operands, as in numpy and ONNX Runtime; within an operand they are equal. If
// one is the constant 1, that operand loses the label: "ij,jk->ik" of [2, 1] and [3, 4] is "i,jk->ik". If only a run
// knows, a product broadcasts, and summed axes are expanded first, since a MatMul's inner extents must be equal:
//
//   "ij,jk->ik" of [2, n] and [m, 4]      MatMul(Expand([2, n], [2, broadcast(n, m)]), Expand([m, 4], [broadcast(n, m), 4]))
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "compiler/ops/broadcast.h"
#include "compiler/ops/dispatch.h"
#include "compiler/ops/kernel_query.h"
#include "runtime_stub/onnxc/scalar/einsum.hpp"

namespace onnxc {
namespace {

/// A letter, or -1, -2, ... for the axes of the ellipsis, counted from the last.
using Label = int;
using Labels = std::vector<Label>;

bool contains(const Labels& labels, Label l) { return std::find(labels.begin(), labels.end(), l) != labels.end(); }
bool has_repeats(const Labels& labels) {
  for (std::size_t k = 0; k < labels.size(); ++k) {
    if (std::count(labels.begin(), labels.end(), labels[k]) > 1) return true;
  }
  return false;
}

struct Equation {
  std::vector<Labels> terms;  ///< a label for each axis of each operand
  Labels output;
};

Equation parse_equation(const Node& node, const std::vector<int>& ranks) {
  std::string text = node.string("equation", "");
  const auto bad = [&](const std::string& what) {
    node.fail(ErrorKind::Invalid, fmt::format("equation '{}': {}", node.string("equation", ""), what));
  };
  std::erase(text, ' ');
  const std::size_t arrow = text.find("->");
  const std::string left = text.substr(0, arrow);
  Equation e;
  int widest = 0;
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  // The labels of a term. Its ellipsis represents as many axes as `rank` leaves.
  const auto parse_term = [&](std::string_view term, int rank) {
    const auto letters = static_cast<int>(std::count_if(term.begin(), term.end(), is_letter));
    const std::size_t dots = term.find("...");
    if (static_cast<std::size_t>(letters) + (dots == term.npos ? 0 : 3) != term.size())
      bad("only letters, '...', ',' and '->' are allowed");
    const int hidden = dots == term.npos ? 0 : rank - letters;
    if (rank != letters + hidden || hidden < 0) bad(fmt::format("'{}' has {} labels for {} axes", term, letters, rank));
    Labels labels;
    for (std::size_t i = 0; i < term.size(); ++i) {
      if (i == dots) {
        for (int k = hidden; k > 0; --k) labels.push_back(-k);
        i += 2;
      } else {
        if (!is_letter(term[i])) bad("an ellipsis is three dots");
        labels.push_back(term[i]);
      }
    }
    widest = std::max(widest, hidden);
    return labels;
  };
  std::size_t begin = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const std::size_t end = std::min(left.find(',', begin), left.size());
    if (i > 0 && begin > left.size()) bad(fmt::format("has fewer terms than the {} inputs", ranks.size()));
    e.terms.push_back(parse_term(std::string_view(left).substr(begin, end - begin), ranks[i]));
    begin = end + 1;
  }
  if (begin <= left.size()) bad(fmt::format("has more terms than the {} inputs", ranks.size()));
  Labels all;
  for (const Labels& t : e.terms) all.insert(all.end(), t.begin(), t.end());
  if (arrow != text.npos) {
    const std::string right = text.substr(arrow + 2);
    const auto letters = static_cast<int>(std::count_if(right.begin(), right.end(), is_letter));
    const bool dots = right.find("...") != right.npos;
    if (widest > 0 && !dots) bad("the axes of the ellipsis are missing on the right");
    e.output = parse_term(right, letters + (dots ? widest : 0));
    if (has_repeats(e.output)) bad("a label is twice on the right");
    for (Label l : e.output) {
      if (!contains(all, l)) bad("a label on the right is not on the left");
    }
  } else {
    for (int k = widest; k > 0; --k) e.output.push_back(-k);
    for (Label l = 'A'; l <= 'z'; ++l) {
      if (std::count(all.begin(), all.end(), l) == 1) e.output.push_back(l);
    }
  }
  return e;
}

Equation equation_of(const Graph& graph, const Node& node) {
  std::vector<int> ranks;
  for (ValueId v : node.inputs) ranks.push_back(graph[v].type.rank());
  return parse_equation(node, ranks);
}

std::size_t place_of(const Labels& labels, Label l) {
  return static_cast<std::size_t>(std::find(labels.begin(), labels.end(), l) - labels.begin());
}

/// The extent of a label within an operand, whose axes of one label are equal: the constant one, if there is one.
Dim own_extent(const Labels& labels, const Extents& extents, Label l) {
  for (std::size_t k = 0; k < labels.size(); ++k) {
    if (labels[k] == l && extents[k].is_constant()) return extents[k];
  }
  return extents[place_of(labels, l)];
}

/// The extent that results from broadcasting two extents that shape rules have checked.
Dim wider(Dim a, Dim b) {
  if (b == Dim(1) || a == b) return a;
  if (a == Dim(1)) return b;
  const bool repeats_a = may_repeat(a, b), repeats_b = may_repeat(b, a);
  if (repeats_a && repeats_b) return broadcast(a, b);
  return repeats_a || (!repeats_b && b.is_constant()) ? b : a;
}

/// The extent of a label over all operands.
Dim extent_of(const Equation& e, const std::vector<Extents>& in, Label l) {
  Dim extent = 1;
  for (std::size_t i = 0; i < e.terms.size(); ++i) {
    if (contains(e.terms[i], l)) extent = wider(extent, own_extent(e.terms[i], in[i], l));
  }
  return extent;
}

void infer_einsum(Inference& n) {
  std::vector<int> ranks;
  std::vector<Extents> in;
  for (int i = 0; i < n.node().own_inputs(); ++i) {
    if (n.element(i) != n.element(0)) n.fail(fmt::format("the operands are {} and {}", name(n.element(0)), name(n.element(i))));
    in.push_back(n.extents(i));
    ranks.push_back(n.rank(i));
  }
  const Equation e = parse_equation(n.node(), ranks);
  std::map<Label, std::vector<Extents>> of_label;  // one for each operand that has the label
  for (std::size_t i = 0; i < in.size(); ++i) {
    const Labels& labels = e.terms[i];
    for (std::size_t k = 0; k < labels.size(); ++k) {
      const Dim own = own_extent(labels, in[i], labels[k]);
      n.unify(in[i][k], own, "axes of one label differ");
      if (place_of(labels, labels[k]) == k) of_label[labels[k]].push_back({own});
    }
  }
  Extents out(e.output.size());
  for (const auto& [label, operands] : of_label) {
    const Dim extent = n.broadcast(operands)[0];
    if (contains(e.output, label)) out[place_of(e.output, label)] = extent;
  }
  n.output(0, n.element(0), std::move(out));
}

// ---- The kernel, for one or two operands

struct Loops {
  DimList extents;
  std::vector<DimList> strides;  ///< of each operand
  int64_t kept = 0;
};

Loops loops_of(const Node& node, const Equation& e, const std::vector<Extents>& in) {
  if (in.size() > 2) node.fail(ErrorKind::Unsupported, "has more than two operands");
  Labels order = e.output;
  for (const Labels& t : e.terms) {
    for (Label l : t) {
      if (!contains(order, l)) order.push_back(l);
    }
  }
  if (order.size() > 2 * kMaxRank)
    node.fail(ErrorKind::Unsupported, fmt::format("has {} labels; at most {} are supported", order.size(), 2 * kMaxRank));
  Loops loops;
  loops.kept = static_cast<int64_t>(e.output.size());
  for (Label l : order) loops.extents.push_back(extent_of(e, in, l));
  for (std::size_t i = 0; i < in.size(); ++i) {
    const DimList strides = strides_of(in[i], {});
    DimList of_label(order.size(), 0);
    for (std::size_t k = 0; k < in[i].size(); ++k) {
      const std::size_t at = place_of(order, e.terms[i][k]);
      of_label[at] += strides[k] * repeat_factor(own_extent(e.terms[i], in[i], e.terms[i][k]),
                                                 loops.extents[at]);  // a label that is twice walks the diagonal
    }
    loops.strides.push_back(std::move(of_label));
  }
  if (in.size() == 1) loops.strides.emplace_back(order.size(), 0);
  return loops;
}

Ints to_ints(const DimList& list) {
  Ints ints;
  for (Dim d : list) ints[ints.size++] = d.value();
  return ints;
}

void evaluate_einsum(Evaluation& e) {
  std::vector<int> ranks;
  std::vector<Extents> in;
  for (int i = 0; i < e.node().own_inputs(); ++i) {
    in.push_back(to_extents(e.input(i).shape));
    ranks.push_back(e.rank(i));
  }
  const Loops loops = loops_of(e.node(), parse_equation(e.node(), ranks), in);
  for_number(e.type(0), [&]<class T>() {
    scalar::einsum(e.out<T>().data, loops.kept, to_ints(loops.extents), e.in<T>(0).data, to_ints(loops.strides[0]),
                   in.size() > 1 ? e.in<T>(1).data : nullptr, to_ints(loops.strides[1]));
  });
}

void lower_einsum(KernelQuery& l) {
  std::vector<Extents> in;
  for (int i = 0; i < l.node().own_inputs(); ++i) in.push_back(l.extents(i));
  const Loops loops = loops_of(l.node(), equation_of(l.graph(), l.node()), in);
  const View a = l.in(0), b = in.size() > 1 ? l.in(1) : View{}, y = l.out(0);
  auto step = l.call("scalar_einsum");
  step.pointer(y).dim(loops.kept).dims(loops.extents).pointer(a).dims(loops.strides[0]);
  if (in.size() > 1) step.pointer(b);
  else step.null();
  step.dims(loops.strides[1]).macs(element_count(loops.extents)).emit();
}

// ---- Decomposition

std::string text_of(const Equation& e) {
  // Every label gets a letter of its own. Ellipses are resolved by now.
  Labels seen;
  std::string text;
  const auto write = [&](const Labels& labels) {
    for (Label l : labels) {
      auto at = std::find(seen.begin(), seen.end(), l);
      if (at == seen.end()) at = seen.insert(seen.end(), l);
      const auto index = static_cast<int>(at - seen.begin());
      text += static_cast<char>(index < 26 ? 'a' + index : 'A' + index - 26);
    }
  };
  for (std::size_t i = 0; i < e.terms.size(); ++i) {
    if (i > 0) text += ',';
    write(e.terms[i]);
  }
  text += "->";
  write(e.output);
  return text;
}

/// The operand with its axes in the order of `wanted`, a permutation of its labels.
ValueId transposed(GraphBuilder& b, ValueId x, const Labels& from, const Labels& wanted) {
  std::vector<int64_t> perm;
  for (Label l : wanted) perm.push_back(static_cast<int64_t>(place_of(from, l)));
  return std::is_sorted(perm.begin(), perm.end()) ? x : b.op("Transpose", {x}, {{"perm", perm}});
}

ValueId reshaped(GraphBuilder& b, ValueId x, const Extents& extents) {
  return b.extents(x) == extents ? x : b.op("Reshape", {x, b.shape(extents)}, {{"allowzero", int64_t{1}}});
}

/// Sums the axes that neither the other operand nor the output has. Returns false if that cannot be expressed.
bool sum_alone(GraphBuilder& b, ValueId& x, Labels& labels, const Labels& other, const Labels& output) {
  std::vector<int64_t> axes;
  Labels rest;
  for (std::size_t k = 0; k < labels.size(); ++k) {
    if (contains(other, labels[k]) || contains(output, labels[k])) rest.push_back(labels[k]);
    else axes.push_back(static_cast<int64_t>(k));
  }
  if (axes.empty()) return true;
  if (find_operator("", "ReduceSum") == nullptr) return false;
  x = b.op("ReduceSum", {x, b.integers(std::move(axes))}, {{"keepdims", int64_t{0}}});
  labels = std::move(rest);
  return true;
}

/// Removes axes of constant extent 1 from an operand if they broadcast to those of the other operand.
void squeeze_broadcast(GraphBuilder& b, ValueId& x, Labels& labels, ValueId other, const Labels& other_labels) {
  std::vector<int64_t> axes;
  Labels rest;
  for (std::size_t k = 0; k < labels.size(); ++k) {
    const std::size_t at = place_of(other_labels, labels[k]);
    if (at < other_labels.size() && b.extents(x)[k] == Dim(1) && !(b.extents(other)[at] == Dim(1))) axes.push_back(static_cast<int64_t>(k));
    else rest.push_back(labels[k]);
  }
  if (axes.empty()) return;
  x = b.op("Squeeze", {x, b.integers(std::move(axes))});
  labels = std::move(rest);
}

/// The operand, with axes that it shares with the other operand and that are summed expanded to the other's extents
/// where these may be larger.
ValueId expanded(GraphBuilder& b, ValueId x, const Labels& labels, ValueId other, const Labels& other_labels, const Labels& output) {
  Extents wide = b.extents(x);
  bool repeats = false;
  for (std::size_t k = 0; k < labels.size(); ++k) {
    const std::size_t at = place_of(other_labels, labels[k]);
    if (at == other_labels.size() || contains(output, labels[k])) continue;
    const Dim extent = wider(wide[k], b.extents(other)[at]);
    repeats = repeats || may_repeat(wide[k], extent);
    wide[k] = extent;
  }
  return repeats ? b.op("Expand", {x, b.shape(wide)}) : x;
}

std::optional<ValueId> contract(GraphBuilder& b, ValueId x, Labels left, ValueId y, Labels right, const Labels& output) {
  squeeze_broadcast(b, x, left, y, right);
  squeeze_broadcast(b, y, right, x, left);
  if (!sum_alone(b, x, left, right, output) || !sum_alone(b, y, right, left, output)) return std::nullopt;
  Labels batch, m, n, k;
  for (Label l : output) (contains(left, l) ? contains(right, l) ? batch : m : n).push_back(l);
  for (Label l : left) {
    if (!contains(output, l)) k.push_back(l);
  }
  const auto joined = [](std::initializer_list<Labels> lists) {
    Labels all;
    for (const Labels& l : lists) all.insert(all.end(), l.begin(), l.end());
    return all;
  };
  if (k.empty()) {
    // Both operands in the order of the output, with an axis of extent 1 for each missing label.
    const auto aligned = [&](ValueId v, const Labels& labels) {
      Labels order;
      std::vector<int64_t> missing;
      for (std::size_t i = 0; i < output.size(); ++i) {
        if (contains(labels, output[i])) order.push_back(output[i]);
        else missing.push_back(static_cast<int64_t>(i));
      }
      v = transposed(b, v, labels, order);
      return missing.empty() ? v : b.op("Unsqueeze", {v, b.integers(std::move(missing))});
    };
    const ValueId p = aligned(x, left), q = aligned(y, right);
    return b.op("Mul", {p, q});
  }
  if (output == joined({batch, n, m}) && !m.empty() && !n.empty()) {
    std::swap(x, y);
    std::swap(left, right);
    std::swap(m, n);
  }
  const auto extents_of = [&](ValueId v, const Labels& labels, const Labels& wanted) {
    Extents extents;
    for (Label l : wanted) extents.push_back(b.extents(v)[place_of(labels, l)]);
    return extents;
  };
  x = expanded(b, x, left, y, right, output);
  y = expanded(b, y, right, x, left, output);
  const Extents m_extents = extents_of(x, left, m), n_extents = extents_of(y, right, n);
  // The axes of the matrices are joined to two. Those of the batch stay, and broadcast.
  const auto matrix = [&](ValueId v, const Labels& labels, const Labels& rows, const Labels& columns) {
    Extents extents = extents_of(v, labels, batch);
    extents.push_back(element_count(extents_of(v, labels, rows)));
    extents.push_back(element_count(extents_of(v, labels, columns)));
    return reshaped(b, transposed(b, v, labels, joined({batch, rows, columns})), extents);
  };
  x = matrix(x, left, m, k);
  y = matrix(y, right, k, n);
  const ValueId product = b.op("MatMul", {x, y});
  Extents result = b.extents(product);
  result.resize(batch.size());
  result.insert(result.end(), m_extents.begin(), m_extents.end());
  result.insert(result.end(), n_extents.begin(), n_extents.end());
  return transposed(b, reshaped(b, product, result), joined({batch, m, n}), output);
}

std::optional<std::vector<ValueId>> decompose_einsum(GraphBuilder& b, const Node& node) {
  const Equation e = equation_of(b.graph(), node);
  if (node.inputs.size() > 2) {
    ValueId x = node.inputs[0];
    Labels labels = e.terms[0];
    for (std::size_t i = 1; i < node.inputs.size(); ++i) {
      // Labels that a later operand or the output needs are kept.
      Labels kept;
      for (const Labels& term : {labels, e.terms[i]}) {
        for (Label l : term) {
          bool needed = contains(e.output, l);
          for (std::size_t j = i + 1; j < e.terms.size(); ++j) needed = needed || contains(e.terms[j], l);
          if (needed && !contains(kept, l)) kept.push_back(l);
        }
      }
      if (i + 1 == node.inputs.size()) kept = e.output;
      const Equation part{{labels, e.terms[i]}, kept};
      x = b.op("Einsum", {x, node.inputs[i]}, {{"equation", text_of(part)}});
      labels = kept;
    }
    return std::vector<ValueId>{x};
  }
  for (const Labels& term : e.terms) {
    if (has_repeats(term)) return std::nullopt;
  }
  if (node.inputs.size() == 1) {
    ValueId x = node.inputs[0];
    Labels labels = e.terms[0];
    if (!sum_alone(b, x, labels, {}, e.output)) return std::nullopt;
    return std::vector<ValueId>{transposed(b, x, labels, e.output)};
  }
  if (const auto result = contract(b, node.inputs[0], e.terms[0], node.inputs[1], e.terms[1], e.output))
    return std::vector<ValueId>{*result};
  return std::nullopt;
}

}  // namespace

extern const Operator op_Einsum;
const Operator op_Einsum{.name = "Einsum",
                         .min_inputs = 1,
                         .max_outputs = 1,
                         .infer = infer_einsum,
                         .decompose = decompose_einsum,
                         .evaluate = evaluate_einsum,
                         .lower = lower_einsum};

}  // namespace onnxc
