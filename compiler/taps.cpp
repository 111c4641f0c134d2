#include "compiler/taps.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/support/closest.h"
#include "compiler/support/error.h"
#include "compiler/support/error_codes.h"

namespace onnxc {
namespace {

/// The node of the graph whose regions compute the value, or null.
const Node* node_around(const Graph& graph, const std::string& name) {
  for (const Node& node : graph.nodes) {
    for (const auto& [attribute, region] : node.regions) {
      const bool here = std::ranges::any_of(region->nodes, [&, &region = region](const Node& inner) {
        return std::ranges::any_of(inner.outputs, [&](ValueId v) { return v != kAbsent && (*region)[v].name == name; });
      });
      if (here || node_around(*region, name) != nullptr) return &node;
    }
  }
  return nullptr;
}

}  // namespace

void add_taps(Graph& graph, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const auto found = std::ranges::find(graph.values, name, &Value::name);
    if (found != graph.values.end()) {
      const auto id = static_cast<ValueId>(found - graph.values.begin());
      if (std::ranges::find(graph.outputs, id) == graph.outputs.end()) graph.outputs.push_back(id);
      continue;
    }
    if (const Node* const node = node_around(graph, name))
      throw Error(ErrorCode::NoSuchValue,
                  fmt::format("--tap {}: the value lives inside of {} '{}', where it has no one value a run", one_line(name),
                              node->full_op(), one_line(node->name)),
                  "tap an output of that node");
    std::vector<std::string> known;
    for (const Value& value : graph.values) known.push_back(value.name);
    throw Error(ErrorCode::NoSuchValue, fmt::format("--tap {}: the model has no such value", one_line(name)), closest_text(name, known));
  }
}

}  // namespace onnxc
