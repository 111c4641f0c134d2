#include "compiler/select/gpu/attention.h"

#include <bit>

#include "compiler/ops/broadcast.h"
#include "compiler/ops/kernel_query.h"
#include "compiler/select/gpu/rows_of_k.h"

namespace onnxc {
namespace {

constexpr int64_t kMostSize = 128;  // elements of a row of q, k and v

/// scale * x0 + operand of that number, or without one.
struct ScoreRule {
  double scale = 1;
  int mask = -1;
};

std::optional<double> constant_of(const Expr& e, int term) {
  const Expr::Term& t = e.terms[static_cast<std::size_t>(term)];
  if (t.kind != Expr::Kind::Constant || t.type != ElementType::F32) return std::nullopt;
  return static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(t.bits)));
}

/// What the tree makes of its input `scores`; empty if it is of another form.
std::optional<ScoreRule> rule_of(const Expr& e, int term, int scores) {
  const Expr::Term& t = e.terms[static_cast<std::size_t>(term)];
  if (t.kind == Expr::Kind::Input) return t.args[0] == scores ? std::optional(ScoreRule{}) : std::nullopt;
  if (t.kind != Expr::Kind::Apply || t.type != ElementType::F32) return std::nullopt;
  for (const int side : {0, 1}) {
    const int other = t.args[1 - side];
    if (t.args[0] < 0 || t.args[1] < 0 || (side == 1 && t.fn == Fn::Div)) continue;
    std::optional<ScoreRule> rule = rule_of(e, t.args[side], scores);
    if (!rule || rule->mask >= 0) continue;
    const Expr::Term& operand = e.terms[static_cast<std::size_t>(other)];
    if (t.fn == Fn::Add && operand.kind == Expr::Kind::Input && operand.type == ElementType::F32 && operand.args[0] != scores) {
      rule->mask = operand.args[0];
      return rule;
    }
    const auto factor = constant_of(e, other);
    if (!factor || (t.fn != Fn::Mul && t.fn != Fn::Div)) continue;
    rule->scale = t.fn == Fn::Mul ? rule->scale * *factor : rule->scale / *factor;
    return rule;
  }
  return std::nullopt;
}

/// where(is_nan(x), 0, x), as exporters write it for queries that see no key.
bool replaces_nan(const Node& node) {
  if (!node.is_map() || node.inputs.size() != 1) return false;
  const Expr& e = *node.epilogue;
  const Expr::Term& root = e.terms.back();
  const auto term = [&](int i) -> const Expr::Term& { return e.terms[static_cast<std::size_t>(i)]; };
  const auto is_x = [&](int i) { return i >= 0 && term(i).kind == Expr::Kind::Input; };
  return root.kind == Expr::Kind::Apply && root.fn == Fn::Where && term(root.args[0]).kind == Expr::Kind::Apply &&
         term(root.args[0]).fn == Fn::IsNan && is_x(term(root.args[0]).args[0]) && constant_of(e, root.args[1]) == 0.0 &&
         is_x(root.args[2]);
}

/// The parts of a chain, from its last node backwards.
struct Chain {
  const Node* last = nullptr;
  const Node* nan = nullptr;  ///< replaces_nan; may be null
  const Node* softmax = nullptr;
  const Node* rule = nullptr;     ///< a Map that scales and masks; may be null
  const Node* product = nullptr;  ///< of q and k
  ScoreRule scores;
  ValueId mask = kAbsent;

  std::vector<const Node*> absorbed() const {
    std::vector<const Node*> nodes{product};
    for (const Node* node : {rule, softmax, nan}) {
      if (node != nullptr) nodes.push_back(node);
    }
    return nodes;
  }
};

bool is_stack(const Graph& graph, ValueId v) {
  const Type& type = graph[v].type;
  return type.element == ElementType::F32 && (type.rank() == 3 || type.rank() == 4);
}

/// Reads the rule of `node`'s expression, whose scores are x0 of an epilogue, or the input `scores` of a Map.
bool read_rule(Chain& chain, const Node& node, int scores) {
  const auto rule = rule_of(*node.epilogue, static_cast<int>(node.epilogue->terms.size()) - 1, scores);
  if (!rule) return false;
  const int first = node.is_map() ? 0 : node.own_inputs() - 1;  // x1 of an epilogue is the first operand
  chain.scores = *rule;
  if (rule->mask >= 0) chain.mask = node.inputs[static_cast<std::size_t>(first + rule->mask)];
  return true;
}

std::optional<Chain> chain_of(const Surroundings& around, const Node& last) {
  const Graph& graph = around.graph;
  Chain chain;
  const auto is_matmul = [&](const Node* node) {
    return node != nullptr && node->is("MatMul") && is_stack(graph, node->inputs[0]) && is_stack(graph, node->inputs[1]) &&
           graph[node->inputs[0]].type.rank() == graph[node->inputs[1]].type.rank();
  };
  if (!is_matmul(&last) || last.epilogue) return std::nullopt;
  chain.last = &last;
  const Node* node = around.only_producer(last.inputs[0]);
  if (node != nullptr && replaces_nan(*node)) {
    chain.nan = node;
    node = around.only_producer(node->inputs[0]);
  }
  if (node == nullptr || !node->is("Softmax") || node->epilogue) return std::nullopt;
  const int64_t rank = graph[node->inputs[0]].type.rank(), axis = node->integer("axis", -1);
  if (axis != -1 && axis != rank - 1) return std::nullopt;
  chain.softmax = node;
  node = around.only_producer(node->inputs[0]);
  if (node != nullptr && node->is_map()) {
    chain.rule = node;
    node = nullptr;
    for (std::size_t i = 0; i < chain.rule->inputs.size() && node == nullptr; ++i) {
      const Node* const product = around.only_producer(chain.rule->inputs[i]);
      const bool whole = graph[chain.rule->inputs[i]].type.extents == graph[chain.softmax->inputs[0]].type.extents;
      if (is_matmul(product) && !product->epilogue && whole && read_rule(chain, *chain.rule, static_cast<int>(i))) node = product;
    }
  }
  if (!is_matmul(node)) return std::nullopt;
  chain.product = node;
  if (chain.rule == nullptr && node->epilogue && !read_rule(chain, *node, 0)) return std::nullopt;
  return chain;
}

/// Batches and heads of both products are alike, and rows are short.
bool fits(const Graph& graph, const Chain& chain) {
  const Extents &q = graph[chain.product->inputs[0]].type.extents, &k = graph[chain.product->inputs[1]].type.extents,
                &v = graph[chain.last->inputs[1]].type.extents, &scores = graph[chain.softmax->inputs[0]].type.extents;
  const std::size_t rank = q.size();
  for (std::size_t axis = 0; axis + 2 < rank; ++axis) {
    if (!(q[axis] == k[axis]) || !(q[axis] == v[axis]) || !(q[axis] == scores[axis])) return false;
  }
  const Dim size = q[rank - 1], value_size = v[rank - 1], keys = scores[rank - 1];
  if (!size.is_constant() || !value_size.is_constant() || size.value() < 1 || size.value() > kMostSize || value_size.value() < 1 ||
      value_size.value() > kMostSize || value_size.value() % 4 != 0)
    return false;
  if (chain.mask == kAbsent) return true;
  const Type& mask = graph[chain.mask].type;
  return mask.element == ElementType::F32 && mask.rank() <= static_cast<int>(rank) && mask.rank() >= 1 && mask.extents.back() == keys;
}

}  // namespace

std::vector<const Node*> absorbed_by_gpu_attention(const Surroundings& around, const Node& last, const Target& target) {
  if (target.gpu == nullptr) return {};
  const auto chain = chain_of(around, last);
  return chain && fits(around.graph, *chain) ? chain->absorbed() : std::vector<const Node*>{};
}

void lower_gpu_attention(KernelQuery& last) {
  const Graph& graph = last.graph();
  const PerValue<Layout> layouts(graph.values.size());
  const Chain chain = *chain_of(Surroundings(graph, layouts), last.node());
  KernelQuery product = last.of(*chain.product);
  const View q = product.in(0), k = product.in(1), v = last.in(1);
  const std::size_t rank = q.extents.size();
  const Dim batch = rank == 4 ? q.extents[0] : Dim(1), heads = q.extents[rank - 3], queries = q.extents[rank - 2],
            size = q.extents[rank - 1], keys = k.extents[rank - 1], value_size = v.extents[rank - 1];
  const RowsOfK rows_of_q = rows_of_k(
      last, "queries", q, {.count = batch * heads, .rows = queries, .k = size, .step = queries * size, .from_row = size, .from_k = 1});
  const RowsOfK rows_of_keys =
      rows_of_k(last, "keys", k, {.count = batch * heads, .rows = keys, .k = size, .step = keys * size, .from_row = 1, .from_k = keys});
  const RowsOfK rows_of_v =
      rows_of_k(last, "values", v,
                {.count = batch * heads, .rows = keys, .k = value_size, .step = keys * value_size, .from_row = value_size, .from_k = 1});
  const Dim padded = gpu_row_of(size, ElementType::F32);
  const auto steps = [&](Dim rows, Dim row) { return dims_arg(DimList{heads * rows * row, rows * row, row}); };
  NamedArgs params{{"batch", dim_arg(batch)},
                   {"heads", dim_arg(heads)},
                   {"queries", dim_arg(queries)},
                   {"keys", dim_arg(keys)},
                   {"size", dim_arg(padded)},
                   {"value_size", dim_arg(value_size)},
                   {"scale", NumberArg{chain.scores.scale, ElementType::F32}},
                   {"q", steps(queries, rows_of_q.stride)},
                   {"k", steps(keys, rows_of_keys.stride)},
                   {"v", steps(keys, rows_of_v.stride)},
                   {"y", steps(queries, value_size)}};
  std::optional<View> mask;
  if (chain.mask != kAbsent) {
    mask = last.operand(chain.mask);
    const Extents& scores = graph[chain.softmax->inputs[0]].type.extents;
    const DimList strides = broadcast_strides(scores, mask->extents, mask->strides());
    params.emplace_back("mask", dims_arg(DimList{rank == 4 ? strides[0] : Dim(0), strides[rank - 3], strides[rank - 2]}));
  }
  if (chain.nan != nullptr) params.emplace_back("nan_is_zero", flag_arg(true));
  const View y = last.out(0);
  int64_t tile = 32;  // of sizes
  while (tile < std::max(padded.value(), value_size.value())) tile += 32;
  StepBuilder step = last.call("gpu_attention");
  step.template_arg(tile).pointer(y).pointer(rows_of_q.data).pointer(rows_of_keys.data).pointer(rows_of_v.data);
  if (mask) step.pointer(*mask);
  else step.null(ElementType::F32);
  step.params(std::move(params)).macs(batch * heads * queries * keys * (size + value_size)).emit();
}

}  // namespace onnxc
