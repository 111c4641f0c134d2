// Operators that only rename axes: Reshape, Flatten, Squeeze, Unsqueeze, Identity. Their result is the input's memory.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/ops/kernel_query.h"
#include "compiler/ops/run_time_axes.h"

namespace onnxc {
namespace {

void copy_bytes(Evaluation& e) {
  e.output(0).bytes = e.input(0).bytes;
  e.output(0).strings = e.input(0).strings;
}

void lower_as_view(KernelQuery& l) { l.alias(0, 0); }

/// The elements of small tensors are kept by any change of shape.
void pass_elements(Inference& n) {
  if (auto elements = n.value(0).elements) n.output_elements(0, *elements);
}

// ---- Reshape

/// Before opset 5 the shape was an attribute.
void resolve_reshape(GraphBuilder& b, Node& node) {
  if (node.version >= 5 || !node.has("shape")) return;
  node.inputs.resize(1);
  node.inputs.push_back(b.integers(node.integers("shape")));
  node.attributes.erase("shape");
  node.attributes.erase("consumed_inputs");
}

void infer_reshape(Inference& n) {
  const Extents& in = n.extents(0);
  const DimList wanted = n.known_elements(1, "the new shape");
  const bool allow_zero = n.node().integer("allowzero", 0) != 0;
  Extents out;
  int unknown = -1;
  Dim rest = 1;
  std::vector<std::size_t> maybe;
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    Dim d = wanted[k];
    if (d.depends_on_run() && d.min_value() < 1) {  // may be -1, or 0 for a copy
      if (d.is_symbol() && d.max_value() < 0) n.fail("the new shape has a negative extent");
      maybe.push_back(k);
      out.push_back(d);
      continue;
    }
    if (d == Dim(-1)) {
      if (unknown >= 0) n.fail("the new shape has two -1");
      unknown = static_cast<int>(k);
      out.push_back(1);
      continue;
    }
    if (d == Dim(0) && !allow_zero) {
      if (k >= in.size()) n.fail(fmt::format("the new shape copies axis {} of a tensor of rank {}", k, in.size()));
      d = in[k];
    }
    if (d.max_value() < 0) n.fail(fmt::format("the new shape has extent {}", d.text()));
    out.push_back(d);
    rest *= d;
  }
  const Dim total = element_count(in);
  if (!maybe.empty()) {
    // An extent of 0 copies the input's, and one of -1 takes what the others leave. Run-time symbols hold the
    // results.
    for (std::size_t k : maybe) {
      const Dim copied = allow_zero || k >= in.size() ? Dim(0) : in[k];
      if (!(copied == Dim(0))) out[k] = n.let(select(indicator_equal(out[k], 0), copied, out[k]) + 1, "asked") - 1;  // -1 is kept
    }
    DimList open;
    Dim negatives = unknown >= 0 ? 1 : 0, positive = rest;
    for (std::size_t k : maybe) {
      const Dim negative = n.let(indicator_equal(out[k], -1), "open");
      open.push_back(negative);
      negatives += negative;
      positive *= n.let(select(negative, 1, out[k]), "known");
    }
    n.unify(max(negatives, 1), 1, "the new shape has more than one -1");
    const Dim left = n.let(floor_div(total, max(n.let(positive, "product"), 1)), "left");
    for (std::size_t i = 0; i < maybe.size(); ++i) out[maybe[i]] = select(open[i], left, out[maybe[i]]);
    if (unknown >= 0) out[static_cast<std::size_t>(unknown)] = left;
    Dim all = 1;
    for (Dim& d : out) {
      d = n.let(d, "r");
      all *= d;
    }
    n.unify(all, total, "the number of elements changes");
    Dim::state_limit(all, total);
    pass_elements(n);
    return n.output(0, n.element(0), std::move(out));
  }
  if (unknown >= 0) {
    // What is copied is on both sides, and may be 0.
    const auto is_copied = [&](std::size_t k) { return !allow_zero && k < wanted.size() && wanted[k] == Dim(0); };
    Dim given = 1, others = 1;
    for (std::size_t k = 0; k < in.size(); ++k) given *= is_copied(k) ? Dim(1) : in[k];
    for (std::size_t k = 0; k < out.size(); ++k) others *= is_copied(k) ? Dim(1) : out[k];
    if (others == Dim(0)) n.fail("the new shape has both -1 and 0");
    if (given.is_constant() && others.is_constant() && given.value() % others.value() != 0)
      n.fail(fmt::format("{} elements do not fit a multiple of {}", given.text(), others.text()));
    Dim& left = out[static_cast<std::size_t>(unknown)];
    left = floor_div(given, others);
    if (!(others * left == given)) n.unify(given, others * left, "the number of elements changes");
  } else if (!(total == rest)) {
    if (total.is_constant() && rest.is_constant()) n.fail(fmt::format("{} cannot become {}", text(in), text(out)));
    n.unify(total, rest, "the number of elements changes");
  }
  pass_elements(n);
  n.output(0, n.element(0), std::move(out));
}

// ---- Flatten

void infer_flatten(Inference& n) {
  const Extents& in = n.extents(0);
  const int rank = static_cast<int>(in.size());
  int64_t axis = n.node().integer("axis", 1);
  if (axis < -rank || axis > rank) n.fail(fmt::format("axis {} is out of range for rank {}", axis, rank));
  if (axis < 0) axis += rank;
  Dim outer = 1, inner = 1;
  for (int k = 0; k < rank; ++k) (k < axis ? outer : inner) *= in[static_cast<std::size_t>(k)];
  n.output(0, n.element(0), {outer, inner});
}

// ---- Squeeze, Unsqueeze

/// Before opset 13 the axes were an attribute.
void resolve_axes(GraphBuilder& b, Node& node) {
  if (node.version >= 13 || !node.has("axes")) return;
  node.inputs.resize(1);
  node.inputs.push_back(b.integers(node.integers("axes")));
  node.attributes.erase("axes");
}

void infer_squeeze(Inference& n) {
  const Extents& in = n.extents(0);
  std::vector<char> drop(in.size(), 0);
  if (n.has(1) && !n.are_constant(n.known_elements(1, "the axes"))) {
    const DimList axes = n.known_elements(1, "the axes");
    const DimList dropped = checked_axis_indicators(n, axes, n.rank(0));
    for (std::size_t k = 0; k < in.size(); ++k) n.unify(select(dropped[k], in[k], 1), 1, "a squeezed axis");
    pass_elements(n);
    return n.output(0, n.element(0), drop_axes(n, in, dropped, axes.size()));
  }
  if (n.has(1)) {
    for (int64_t a : n.known_integers(1, "the axes")) drop[static_cast<std::size_t>(n.axis(a, static_cast<int>(in.size())))] = 1;
  } else {
    for (std::size_t k = 0; k < in.size(); ++k) {
      drop[k] = in[k] == Dim(1);
      // In a run in which it is 1, it would be removed, which would change the rank.
      if (!drop[k] && in[k].min_value() <= 1 && in[k].max_value() >= 1)
        n.require({in[k], 1, Requirement::Kind::Differ}, "without axes it would drop an extent of 1, and the rank of its result is fixed");
    }
  }
  Extents out;
  for (std::size_t k = 0; k < in.size(); ++k) {
    if (!drop[k]) out.push_back(in[k]);
    else n.unify(in[k], 1, "a squeezed axis");
  }
  pass_elements(n);
  n.output(0, n.element(0), std::move(out));
}

void infer_unsqueeze(Inference& n) {
  const Extents& in = n.extents(0);
  if (const DimList axes = n.known_elements(1, "the axes"); !n.are_constant(axes)) {
    const std::size_t rank = in.size() + axes.size();
    const DimList added = checked_axis_indicators(n, axes, static_cast<int>(rank));
    Extents out = insert_axes(n, in, added);
    pass_elements(n);
    return n.output(0, n.element(0), std::move(out));
  }
  const std::vector<int64_t> axes = n.known_integers(1, "the axes");
  const std::size_t rank = in.size() + axes.size();
  std::vector<char> added(rank, 0);
  for (int64_t a : axes) {
    char& slot = added[static_cast<std::size_t>(n.axis(a, static_cast<int>(rank)))];
    if (slot) n.fail(fmt::format("axis {} is given twice", a));
    slot = 1;
  }
  Extents out;
  std::size_t k = 0;
  for (std::size_t axis = 0; axis < rank; ++axis) out.push_back(added[axis] ? Dim(1) : in[k++]);
  pass_elements(n);
  n.output(0, n.element(0), std::move(out));
}

// ---- Identity

void lower_identity(KernelQuery& l) {
  if (l.type(0).is_tensor()) l.alias(0, 0);
  else l.pass_object(0, 0);
}

void infer_identity(Inference& n) {
  pass_elements(n);
  n.output(0, n.type(0));
}

}  // namespace

extern const Operator op_Reshape, op_Flatten, op_Squeeze, op_Unsqueeze, op_Identity;
const Operator op_Reshape{.name = "Reshape",
                          .min_inputs = 1,
                          .max_inputs = 2,
                          .max_outputs = 1,
                          .resolve = resolve_reshape,
                          .infer = infer_reshape,
                          .evaluate = copy_bytes,
                          .lower = lower_as_view};
const Operator op_Flatten{.name = "Flatten",
                          .min_inputs = 1,
                          .max_inputs = 1,
                          .max_outputs = 1,
                          .infer = infer_flatten,
                          .evaluate = copy_bytes,
                          .lower = lower_as_view};
const Operator op_Squeeze{.name = "Squeeze",
                          .min_inputs = 1,
                          .max_inputs = 2,
                          .max_outputs = 1,
                          .resolve = resolve_axes,
                          .infer = infer_squeeze,
                          .evaluate = copy_bytes,
                          .lower = lower_as_view};
const Operator op_Unsqueeze{.name = "Unsqueeze",
                            .min_inputs = 1,
                            .max_inputs = 2,
                            .max_outputs = 1,
                            .resolve = resolve_axes,
                            .infer = infer_unsqueeze,
                            .evaluate = copy_bytes,
                            .lower = lower_as_view};
const Operator op_Identity{.name = "Identity",
                           .min_inputs = 1,
                           .max_inputs = 1,
                           .max_outputs = 1,
                           .infer = infer_identity,
                           .evaluate = copy_bytes,
                           .lower = lower_identity};

}  // namespace onnxc
