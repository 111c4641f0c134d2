#include "compiler/frontend/check_functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "compiler/frontend/schemas.h"
#include "compiler/support/error.h"
#include "compiler/support/error_codes.h"
#include "onnx/onnx_pb.h"

namespace onnxc {
namespace {

using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;
using Functions = std::map<std::string, const onnx::FunctionProto*>;  // by domain, name and overload

constexpr int64_t kMostNodes = 2'000'000;
constexpr const char* kRemedy = "see --max-nodes";

std::string callee_of(const onnx::NodeProto& node) { return normal_domain(node.domain()) + ":" + node.op_type() + ":" + node.overload(); }

Functions functions_of(const onnx::ModelProto& model) {
  Functions functions;
  for (const auto& f : model.functions()) functions[normal_domain(f.domain()) + ":" + f.name() + ":" + f.overload()] = &f;
  return functions;
}

/// Visits the nodes of regions as well.
template <class Visit>
void for_each_node(const Nodes& nodes, const Visit& visit) {
  for (const auto& node : nodes) {
    visit(node);
    for (const auto& a : node.attribute()) {
      if (a.has_g()) for_each_node(a.g().node(), visit);
      for (const auto& g : a.graphs()) for_each_node(g.node(), visit);
    }
  }
}

void check_calls(const Nodes& nodes, const Functions& functions) {
  for_each_node(nodes, [&](const onnx::NodeProto& node) {
    const auto f = functions.find(callee_of(node));
    if (f == functions.end()) return;
    const auto check = [&](int given, int stated, const char* what) {
      if (given > stated)
        throw Error(ErrorCode::FunctionCall, std::vector<Diagnostic>{{node_name(node), node.op_type(),
                                                                      fmt::format("has {} {}, its function {}", given, what, stated)}});
    };
    check(node.input_size(), f->second->input_size(), "inputs");
    check(node.output_size(), f->second->output_size(), "outputs");
  });
}

/// Counts the nodes that inlining the functions would produce, before anything is inlined: 2^k calls must cost
/// neither memory nor time.
void check_growth(const onnx::ModelProto& model, const Functions& functions, std::optional<int64_t> max_nodes) {
  constexpr int64_t kLeast = 40'000, kGrowth = 100;
  int64_t written = 0;
  const auto count_one = [&](const onnx::NodeProto&) { ++written; };
  for_each_node(model.graph().node(), count_one);
  for (const auto& f : model.functions()) for_each_node(f.node(), count_one);
  const int64_t most_nodes = max_nodes.value_or(std::clamp(kGrowth * written, kLeast, kMostNodes));
  constexpr std::size_t kMostOpen = 100;  // the limit of ONNX's inliner
  std::map<std::string, int64_t> sizes;
  std::set<std::string> open;  // functions whose bodies are being counted
  std::function<int64_t(const Nodes&)> count_nodes;
  const auto size_of = [&](const std::string& key) {
    if (const auto it = sizes.find(key); it != sizes.end()) return it->second;
    if (!open.insert(key).second) throw Error(ErrorCode::FunctionCall, fmt::format("function '{}' calls itself", key));
    if (open.size() > kMostOpen)
      throw Error(ErrorCode::NestedTooDeeply,
                  fmt::format("function '{}' is called by a function that another calls, and so on, more than {} of them", key, kMostOpen));
    const int64_t size = count_nodes(functions.at(key)->node());
    if (size > most_nodes)
      throw Error(ErrorCode::TooManyNodes, fmt::format("function '{}' expands to more than {} nodes", key, most_nodes), kRemedy);
    open.erase(key);
    return sizes[key] = size;
  };
  count_nodes = [&](const auto& nodes) {
    int64_t count = 0;
    for (const auto& node : nodes) {
      const std::string callee = callee_of(node);
      count += functions.contains(callee) ? size_of(callee) : 1;
      for (const auto& a : node.attribute()) {
        if (a.has_g()) count += count_nodes(a.g().node());
        for (const auto& g : a.graphs()) count += count_nodes(g.node());
      }
      if (count > most_nodes) break;
    }
    return count;
  };
  if (count_nodes(model.graph().node()) > most_nodes)
    throw Error(ErrorCode::TooManyNodes,
                fmt::format("the model's functions expand graph '{}' to more than {} nodes", model.graph().name(), most_nodes), kRemedy);
}

/// Checks each node of the functions that the graph calls, directly or not, by what the function imports, else the model: ONNX's library reads bodies without
/// asking whether a node has the outputs that its operator has.
void check_bodies(const onnx::ModelProto& model, const Functions& functions, const std::map<std::string, int64_t>& opsets,
                  const Schemas::Predicate& knows, const Schemas::Predicate& replaces) {
  std::set<const onnx::FunctionProto*> called;
  std::vector<const onnx::FunctionProto*> left;
  const auto call = [&](const onnx::NodeProto& node) {
    const auto f = functions.find(callee_of(node));
    if (f != functions.end() && called.insert(f->second).second) left.push_back(f->second);
    return f != functions.end();
  };
  for_each_node(model.graph().node(), call);
  while (!left.empty()) {
    const onnx::FunctionProto& function = *left.back();
    left.pop_back();
    std::map<std::string, int64_t> own = opsets;
    for (const auto& import : function.opset_import()) own[import.domain().empty() ? "ai.onnx" : import.domain()] = import.version();
    const Schemas schemas(own, knows, replaces);
    for_each_node(function.node(), [&](const onnx::NodeProto& node) {
      if (!call(node)) schemas.verify(node);
    });
  }
}

}  // namespace

void check_functions(const onnx::ModelProto& model, const std::map<std::string, int64_t>& opsets, const Schemas::Predicate& knows,
                     const Schemas::Predicate& replaces, std::optional<int64_t> max_nodes) {
  const Functions functions = functions_of(model);
  for (const auto& f : model.functions()) {
    for (const auto& import : f.opset_import()) check_opset(import.domain(), import.version(), fmt::format("function '{}': ", f.name()));
    check_calls(f.node(), functions);
  }
  check_calls(model.graph().node(), functions);
  check_growth(model, functions, max_nodes);
  check_bodies(model, functions, opsets, knows, replaces);
}

void check_node_count(const onnx::ModelProto& model, std::optional<int64_t> max_nodes) {
  const int64_t most = max_nodes.value_or(kMostNodes);
  int64_t count = 0;
  for_each_node(model.graph().node(), [&](const onnx::NodeProto&) { ++count; });
  if (count > most)
    throw Error(ErrorCode::TooManyNodes, fmt::format("graph '{}' has {} nodes, more than {}", model.graph().name(), count, most), kRemedy);
}

}  // namespace onnxc
