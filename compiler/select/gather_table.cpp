// Gather from a table of constants, such as embeddings: its rows may be stored narrower than f32, and only those that are read are widened.
#include <algorithm>

#include "compiler/ops/selected.h"
#include "compiler/ops/tensor/gather.h"
#include "compiler/select/weights/stored.h"

namespace onnxc {
namespace {

/// Whether nothing else reads the table as it is, which would then be there twice. A product packs its own.
bool only_gathered(const Graph& graph, ValueId table) {
  return std::ranges::find(graph.outputs, table) == graph.outputs.end() && std::ranges::all_of(graph.nodes, [&](const Node& node) {
           const bool reads = std::ranges::find(node.inputs, table) != node.inputs.end();
           return !reads || node.is("MatMul") ||
                  (node.is("Gather") && gather_axis(node, static_cast<int>(graph[table].type.extents.size())) == 0);
         });
}

/// How the rows of a table of constants are stored, each with a scale of its own: so tables are quantised, and the columns of a product
/// that is tied to one. Never for time: what a run reads of a table is little.
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
  const Packed floats{values, rows * columns, [values] { return std::vector<float>(values.begin(), values.end()); }};
  const PointerArg table = add_stored(l, l.graph()[l.node().input(0)].name, floats, columns, 1, storage, storage.scales, params);
  l.call("gather_rows").pointer(y).pointer(table).pointer(indices).params(std::move(params)).emit();
  return true;
}

}  // namespace onnxc
