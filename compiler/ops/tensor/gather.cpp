// Gather: picks slices along an axis by index.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/lowering/lowering.h"
#include "compiler/lowering/narrow.h"
#include "compiler/ops/dispatch.h"
#include "runtime_stub/onnxc/scalar/gather.hpp"

namespace onnxc {
namespace {

void infer_gather(Inference& n) {
  const Extents &x = n.extents(0), &indices = n.extents(1);
  const int axis = n.axis(n.node().integer("axis", 0), n.rank(0));
  if (n.element(1) != ElementType::I32 && n.element(1) != ElementType::I64) n.fail(fmt::format("the indices are {}, not i32 or i64", name(n.element(1))));
  Extents out(x.begin(), x.begin() + axis);
  out.insert(out.end(), indices.begin(), indices.end());
  out.insert(out.end(), x.begin() + axis + 1, x.end());
  // Picking from a shape gives extents.
  const auto elements = n.value(0).elements;
  const TensorData* picked = n.constant(1);
  if (elements && picked != nullptr && x.size() == 1) {
    std::vector<Dim> list;
    const auto count = static_cast<int64_t>(elements->size());
    for (int64_t i : to_integers(*picked)) {
      if (i < -count || i >= count) n.fail("an index is out of range");
      list.push_back((*elements)[static_cast<std::size_t>(i < 0 ? i + count : i)]);
    }
    n.output_elements(0, std::move(list));
  }
  n.output(0, n.element(0), std::move(out));
}

int64_t axis_of(const Node& node, int rank) {
  const int64_t axis = node.integer("axis", 0);
  return axis < 0 ? axis + rank : axis;
}

void evaluate_gather(Evaluation& e) {
  for_size(e.type(0), [&]<class T>() {
    for_index(e.type(1), [&]<class I>() {
      e.check(scalar::gather<T, I>(e.out<T>(), e.in<T>(0), e.in<I>(1), {.axis = axis_of(e.node(), e.rank(0))}));
    });
  });
}

/// The one index along the first axis as an extent that surely is one: a slice is a view. What a loop over slices is made of.
std::optional<Dim> known_index(const Lowering& l) {
  const Value& indices = l.graph()[l.node().input(1)];
  if (indices.constant || !indices.elements || indices.elements->size() != 1 || !indices.type.extents.empty()) return std::nullopt;
  const Dim extent = l.extents(0)[0], given = indices.elements->front();
  const Dim index = given.max_value() < 0 ? given + extent : given;
  const auto most = index.upper_bound(), least = (Dim(0) - index).upper_bound();
  if (!most || !least || !always_at_least(extent, *most + 1) || !always_at_least(0, *least)) return std::nullopt;
  return index;
}

/// Whether nothing else reads the table as it is, which would then be there twice. A product packs its own.
bool only_gathered(const Graph& graph, ValueId table) {
  return std::ranges::find(graph.outputs, table) == graph.outputs.end() && std::ranges::all_of(graph.nodes, [&](const Node& node) {
    const bool reads = std::ranges::find(node.inputs, table) != node.inputs.end();
    return !reads || node.is("MatMul") || (node.is("Gather") && axis_of(node, static_cast<int>(graph[table].type.extents.size())) == 0);
  });
}

/// How the rows of a table of constants are stored, each with a scale of its own: so tables are quantised, and the columns of a product that is tied to one.
/// Never for time: what a run reads of a table is little.
Storage table_storage(const Lowering& l) {
  const TensorData* table = l.constant(0);
  const bool may = l.optimise() && table != nullptr && table->type == ElementType::F32 && table->count() > 0 && only_gathered(l.graph(), l.node().input(0));
  return may ? candidate_storages(l, {{table->as<float>(), table->shape[0], true}}, 1, 0).back() : Storage();
}

void lower_table(Lowering& l, const Storage& storage) {
  const std::span<const float> values = l.constant(0)->as<float>();
  const int64_t rows = l.constant(0)->shape[0], columns = static_cast<int64_t>(values.size()) / rows;
  const View indices = l.in(1), y = l.out(0);
  std::vector<std::pair<std::string, Arg>> params{{"rows", dim_arg(rows)}, {"columns", dim_arg(columns)}, {"count", dim_arg(element_count(indices.extents))}};
  const Packed floats{values, rows * columns, [values] { return std::vector<float>(values.begin(), values.end()); }};
  const PointerArg table = add_stored(l, l.graph()[l.node().input(0)].name, floats, columns, 1, storage, storage.scales, params);
  l.call("gather_rows").pointer(y).pointer(table).pointer(indices).params(std::move(params));
}

void lower_gather(Lowering& l) {
  const int64_t axis = axis_of(l.node(), static_cast<int>(l.extents(0).size()));
  if (axis == 0 && !l.graph()[l.node().input(0)].constant) {
    if (const auto index = known_index(l)) return l.alias(0, 0, *index * element_count(l.output_type(0).extents));
  }
  if (axis == 0) {
    if (const Storage storage = table_storage(l); storage.element != ElementType::F32) return lower_table(l, storage);
  }
  const View x = l.in(0), indices = l.in(1);
  l.call("scalar_gather").tensor(l.out(0)).tensor(x).tensor(indices).params({{"axis", dim_arg(axis)}});
}

}  // namespace

extern const Operator op_Gather;
const Operator op_Gather{.name = "Gather", .min_inputs = 2, .max_inputs = 2, .max_outputs = 1, .infer = infer_gather, .evaluate = evaluate_gather, .lower = lower_gather};

}  // namespace onnxc
