// An Einsum as a chain of products of two operands at a time.
#include <algorithm>
#include <string>

#include "compiler/ops/broadcast.h"
#include "compiler/ops/linear/einsum_equation.h"

namespace onnxc {
namespace {

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
  for (Label l : wanted) perm.push_back(static_cast<int64_t>(axis_of(from, l)));
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
    const std::size_t at = axis_of(other_labels, labels[k]);
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
    const std::size_t at = axis_of(other_labels, labels[k]);
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
    for (Label l : wanted) extents.push_back(b.extents(v)[axis_of(labels, l)]);
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

}  // namespace

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

}  // namespace onnxc
