#include "compiler/ops/operator.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "compiler/ops/custom/custom_operator.h"
#include "compiler/ops/op_list.h"
#include "compiler/ops/run_time_axes.h"
#include "compiler/ops/shape_arithmetic.h"
#include "compiler/support/error_codes.h"

namespace onnxc {

std::span<const Operator* const> all_operators() {
  static const std::vector<const Operator*> list = list_operators();
  return list;
}

extern const Operator op_Custom;

const Operator* find_operator(std::string_view domain, std::string_view name) {
  if (domain.starts_with(kCustomDomain)) return &op_Custom;
  static const auto table = [] {
    std::map<std::pair<std::string_view, std::string_view>, const Operator*> rows;
    for (const Operator* op : all_operators()) {
      ONNXC_CHECK(rows.emplace(std::pair{op->domain, op->name}, op).second, "an operator is listed once");
    }
    return rows;
  }();
  const auto it = table.find({domain, name});
  return it == table.end() ? nullptr : it->second;
}

const Value& Inference::value(int i) const {
  if (!has(i)) fail(fmt::format("input {} is missing", i));
  return graph_[node_.input(i)];
}

const Extents& Inference::extents(int i) const {
  const Type& t = type(i);
  if (!t.is_tensor()) fail(fmt::format("input {} is {}, not a tensor", i, t.text()));
  if (!t.ranked)
    fail(ErrorCode::UnknownRank, fmt::format("input {} ('{}') has no known rank", i, value(i).name), "give the model's inputs shapes");
  return t.extents;
}

std::optional<DimList> Inference::elements(int i) const {
  const Value& v = value(i);
  if (v.elements) return v.elements;
  if (!v.constant || !is_integer(v.constant->type)) return std::nullopt;
  DimList list;
  for (int64_t x : to_integers(*v.constant)) list.push_back(x);
  return list;
}

DimList Inference::known_elements(int i, const char* what) const {
  if (auto list = elements(i)) return *list;
  const Value& v = value(i);
  const bool listed =
      v.type.is_tensor() && v.type.is_static() && v.type.rank() <= 1 && is_integer(v.type.element) && !is_sub_byte(v.type.element);
  if (!listed || element_count(v.type.extents).value() > kMostShapeElements)
    fail(ErrorCode::NotConstant, fmt::format("{} (input {}, '{}') is {}, known only when the model runs", what, i, v.name, v.type.text()),
         "make it a constant of the model, or give it a known length");
  before_.push_back(make_bind_node(graph_, node_.input(i), fresh_));
  return *value(i).elements;
}

std::vector<int64_t> Inference::known_integers(int i, const char* what) const {
  std::vector<int64_t> list;
  for (Dim d : known_elements(i, what)) {
    if (!d.is_constant())
      fail(ErrorCode::OpenDimension, fmt::format("{} (input {}, '{}') is {}, not a constant", what, i, value(i).name, d.text()),
           "fix the dimension with --dim");
    list.push_back(d.value());
  }
  return list;
}

void Inference::output(int i, Type type) {
  if (!node_.has_output(i)) return;
  if (type.is_tensor() && type.ranked) {
    if (type.rank() > kMaxRank)
      fail(ErrorCode::RankTooHigh, fmt::format("output {} has rank {}; at most {} is supported", i, type.rank(), kMaxRank));
    for (Dim d : type.extents) {
      if (d.max_value() < 0) fail(fmt::format("output {} would have shape {}", i, text(type.extents)));
    }
  }
  graph_[node_.output(i)].type = std::move(type);
}

void Inference::output_elements(int i, DimList elements) {
  if (node_.has_output(i)) graph_[node_.output(i)].elements = std::move(elements);
}

Dim Inference::fresh(std::string_view hint, int64_t min, std::optional<Dim> limit) {
  if (asked_ == node_.binds.size()) node_.binds.push_back(fmt::format("@{}{}", hint, ++fresh_));
  return Dim::run_time_symbol(node_.binds[asked_++], min, kFar, limit);
}

Dim Inference::let(Dim expression, std::string_view hint, std::optional<Dim> limit) {
  if (!expression.depends_on_run() || (expression.is_symbol() && expression.min_value() >= 0)) return expression;
  if (!limit) limit = expression.upper_bound();
  // An earlier walk may have stated it in the same place.
  for (std::size_t i = before_.size(); i-- > 0 && before_[i].outputs.empty();) {
    if (is_let(before_[i]) && std::get<std::vector<std::string>>(before_[i].attributes.at("value"))[0] == expression.text())
      return Dim::run_time_symbol(before_[i].binds[0], 0, kFar, limit);
  }
  before_.push_back(make_let_node(expression, fmt::format("@{}{}", hint, ++fresh_)));
  return Dim::run_time_symbol(before_.back().binds[0], 0, kFar, limit);
}

bool Inference::are_constant(const DimList& dims) {
  return std::all_of(dims.begin(), dims.end(), [](Dim d) { return d.is_constant(); });
}

Dim unknown_extent() { return Dim::run_time_symbol("@unknown", 0, kFar); }

void Inference::walk(Graph& region) {
  ONNXC_CHECK(walk_ != nullptr, "nodes with regions are inferred by a walk over the graph");
  (*walk_)(region);
}

int first_fresh(const Graph& graph) {
  int first = 0;
  for (const Node& node : graph.nodes) {
    for (const std::string& symbol : node.binds) {
      std::size_t digits = symbol.size();
      while (digits > 0 && symbol[digits - 1] >= '0' && symbol[digits - 1] <= '9') --digits;
      if (digits < symbol.size() && symbol.size() - digits < 9) first = std::max(first, std::stoi(symbol.substr(digits)));
    }
    for (const auto& [name, region] : node.regions) first = std::max(first, first_fresh(*region));
  }
  return first;
}

Dim Inference::unify(Dim a, Dim b, const char* what) {
  if (a == b) return a;
  if (never_equal(a, b)) fail(ErrorCode::ShapesDisagree, fmt::format("{}: {} and {} do not match", what, a.text(), b.text()));
  require({a, b}, what);
  return a.is_constant() || (!b.is_constant() && a.text().size() <= b.text().size()) ? a : b;
}

void Inference::require(Requirement requirement, const char* what) {
  requirement.who = fmt::format("{} '{}': {}", is_assume(node_) ? "If" : node_.full_op(), node_.name, what);
  if (requirement.a.depends_on_run() || requirement.b.depends_on_run()) return before_.push_back(make_require_node(requirement));
  if (std::ranges::find(graph_.requirements, requirement) == graph_.requirements.end())
    graph_.requirements.push_back(std::move(requirement));
}

int Inference::axis(int64_t axis, int rank) const {
  if (axis < -rank || axis >= rank) fail(fmt::format("axis {} is out of range for rank {}", axis, rank));
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

namespace {

/// Map, and every elementwise operator: broadcast, and the type of the expression.
void infer_expression(Inference& n, const Expr& expr) {
  std::vector<Extents> shapes;
  for (int i = 0; i < n.node().own_inputs(); ++i) {
    if (n.has(i)) shapes.push_back(n.extents(i));
  }
  Extents extents = n.broadcast(shapes);
  infer_expression_elements(n, expr, extents);
  n.output(0, expr.type(), std::move(extents));
}

void infer_epilogue(Graph& graph, Node& node) {
  // The epilogue keeps the shape; its type is its expression's.
  graph[node.outputs[0]].type.element = node.epilogue->type();
}

}  // namespace

void check_arity(const Operator& op, const Node& node) {
  const int inputs = node.own_inputs(), outputs = static_cast<int>(node.outputs.size());
  if (inputs < op.min_inputs || inputs > op.max_inputs)
    node.fail(ErrorKind::Invalid, fmt::format("has {} inputs, where {} to {} are allowed", inputs, op.min_inputs, op.max_inputs));
  if (outputs < op.min_outputs || outputs > op.max_outputs)
    node.fail(ErrorKind::Invalid, fmt::format("has {} outputs, where {} to {} are allowed", outputs, op.min_outputs, op.max_outputs));
  for (int i = 0; i < op.min_inputs; ++i) {
    if (!node.has_input(i)) node.fail(ErrorKind::Invalid, fmt::format("input {} is missing", i));
  }
}

namespace {

void infer_outputs(Graph& graph, Node& node, int& fresh, std::vector<Node>& before, const RegionWalk* walk) {
  Inference inference(graph, node, fresh, before, walk);
  if (node.is_map()) return infer_expression(inference, *node.epilogue);
  const Operator* op = find_operator(node);
  if (op == nullptr) node.fail(ErrorCode::UnknownOperator, "this operator is not supported");
  check_arity(*op, node);
  if (op->express != nullptr) {
    for (int i = 0; i < node.own_inputs(); ++i) {
      if (node.has_input(i)) static_cast<void>(inference.extents(i));
    }
    infer_expression(inference, op->express(graph, node));
  } else {
    ONNXC_CHECK(op->infer != nullptr, "an operator has a shape rule");
    op->infer(inference);
  }
  if (node.epilogue) infer_epilogue(graph, node);
}

}  // namespace

void infer_node(Graph& graph, Node& node, int& fresh, std::vector<Node>& before, const RegionWalk* walk) {
  node.guard([&] { infer_outputs(graph, node, fresh, before, walk); });
  for (ValueId v : node.outputs) {
    if (v == kAbsent) continue;
    if (std::string error = size_error(graph[v]); !error.empty()) node.fail(ErrorCode::SizeOverflow, std::move(error));
  }
}

Shape Evaluation::shape_of(const TensorData& tensor) {
  Shape shape;
  ONNXC_CHECK(tensor.shape.size() <= kMaxRank, "ranks are within the limit");
  for (int64_t d : tensor.shape) shape.dims[shape.rank++] = d;
  return shape;
}

void Evaluation::check(Status status) const {
  if (status) node_.fail(ErrorKind::Invalid, describe(status));
}

ValueId GraphBuilder::op(std::string_view op, std::vector<ValueId> inputs, std::map<std::string, Attribute> attributes) {
  return ops(op, std::move(inputs), 1, std::move(attributes))[0];
}

std::vector<ValueId> GraphBuilder::ops(std::string_view op, std::vector<ValueId> inputs, int outputs,
                                       std::map<std::string, Attribute> attributes) {
  Node node;
  const std::size_t dot = op.rfind('.');
  node.domain = dot == op.npos ? "" : op.substr(0, dot);
  node.op = dot == op.npos ? op : op.substr(dot + 1);
  node.name = base_;
  node.version = 1000;  // the latest form
  node.inputs = std::move(inputs);
  while (!node.inputs.empty() && node.inputs.back() == kAbsent) node.inputs.pop_back();
  node.attributes = std::move(attributes);
  for (int i = 0; i < outputs; ++i) node.outputs.push_back(graph_.add_value(base_));
  infer_node(graph_, node, fresh_, nodes_);
  nodes_.push_back(std::move(node));
  return nodes_.back().outputs;
}

ValueId GraphBuilder::map(Expr expr, std::vector<ValueId> inputs) {
  Node node;
  node.domain = "onnxc";
  node.op = "Map";
  node.name = base_;
  node.inputs = std::move(inputs);
  node.epilogue = std::move(expr);
  node.outputs.push_back(graph_.add_value(base_));
  infer_node(graph_, node, fresh_, nodes_);
  nodes_.push_back(std::move(node));
  return nodes_.back().outputs[0];
}

ValueId GraphBuilder::shape(const Extents& extents) {
  if (is_static(extents)) return integers(values(extents));
  Extents elements = extents;  // these may be extents of a value, and adding one moves the values
  const ValueId value = graph_.add_value(base_, Type::tensor(ElementType::I64, {static_cast<int64_t>(extents.size())}));
  graph_[value].elements = std::move(elements);
  nodes_.push_back(make_extents_node(graph_, value));
  nodes_.back().name = base_;
  return value;
}

ValueId GraphBuilder::number(ElementType type, double value) {
  auto t = std::make_shared<TensorData>(TensorData::zeros(type, {}));
  const uint64_t bits = to_bits(type, value);
  std::memcpy(t->bytes.data(), &bits, t->bytes.size());
  return graph_.add_constant(base_, std::move(t));
}

}  // namespace onnxc
