// If: one of two graphs, chosen when the model runs. The lowering emits both as blocks of one step.
#include <fmt/format.h>

#include <optional>

#include "compiler/ops/operator.h"

namespace onnxc {
namespace {

void infer_if(Inference& n) {
  const Graph *then_branch = n.node().region("then_branch"), *else_branch = n.node().region("else_branch");
  if (then_branch == nullptr || else_branch == nullptr) n.fail("a branch is missing");
  if (n.element(0) != ElementType::Bool) n.fail(fmt::format("the condition is {}, not bool", name(n.element(0))));
  if (n.type(0).ranked) n.unify(element_count(n.extents(0)), 1, "the elements of the condition");
  const std::size_t outputs = n.node().outputs.size();
  if (then_branch->outputs.size() != outputs || else_branch->outputs.size() != outputs)
    n.fail(fmt::format("the branches give {} and {} values, the node has {} outputs", then_branch->outputs.size(),
                       else_branch->outputs.size(), outputs));
  for (std::size_t i = 0; i < outputs; ++i) {
    const Type &a = (*then_branch)[then_branch->outputs[i]].type, &b = (*else_branch)[else_branch->outputs[i]].type;
    if (a == b) {
      n.output(static_cast<int>(i), a);
      continue;
    }
    if (a.kind == b.kind && a.element == b.element && a.is_tensor() && a.ranked && b.ranked && a.rank() == b.rank()) {
      Extents extents = a.extents;
      for (std::size_t axis = 0; axis < extents.size(); ++axis) {
        if (extents[axis] == b.extents[axis]) continue;
        const auto most_a = a.extents[axis].upper_bound(), most_b = b.extents[axis].upper_bound();
        extents[axis] = n.fresh("if", 0, most_a && most_b ? std::optional<Dim>(max(*most_a, *most_b)) : std::nullopt);
      }
      n.output(static_cast<int>(i), a.element, std::move(extents));
      continue;
    }
    // A value that states its own rank. No node reads it; see passes/branch_ranks.h.
    if (a.is_tensor() && b.is_tensor() && a.element == b.element) {
      n.output(static_cast<int>(i), Type::unranked(a.element));
      continue;
    }
    if (a.kind == b.kind && !a.is_tensor()) {
      Type both = a;
      generalise_nested(both, b);
      n.output(static_cast<int>(i), std::move(both));
      continue;
    }
    n.fail(fmt::format("output {} is {} in one branch and {} in the other", i, a.text(), b.text()));
  }
}

}  // namespace

extern const Operator op_If;
const Operator op_If{.name = "If", .min_inputs = 1, .max_inputs = 1, .infer = infer_if};

}  // namespace onnxc
