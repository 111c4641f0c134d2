// Tree ensembles as flat tables, and from how many rows on each design of runtime_stub/onnxc/forest.hpp is used.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "compiler/ops/ml/forest.h"
#include "compiler/ops/selected.h"
#include "compiler/select/forest/branches.h"
#include "compiler/select/forest/flat_forest.h"

namespace onnxc {
namespace {

constexpr int64_t kNever = INT64_MAX;

/// The rows from which a design takes over; kNever: not at all.
struct ForestDesigns {
  int64_t rows_from = kNever, bytes_from = kNever, bits_from = kNever;
  double cost = 0;  ///< of all rows, or of one where their number is not known
};

/// Costs as in ForestCosts. branches: rows by themselves are computed so.
ForestDesigns choose_designs(const Target& target, const FlatTables& tables, const Dim& rows, bool branches) {
  const ForestCosts& costs = target.machine->forest;
  const contract::ForestShape& s = tables.shape;
  const auto nodes = static_cast<double>(tables.first_node.back());
  double block_search = 0;  // of a row in a block: short columns are compared key by key with a vector of rows
  for (std::size_t c = 0; c < tables.columns.size(); c += 4) {
    const int32_t count = tables.columns[c + 3] & contract::kForestRanks;
    const bool is_short = count < contract::kForestKeyBlock && (tables.columns[c + 3] & contract::kForestSet) == 0;
    block_search += is_short ? costs.few + costs.few_key * count : costs.search;
  }
  const double search = static_cast<double>(s.columns) * costs.search,
               walk_bytes = static_cast<double>(4 * tables.walk.size()) / (contract::forest_is_wide(s) ? 1 : 2),
               step = walk_bytes > static_cast<double>(target.l2_bytes) ? costs.far_step : 1,
               row = branches ? tables.steps * costs.branch_test : tables.steps * step + search, row_of_block = tables.steps + block_search;
  const double values = static_cast<double>(s.trees) * (tables.tree_target.empty() ? static_cast<double>(s.targets) : 1);
  const auto byte_rows = static_cast<double>(contract::kForestByteRows);
  const double byte_block =
      nodes * costs.byte_node * static_cast<double>(contract::forest_id_bytes(s)) + byte_rows * (block_search + values * costs.byte_value);
  const double bit_block = nodes * costs.bit_node + static_cast<double>(s.tests) * costs.bit_test + values * costs.bit_tree;
  const double bit_row = block_search + values * costs.bit_value;
  // A block costs the same however few rows it has, but for what is done for each row.
  ForestDesigns designs;
  const double bytes_from = std::ceil(byte_block / row);
  if (bytes_from <= byte_rows && !tables.nodes.empty()) designs.bytes_from = static_cast<int64_t>(bytes_from);
  if (row_of_block < std::min(row, byte_block / byte_rows)) {
    designs.bytes_from = kNever;
    designs.rows_from = contract::kForestWalks;
  }
  const double before = std::min({row, row_of_block, byte_block / byte_rows});
  if (before > bit_row) {
    const double bits_from = std::ceil(bit_block / (before - bit_row));
    const bool fits = !tables.nodes.empty() && contract::forest_bits_scratch(s, target.vector_floats) <= 4 * target.workspace_bytes();
    if (fits && bits_from <= static_cast<double>(contract::forest_bit_rows(target.vector_floats)))
      designs.bits_from = static_cast<int64_t>(bits_from);
  }
  designs.cost = row;
  if (!rows.is_constant()) return designs;
  const auto count = static_cast<double>(rows.value());
  if (rows.value() < designs.rows_from) designs.rows_from = kNever;
  if (rows.value() < designs.bytes_from) designs.bytes_from = kNever;
  if (rows.value() < designs.bits_from) designs.bits_from = kNever;
  const double blocks =
      designs.bits_from != kNever ? std::ceil(count / static_cast<double>(contract::forest_bit_rows(target.vector_floats))) : 0;
  designs.cost = blocks > 0                     ? blocks * bit_block + count * bit_row
                 : designs.bytes_from != kNever ? std::ceil(count / byte_rows) * byte_block
                                                : count * (designs.rows_from != kNever ? row_of_block : row);
  return designs;
}

/// onnxc::FlatForest{...}, with what walks and blocks of rows need.
NamedArgs flat_args(KernelQuery& l, const FlatTables& tables, bool walks, bool blocks) {
  const bool doubles = tables.shape.number_bytes == 8;
  NamedArgs args;
  if (walks) {
    args.emplace_back("walk", contract::forest_is_wide(tables.shape)
                                  ? l.weights("walk", ElementType::U32, tables.walk)
                                  : l.weights("walk", ElementType::U16, std::vector<uint16_t>(tables.walk.begin(), tables.walk.end())));
  }
  if (blocks) args.emplace_back("nodes", l.weights("nodes", ElementType::I16, tables.nodes));
  if (walks || blocks) args.emplace_back("first_node", l.weights("first_node", ElementType::I32, tables.first_node));
  args.emplace_back("values", doubles
                                  ? l.weights("values", ElementType::F64, tables.values)
                                  : l.weights("values", ElementType::F32, std::vector<float>(tables.values.begin(), tables.values.end())));
  if (!tables.tree_target.empty()) args.emplace_back("tree_target", l.weights("tree_target", ElementType::I32, tables.tree_target));
  if (walks || blocks) {
    args.emplace_back("columns", l.weights("columns", ElementType::I32, tables.columns));
    args.emplace_back("keys", doubles ? l.weights("keys", ElementType::I64, tables.keys)
                                      : l.weights("keys", ElementType::I32, std::vector<int32_t>(tables.keys.begin(), tables.keys.end())));
  }
  const contract::ForestShape& s = tables.shape;
  args.emplace_back("shape", params_arg({{"trees", dim_arg(s.trees)},
                                         {"columns", dim_arg(s.columns)},
                                         {"tests", dim_arg(s.tests)},
                                         {"most_leaves", dim_arg(s.most_leaves)},
                                         {"targets", dim_arg(s.targets)},
                                         {"number_bytes", dim_arg(s.number_bytes)}}));
  return args;
}

}  // namespace

void consider_fast_forest(KernelQuery& l, const ForestCall& forest) {
  const bool doubles = l.type(0).element == ElementType::F64;
  const double infinity = std::numeric_limits<double>::infinity();
  auto flat = flatten(*forest.tables, {.doubles = doubles,
                                       .targets = forest.targets,
                                       .neutral = forest.aggregate == "min"   ? infinity
                                                  : forest.aggregate == "max" ? -infinity
                                                                              : 0,
                                       .asks_has = forest.is_classifier});
  if (!flat) return;
  const auto tables = std::make_shared<const FlatTables>(std::move(*flat));  // shared, since they may be large
  const char* const row = forest.is_classifier ? "forest_classifier" : "forest_regressor";
  const auto consider = [&](const std::shared_ptr<const Branches>& branches) {
    const ForestDesigns designs = choose_designs(l.target(), *tables, forest.x.extents[0], branches != nullptr);
    const auto build = [&l, forest, designs, row, doubles, tables, branches] {
      const contract::ForestShape& s = tables->shape;
      const bool by_rows = designs.rows_from != kNever, bytes = designs.bytes_from != kNever, bits = designs.bits_from != kNever;
      StepBuilder call = l.call(row);
      call.template_arg(designs.rows_from)
          .template_arg(designs.bytes_from)
          .template_arg(designs.bits_from)
          .template_arg(contract::forest_id_bytes(s));
      call.template_arg(RuntimeName{"scalar::TreeAggregate::" + forest.aggregate});
      call.template_arg(doubles ? ElementType::F64 : ElementType::F32);
      call.template_arg(contract::forest_is_wide(s) ? ElementType::U32 : ElementType::U16);
      if (branches != nullptr) call.template_arg(l.branches(*branches));
      call.tensor(forest.y);
      if (forest.is_classifier) call.pointer(l.out(0));
      call.tensor(forest.x)
          .params(flat_args(l, *tables, branches == nullptr || by_rows, bytes || bits))
          .params(forest_args(l, *forest.tables, false));
      if (forest.is_classifier) {
        if (tables->has.empty()) call.null(ElementType::Bool);
        else call.pointer(l.weights("has", ElementType::Bool, std::vector<uint8_t>(tables->has.begin(), tables->has.end())));
      }
      const int64_t scratch = contract::forest_scratch(s, l.target().vector_floats, branches != nullptr, by_rows, bytes, bits);
      call.pointer(l.thread_workspace("forest", ElementType::U8, scratch)).params(forest.params).emit();
    };
    l.consider(row, designs.cost, 0, build, 0, branches != nullptr ? "branches" : "");
  };
  consider(nullptr);
  if (auto branches = write_branches(*tables, l.target().machine->forest.most_branches))
    consider(std::make_shared<const Branches>(std::move(*branches)));
}

}  // namespace onnxc
