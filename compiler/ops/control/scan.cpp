#include "compiler/ops/control/scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compiler/ops/control/loop.h"
#include "compiler/ops/operator.h"

namespace onnxc {
namespace {

constexpr int kLatest = 1000;

Node make_node(std::string op, std::string name, std::vector<ValueId> inputs, std::vector<ValueId> outputs,
               std::map<std::string, Attribute> attributes = {}) {
  Node node;
  node.op = std::move(op);
  node.name = std::move(name);
  node.version = kLatest;
  node.inputs = std::move(inputs);
  node.outputs = std::move(outputs);
  node.attributes = std::move(attributes);
  return node;
}

ValueId add_scalar(Graph& graph, int64_t value) { return graph.add_constant("scan", make_scalar<int64_t>(ElementType::I64, value)); }

/// An attribute with one number for each scanned value, or a default for all.
std::vector<int64_t> list_of(const Node& node, const char* attribute, std::size_t count) {
  std::vector<int64_t> list = node.integers(attribute, std::vector<int64_t>(count, 0));
  if (list.size() != count) node.fail(ErrorKind::Invalid, fmt::format("{} has {} numbers for {} values", attribute, list.size(), count));
  return list;
}

struct Shape {
  std::size_t states, inputs, outputs;
};

Shape shape_of(const Node& node, const Graph& body, std::size_t first) {
  const int64_t scanned = node.integer("num_scan_inputs", 0);
  const std::size_t given = node.inputs.size() - first, formals = body.inputs.size() - node.captures.size();
  if (scanned < 1 || static_cast<std::size_t>(scanned) > given || formals != given)
    node.fail(ErrorKind::Invalid, fmt::format("num_scan_inputs is {}, with {} inputs and a body of {}", scanned, given, formals));
  const std::size_t states = given - static_cast<std::size_t>(scanned);
  if (body.outputs.size() < states || body.outputs.size() != node.outputs.size())
    node.fail(ErrorKind::Invalid, fmt::format("the body gives {} values, the node has {} outputs and {} states", body.outputs.size(),
                                              node.outputs.size(), states));
  return {states, static_cast<std::size_t>(scanned), body.outputs.size() - states};
}

/// A body that runs over slices. It takes the number of the iteration, a condition, the states, the captures and the
/// scanned values.
std::shared_ptr<Graph> loop_body(const Graph& scan_body, const Shape& shape, const std::vector<int64_t>& axes,
                                 const std::vector<int64_t>& directions) {
  auto body = std::make_shared<Graph>(clone(scan_body));
  const std::vector<ValueId> formals = body->inputs;
  const ValueId number = body->add_value("iteration", Type::tensor(ElementType::I64, {})),
                condition = body->add_value("condition", Type::tensor(ElementType::Bool, {}));
  body->inputs = {number, condition};
  body->inputs.insert(body->inputs.end(), formals.begin(), formals.begin() + static_cast<std::ptrdiff_t>(shape.states));
  body->inputs.insert(body->inputs.end(), formals.begin() + static_cast<std::ptrdiff_t>(shape.states + shape.inputs), formals.end());
  std::vector<Node> nodes;
  for (std::size_t k = 0; k < shape.inputs; ++k) {
    const ValueId whole = body->add_value("scanned");
    body->inputs.push_back(whole);
    ValueId at = number;
    if (directions[k] != 0) {
      at = body->add_value("backwards");
      nodes.push_back(make_node("Sub", "backwards", {add_scalar(*body, -1), number}, {at}));
    }
    nodes.push_back(make_node("Gather", "slice", {whole, at}, {formals[shape.states + k]}, {{"axis", axes[k]}}));
  }
  nodes.insert(nodes.end(), std::make_move_iterator(body->nodes.begin()), std::make_move_iterator(body->nodes.end()));
  body->nodes = std::move(nodes);
  body->outputs.insert(body->outputs.begin(), condition);
  return body;
}

void expand_latest(Graph& graph, const Node& node, const std::function<void(Node)>& visit) {
  const Graph& body = *node.region("body");
  const Shape shape = shape_of(node, body, 0);
  const std::vector<int64_t> axes = list_of(node, "scan_input_axes", shape.inputs),
                             directions = list_of(node, "scan_input_directions", shape.inputs);
  const std::vector<int64_t> out_axes = list_of(node, "scan_output_axes", shape.outputs),
                             out_directions = list_of(node, "scan_output_directions", shape.outputs);

  const ValueId first = node.inputs[shape.states], extents = graph.add_value("extents"), length = graph.add_value("length");
  const Type& scanned = graph[first].type;
  if (!scanned.is_tensor() || !scanned.ranked || axes[0] < -scanned.rank() || axes[0] >= scanned.rank())
    node.fail(ErrorKind::Invalid, fmt::format("scans axis {} of {}", axes[0], scanned.text()));
  visit(make_node("Shape", node.name, {first}, {extents}));
  visit(make_node("Gather", node.name, {extents, add_scalar(graph, axes[0])}, {length}));

  Node loop = make_node("Loop", node.name, {length, kAbsent}, {});
  loop.trials = node.trials;
  loop.inputs.insert(loop.inputs.end(), node.inputs.begin(), node.inputs.begin() + static_cast<std::ptrdiff_t>(shape.states));
  loop.captures = node.captures;
  loop.captures.insert(loop.captures.end(), node.inputs.begin() + static_cast<std::ptrdiff_t>(shape.states), node.inputs.end());
  loop.regions.emplace_back("body", loop_body(body, shape, axes, directions));
  std::vector<ValueId> stacked(shape.outputs, kAbsent);
  loop.outputs = node.outputs;
  for (std::size_t k = 0; k < shape.outputs; ++k) {
    ValueId& out = loop.outputs[shape.states + k];
    if (out != kAbsent && (out_axes[k] != 0 || out_directions[k] != 0)) out = stacked[k] = graph.add_value("stacked");
  }
  visit(std::move(loop));

  for (std::size_t k = 0; k < shape.outputs; ++k) {
    if (stacked[k] == kAbsent) continue;
    const int rank = graph[stacked[k]].type.rank();
    const int64_t axis = out_axes[k] < 0 ? out_axes[k] + rank : out_axes[k];
    if (axis < 0 || axis >= rank)
      node.fail(ErrorKind::Invalid, fmt::format("scan_output_axes has {} for a result of rank {}", out_axes[k], rank));
    const ValueId result = node.outputs[shape.states + k];
    ValueId reversed = stacked[k];
    if (out_directions[k] != 0) {
      reversed = axis == 0 ? result : graph.add_value("reversed");
      const auto list = [&](int64_t v) { return graph.add_constant("scan", std::vector<int64_t>{v}); };
      visit(make_node("Slice", node.name, {stacked[k], list(-1), list(INT64_MIN), list(0), list(-1)}, {reversed}));
    }
    if (axis == 0) continue;
    std::vector<int64_t> permutation;
    for (int64_t a = 1; a <= axis; ++a) permutation.push_back(a);
    permutation.push_back(0);
    for (int64_t a = axis + 1; a < rank; ++a) permutation.push_back(a);
    visit(make_node("Transpose", node.name, {reversed}, {result}, {{"perm", permutation}}));
  }
}

/// The body for sequences of which only the first `length` elements count. It has one more state, the number of the
/// iteration, and one more capture, the length. From that element on, states stay as they are and results are 0.
std::shared_ptr<Graph> body_of_length(const Graph& scan_body, std::size_t states) {
  auto body = std::make_shared<Graph>(clone(scan_body));
  const auto scalar = [&](const char* name) { return body->add_value(name, Type::tensor(ElementType::I64, {})); };
  const ValueId number = scalar("number"), length = scalar("length"), next = body->add_value("next"), counts = body->add_value("counts");
  const std::vector<ValueId> before = body->inputs;
  body->inputs.insert(body->inputs.begin(), number);
  body->inputs.push_back(length);
  body->nodes.push_back(make_node("Add", "next", {number, add_scalar(*body, 1)}, {next}));
  body->nodes.push_back(make_node("Less", "counts", {number, length}, {counts}));
  for (std::size_t k = 0; k < body->outputs.size(); ++k) {
    ValueId otherwise = k < states ? before[k] : body->add_value("nothing");
    if (k >= states) body->nodes.push_back(make_node("CastLike", "nothing", {add_scalar(*body, 0), body->outputs[k]}, {otherwise}));
    const ValueId kept = body->add_value("kept");
    body->nodes.push_back(make_node("Where", "kept", {counts, body->outputs[k], otherwise}, {kept}));
    body->outputs[k] = kept;
  }
  body->outputs.insert(body->outputs.begin(), next);
  return body;
}

/// Opset 8: the first axis of states and scanned values is a batch, and the second is scanned, as far as
/// sequence_lens says.
void expand_batched(Graph& graph, Node node, const std::function<void(Node)>& visit) {
  const Graph& body = *node.region("body");
  const Shape shape = shape_of(node, body, 1);
  const bool lengths = node.has_input(0);
  if (lengths) {  // backward scans begin at the end of their sequence
    std::vector<int64_t> directions = list_of(node, "directions", shape.inputs);
    for (std::size_t k = 0; k < shape.inputs; ++k) {
      if (std::exchange(directions[k], 0) == 0) continue;
      ValueId& in = node.inputs[1 + shape.states + k];
      const ValueId reversed = graph.add_value("reversed");
      visit(make_node("ReverseSequence", node.name, {in, node.inputs[0]}, {reversed},
                      {{"batch_axis", int64_t{0}}, {"time_axis", int64_t{1}}}));
      in = reversed;
    }
    node.attributes["directions"] = directions;
  }
  auto batch_body = std::make_shared<Graph>();
  batch_body->name = "batch";
  const ValueId number = batch_body->add_value("sample", Type::tensor(ElementType::I64, {})),
                condition = batch_body->add_value("condition", Type::tensor(ElementType::Bool, {}));
  batch_body->inputs = {number, condition};
  Node scan = make_node("Scan", node.name, {}, {}, {{"num_scan_inputs", static_cast<int64_t>(shape.inputs)}});
  if (node.trials) scan.trials = node.trials->inner;
  if (node.has("directions")) scan.attributes["scan_input_directions"] = node.integers("directions");
  scan.regions.emplace_back("body", lengths ? body_of_length(body, shape.states) : std::make_shared<Graph>(clone(body)));
  for (std::size_t i = 0; i < node.captures.size(); ++i) {
    batch_body->inputs.push_back(batch_body->add_value("captured"));
    scan.captures.push_back(batch_body->inputs.back());
  }
  if (lengths) scan.inputs.push_back(add_scalar(*batch_body, 0));
  for (std::size_t i = lengths ? 0 : 1; i < node.inputs.size(); ++i) {
    batch_body->inputs.push_back(batch_body->add_value("whole"));
    const ValueId part = batch_body->add_value("part");
    (i == 0 ? scan.captures : scan.inputs).push_back(part);
    batch_body->nodes.push_back(make_node("Gather", node.name, {batch_body->inputs.back(), number}, {part}, {{"axis", int64_t{0}}}));
  }
  batch_body->outputs = {condition};
  if (lengths) scan.outputs.push_back(batch_body->add_value("number"));
  for (std::size_t k = 0; k < node.outputs.size(); ++k) {
    scan.outputs.push_back(batch_body->add_value("result"));
    batch_body->outputs.push_back(scan.outputs.back());
  }
  batch_body->nodes.push_back(std::move(scan));

  const ValueId extents = graph.add_value("extents"), length = graph.add_value("batch");
  visit(make_node("Shape", node.name, {node.inputs[1]}, {extents}));
  visit(make_node("Gather", node.name, {extents, add_scalar(graph, 0)}, {length}));
  Node loop = make_node("Loop", node.name, {length}, node.outputs);
  loop.trials = node.trials;
  loop.captures = node.captures;
  loop.captures.insert(loop.captures.end(), node.inputs.begin() + (lengths ? 0 : 1), node.inputs.end());
  loop.regions.emplace_back("body", std::move(batch_body));
  visit(std::move(loop));
}

void infer_scan(Inference&) { ONNXC_CHECK(false, "a Scan is expanded before it is inferred"); }

}  // namespace

void expand_scan(Graph& graph, const Node& node, const std::function<void(Node)>& visit) {
  if (node.region("body") == nullptr) node.fail(ErrorKind::Invalid, "has no body");
  if (node.inputs.empty()) node.fail(ErrorKind::Invalid, "has no inputs");
  if (node.version < 9) expand_batched(graph, node, visit);
  else expand_latest(graph, node, visit);
}

extern const Operator op_Scan;
const Operator op_Scan{.name = "Scan", .min_inputs = 1, .min_outputs = 0, .infer = infer_scan};

}  // namespace onnxc
