// Gather from a constant table, such as embeddings. Its rows may be stored in a type narrower than f32; only rows
// that are read are widened.
#include <algorithm>

#include "compiler/ops/selected.h"
#include "compiler/ops/tensor/gather.h"
#include "compiler/select/weights/stored.h"

namespace onnxc {
namespace {

/// Whether nothing else reads the table as it is, since the unit would then hold it twice. A product packs a copy of
/// its own anyway.
bool only_gathered(const Graph& graph, ValueId table) {
  return std::ranges::find(graph.outputs, table) == graph.outputs.end() && std::ranges::all_of(graph.nodes, [&](const Node& node) {
           const bool reads = std::ranges::find(node.inputs, table) != node.inputs.end();
           return !reads || node.is("MatMul") ||
                  (node.is("Gather") && gather_axis(node, static_cast<int>(graph[table].type.extents.size())) == 0);
         });
}

/// How the table's rows are stored. Each row has a scale of its own, as quantised tables have, and as the columns of
/// a product have whose weights are the table. Narrow storage is chosen to save memory, never time, since a run reads
/// only a few rows.
Storage table_storage(const KernelQuery& l) {
  const TensorData* table = l.constant(0);
  const bool may = l.optimise() && table != nullptr && table->type == ElementType::F32 && table->count() > 0 &&
                   only_gathered(l.graph(), l.node().input(0));
  return may ? candidate_storages(l, {{table->as<float>(), table->shape[0], true}}, 1, 0).back() : Storage();
}

}  // namespace

bool lower_stored_table(KernelQuery& l) {
  const Storage storage = table_storage(l);
  if (storage.element == ElementType::F32) return false;
  const std::span<const float> values = l.constant(0)->as<float>();
  const int64_t rows = l.constant(0)->shape[0], columns = static_cast<int64_t>(values.size()) / rows;
  const View indices = l.in(1), y = l.out(0);
  NamedArgs params{{"rows", dim_arg(rows)}, {"columns", dim_arg(columns)}, {"count", dim_arg(element_count(indices.extents))}};
  const Packed floats{values, rows * columns, [values] { return std::vector<float>(values.begin(), values.end()); }, l.kept_constant(0)};
  const PointerArg table = add_stored(l, l.graph()[l.node().input(0)].name, floats, columns, 1, storage, storage.scales, params);
  l.call("gather_rows").pointer(y).pointer(table).pointer(indices).params(std::move(params)).emit();
  return true;
}

}  // namespace onnxc
