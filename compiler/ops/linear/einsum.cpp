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

#include "compiler/ops/broadcast.h"
#include "compiler/ops/dispatch.h"
#include "compiler/ops/kernel_query.h"
#include "compiler/ops/linear/einsum_equation.h"
#include "compiler/support/error_codes.h"
#include "runtime_stub/onnxc/scalar/einsum.hpp"

namespace onnxc {
namespace {

/// The extent of a label within an operand, whose axes of one label are equal: the constant one, if there is one.
Dim own_extent(const Labels& labels, const Extents& extents, Label l) {
  for (std::size_t k = 0; k < labels.size(); ++k) {
    if (labels[k] == l && extents[k].is_constant()) return extents[k];
  }
  return extents[axis_of(labels, l)];
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
      if (axis_of(labels, labels[k]) == k) of_label[labels[k]].push_back({own});
    }
  }
  Extents out(e.output.size());
  for (const auto& [label, operands] : of_label) {
    const Dim extent = n.broadcast(operands)[0];
    if (contains(e.output, label)) out[axis_of(e.output, label)] = extent;
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
    node.fail(ErrorCode::RankTooHigh, fmt::format("has {} labels; at most {} are supported", order.size(), 2 * kMaxRank));
  Loops loops;
  loops.kept = static_cast<int64_t>(e.output.size());
  for (Label l : order) loops.extents.push_back(extent_of(e, in, l));
  for (std::size_t i = 0; i < in.size(); ++i) {
    const DimList strides = strides_of(in[i], {});
    DimList of_label(order.size(), 0);
    for (std::size_t k = 0; k < in[i].size(); ++k) {
      const std::size_t at = axis_of(order, e.terms[i][k]);
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
