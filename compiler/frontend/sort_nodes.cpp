#include "compiler/frontend/sort_nodes.h"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <set>
#include <string>
#include <vector>

#include "compiler/frontend/free_names.h"
#include "compiler/frontend/schemas.h"
#include "compiler/support/error.h"
#include "compiler/support/error_codes.h"
#include "onnx/onnx_pb.h"

namespace onnxc {
namespace {

using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

/// A node among those that are left over: each has one before it that is, too, so that walking back ends up in a circle.
[[noreturn]] void refuse_circle(const Nodes& nodes, const std::vector<std::vector<int>>& before, const std::vector<int>& missing) {
  int at = 0;
  while (missing[static_cast<std::size_t>(at)] == 0) ++at;
  std::set<int> seen;
  while (seen.insert(at).second) {
    for (const int node : before[static_cast<std::size_t>(at)]) {
      if (missing[static_cast<std::size_t>(node)] > 0) at = node;
    }
  }
  const auto& node = nodes[at];
  throw Error(ErrorCode::Cycle,
              std::vector<Diagnostic>{{node_name(node), node.op_type(), "needs its own result, by way of other nodes or without"}});
}

/// Whether a node moved.
bool sort(Nodes& nodes) {
  bool moved = false;
  const int count = nodes.size();
  std::map<std::string, int> definitions;
  for (int i = 0; i < count; ++i) {
    for (auto& a : *nodes[i].mutable_attribute()) {
      if (a.has_g()) moved |= sort(*a.mutable_g()->mutable_node());
      for (auto& g : *a.mutable_graphs()) moved |= sort(*g.mutable_node());
    }
    for (const auto& name : nodes[i].output()) {
      if (!name.empty()) definitions.emplace(name, i);
    }
  }
  std::vector<std::vector<int>> before(static_cast<std::size_t>(count)), after(static_cast<std::size_t>(count));
  std::vector<int> missing(static_cast<std::size_t>(count));  // nodes before each that are not placed yet
  for (int i = 0; i < count; ++i) {
    const auto use = [&](const std::string& name) {
      const auto definition = definitions.find(name);
      if (definition == definitions.end()) return;
      before[static_cast<std::size_t>(i)].push_back(definition->second);
      after[static_cast<std::size_t>(definition->second)].push_back(i);
      ++missing[static_cast<std::size_t>(i)];
    };
    for (const auto& name : nodes[i].input()) use(name);
    for (const auto& name : free_names(nodes[i])) use(name);
  }
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (int i = 0; i < count; ++i) {
    if (missing[static_cast<std::size_t>(i)] == 0) ready.push(i);
  }
  std::vector<int> order;
  while (!ready.empty()) {
    const int node = ready.top();
    ready.pop();
    order.push_back(node);
    for (const int next : after[static_cast<std::size_t>(node)]) {
      if (--missing[static_cast<std::size_t>(next)] == 0) ready.push(next);
    }
  }
  if (static_cast<int>(order.size()) < count) refuse_circle(nodes, before, missing);
  Nodes sorted;
  for (const int node : order) sorted.Add()->Swap(&nodes[node]);
  nodes.Swap(&sorted);
  return moved || !std::ranges::is_sorted(order);
}

}  // namespace

bool sort_nodes(onnx::ModelProto& model) {
  bool moved = false;
  for (auto& function : *model.mutable_functions()) moved |= sort(*function.mutable_node());
  return sort(*model.mutable_graph()->mutable_node()) || moved;
}

}  // namespace onnxc
