#include "compiler/select/gpu/gathers.h"

#include <algorithm>

#include "compiler/ops/tensor/gather.h"

namespace onnxc {
namespace {

int64_t axis_of(const KernelQuery& l) { return gather_axis(l.node(), l.type(0).rank()); }

/// The place of the only index in a value that some node computes, where that is a constant of the model and what it picks lies together:
/// a view then saves a kernel.
std::optional<int64_t> constant_place(const KernelQuery& l) {
  const TensorData* const index = l.constant(1);
  const Extents& x = l.extents(0);
  const auto axis = static_cast<std::size_t>(axis_of(l));
  const bool together = std::all_of(x.begin(), x.begin() + axis_of(l), [](Dim d) { return d == Dim(1); });
  if (index == nullptr || index->count() != 1 || l.constant(0) != nullptr || !x[axis].is_constant() || !together) return std::nullopt;
  const int64_t given = to_integers(*index)[0], place = given < 0 ? given + x[axis].value() : given;
  return place >= 0 && place < x[axis].value() ? std::optional(place) : std::nullopt;
}

/// What is read and written: the indices, and only what they pick.
Dim bytes_picked(const KernelQuery& l) {
  const auto bytes = [](const Type& type) { return element_count(type.extents) * (held_bits(type.element) / 8); };
  return bytes(l.type(1)) + 2 * bytes(l.output_type(0));
}

/// A kernel takes what the reference kernel does: y, x, indices, and then `last`.
template <class Last>
bool lower_picking(KernelQuery& l, std::string_view row, Last last) {
  const View x = l.in(0), indices = l.in(1);
  StepBuilder step = l.call(row);
  step.call().bytes = bytes_picked(l);
  last(step.tensor(l.out(0)).tensor(x).tensor(indices)).emit();
  return true;
}

}  // namespace

bool lower_gpu_gather(KernelQuery& l) {
  if (known_index(l)) return false;
  if (const auto place = constant_place(l)) return l.alias(0, 0, *place * element_count(l.output_type(0).extents)), true;
  return lower_picking(l, "gpu_gather", [&](StepBuilder& step) -> StepBuilder& { return step.params({{"axis", dim_arg(axis_of(l))}}); });
}

bool lower_gpu_gather_nd(KernelQuery& l) {
  return lower_picking(l, "gpu_gather_nd", [&](StepBuilder& step) -> StepBuilder& { return step.dim(l.node().integer("batch_dims", 0)); });
}

bool lower_gpu_gather_elements(KernelQuery& l) {
  return lower_picking(l, "gpu_gather_elements", [&](StepBuilder& step) -> StepBuilder& { return step.dim(axis_of(l)); });
}

bool lower_gpu_scatter(KernelQuery& l) {
  const Node& node = l.node();
  if (node.string("reduction", "none") != "none") return false;
  const View x = l.in(0), indices = l.in(1), updates = l.in(2), y = l.out(0);
  const bool rows = node.op == "ScatterND";
  const Dim places =
      rows ? element_count({x.extents.begin(), x.extents.begin() + indices.extents.back().value()}) : element_count(x.extents);
  StepBuilder step = l.call(rows ? "gpu_scatter_nd" : "gpu_scatter_elements");
  step.tensor(y).tensor(x).tensor(indices).tensor(updates);
  if (!rows) step.dim(axis_of(l));
  step.pointer(l.workspace("owners", ElementType::U32, max(places, 1))).may_share(y, x).emit();
  return true;
}

}  // namespace onnxc
