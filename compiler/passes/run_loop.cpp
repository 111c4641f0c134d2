#include "compiler/passes/run_loop.h"

#include <algorithm>
#include <map>

#include "compiler/ops/control/loop.h"
#include "compiler/ops/shape_arithmetic.h"

namespace onnxc {
namespace {

constexpr int64_t kMostTrips = 1 << 16;

/// Makes a constant of a formal parameter. Extents that are symbols become known by it.
void fix(Graph& body, ValueId formal, const Constant& value, std::map<std::string, Dim>& symbols) {
  Value& v = body[formal];
  const auto note = [&](Dim symbol, int64_t is) {
    if (symbol.is_symbol()) symbols.emplace(symbol.name(), is);
  };
  for (std::size_t axis = 0; axis < v.type.extents.size() && axis < value->shape.size(); ++axis)
    note(v.type.extents[axis], value->shape[axis]);
  if (v.elements && is_integer(value->type)) {
    const std::vector<int64_t> integers = to_integers(*value);
    for (std::size_t i = 0; i < v.elements->size() && i < integers.size(); ++i) note((*v.elements)[i], integers[i]);
  }
  v.type = Type::tensor(value->type, to_extents(value->shape));
  v.constant = value;
  v.elements.reset();
}

/// One tensor of tensors of one type; empty if they differ.
std::optional<Constant> stacked(const std::vector<Constant>& slices) {
  if (slices.empty()) return std::nullopt;
  TensorData all{slices[0]->type, slices[0]->shape, {}, {}};
  if (is_sub_byte(all.type)) return std::nullopt;
  all.shape.insert(all.shape.begin(), static_cast<int64_t>(slices.size()));
  for (const Constant& slice : slices) {
    if (slice->type != all.type || slice->shape != slices[0]->shape) return std::nullopt;
    all.bytes.append(slice->bytes.begin(), slice->bytes.end());
    all.strings.insert(all.strings.end(), slice->strings.begin(), slice->strings.end());
  }
  return std::make_shared<TensorData>(std::move(all));
}

bool holds(const Constant& condition) { return condition->count() == 1 && to_integers(*condition)[0] != 0; }

}  // namespace

std::optional<std::vector<Constant>> run_loop(const Graph& graph, const Node& node, const std::function<void(Graph&)>& evaluate) {
  const auto is_unknown = [&](ValueId v) { return v != kAbsent && graph[v].constant == nullptr; };
  const Graph* const region = node.region("body");
  if (region == nullptr || std::ranges::any_of(node.inputs, is_unknown) || std::ranges::any_of(node.captures, is_unknown))
    return std::nullopt;
  const std::size_t carried = loop_carried(node);
  if (node.inputs.size() < carried + 2 || region->outputs.size() < carried + 1 || region->outputs.size() - 1 != node.outputs.size())
    return std::nullopt;
  std::vector<Constant> values;
  for (std::size_t i = 0; i < carried; ++i) {
    if (node.inputs[2 + i] == kAbsent) return std::nullopt;
    values.push_back(graph[node.inputs[2 + i]].constant);
  }
  std::vector<std::vector<Constant>> scanned(node.outputs.size() - carried);
  bool goes_on = !node.has_input(1) || holds(graph[node.inputs[1]].constant);
  const int64_t most = node.has_input(0) ? to_integers(*graph[node.inputs[0]].constant).at(0) : INT64_MAX;
  for (int64_t trip = 0; trip < most && goes_on; ++trip) {
    if (trip == kMostTrips) return std::nullopt;
    Graph body = clone(*region);
    std::map<std::string, Dim> symbols;
    const auto in_shape_of = [&](ValueId formal, Constant scalar) {  // [1] where the body says so
      auto shaped = std::make_shared<TensorData>(*scalar);
      if (body[formal].type.ranked && body[formal].type.rank() == 1) shaped->shape = {1};
      return shaped;
    };
    fix(body, body.inputs[0], in_shape_of(body.inputs[0], make_scalar(ElementType::I64, trip)), symbols);
    fix(body, body.inputs[1], in_shape_of(body.inputs[1], make_scalar(ElementType::Bool, true)), symbols);
    for (std::size_t i = 0; i < carried; ++i) fix(body, body.inputs[2 + i], values[i], symbols);
    for (std::size_t i = 0; i < node.captures.size(); ++i)
      fix(body, body.inputs[2 + carried + i], graph[node.captures[i]].constant, symbols);
    body.inputs.clear();
    for_each_graph(body, [&](Graph& inner) {
      for (Node& n : inner.nodes) {
        if (is_extents(n)) bind_symbols(n, symbols);
      }
    });
    evaluate(body);
    if (std::ranges::any_of(body.outputs, [&](ValueId v) { return body[v].constant == nullptr; })) return std::nullopt;
    goes_on = holds(body[body.outputs[0]].constant);
    for (std::size_t i = 0; i < carried; ++i) values[i] = body[body.outputs[1 + i]].constant;
    for (std::size_t i = 0; i < scanned.size(); ++i) scanned[i].push_back(body[body.outputs[1 + carried + i]].constant);
  }
  for (const std::vector<Constant>& slices : scanned) {
    const std::optional<Constant> all = stacked(slices);
    if (!all) return std::nullopt;
    values.push_back(*all);
  }
  return values;
}

}  // namespace onnxc
