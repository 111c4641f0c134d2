#include "compiler/frontend/free_names.h"

#include <set>

#include "compiler/support/error.h"
#include "compiler/support/error_codes.h"
#include "onnx/onnx_pb.h"

namespace onnxc {
namespace {

struct FreeNames {
  std::vector<std::string> list;
  std::set<std::string> seen;
};

void add_free_names(const onnx::GraphProto& graph, FreeNames& names, int depth) {
  if (depth > 64) throw Error(ErrorCode::NestedTooDeeply, "graphs are nested too deeply");
  std::set<std::string> defined;
  for (const auto& t : graph.initializer()) defined.insert(t.name());
  for (const auto& t : graph.sparse_initializer()) defined.insert(t.values().name());
  for (const auto& i : graph.input()) defined.insert(i.name());
  const auto use = [&](const std::string& name) {
    if (!name.empty() && !defined.contains(name) && names.seen.insert(name).second) names.list.push_back(name);
  };
  for (const auto& node : graph.node()) {
    for (const auto& name : node.input()) use(name);
    for (const auto& name : free_names(node, depth + 1)) use(name);
    for (const auto& name : node.output()) defined.insert(name);
  }
  for (const auto& output : graph.output()) use(output.name());
}

}  // namespace

std::vector<std::string> free_names(const onnx::NodeProto& node, int depth) {
  FreeNames names;
  for (const auto& a : node.attribute()) {
    if (a.has_g()) add_free_names(a.g(), names, depth);
    for (const auto& g : a.graphs()) add_free_names(g, names, depth);
  }
  return names.list;
}

}  // namespace onnxc
