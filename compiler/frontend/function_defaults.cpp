#include "compiler/frontend/function_defaults.h"

#include <map>
#include <set>
#include <string>

#include "onnx/common/proto_util.h"
#include "onnx/onnx_pb.h"

namespace onnxc {
namespace {

using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;
using Names = std::set<std::string>;

template <class Visit>
void for_each_node(Nodes& nodes, const Visit& visit) {
  for (auto& node : nodes) {
    visit(node);
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) for_each_node(*attribute.mutable_g()->mutable_node(), visit);
      for (auto& graph : *attribute.mutable_graphs()) for_each_node(*graph.mutable_node(), visit);
    }
  }
}

/// By ONNX's rules, a reference to an attribute that a call does not have is removed. If the node that contained it
/// is itself a call, the default of its function applies instead. So the meaning of a body depends on which
/// attributes its call has, and each such set of attributes gets an overload of its own.
class Completion {
 public:
  explicit Completion(onnx::ModelProto& model) : model_(model) {
    functions_.Swap(model.mutable_functions());
    for (int i = 0; i < functions_.size(); ++i) numbers_[onnx::GetFunctionImplId(functions_[i])] = i;
  }

  void run() { complete_calls_in(*model_.mutable_graph()->mutable_node()); }

 private:
  void complete_calls_in(Nodes& nodes) {
    for_each_node(nodes, [&](onnx::NodeProto& node) {
      if (const auto callee = numbers_.find(onnx::GetCalleeId(node)); callee != numbers_.end()) complete(node, callee->second);
    });
  }

  void complete(onnx::NodeProto& call, int number) {
    const onnx::FunctionProto& function = functions_[number];
    Names given;
    for (const auto& attribute : call.attribute()) given.insert(attribute.name());
    for (const auto& stated : function.attribute_proto()) {
      if (given.insert(stated.name()).second) *call.add_attribute() = stated;
    }
    const auto known = overloads_.find({number, given});
    call.set_overload(known != overloads_.end() ? known->second : add_overload(number, given));
  }

  std::string add_overload(int number, const Names& given) {
    onnx::FunctionProto body = functions_[number];
    body.set_overload(std::to_string(overloads_.size()));
    overloads_[{number, given}] = body.overload();
    for_each_node(*body.mutable_node(), [&](onnx::NodeProto& node) {
      auto& attributes = *node.mutable_attribute();
      for (int i = attributes.size() - 1; i >= 0; --i) {
        const std::string& reference = attributes[i].ref_attr_name();
        if (!reference.empty() && !given.contains(reference)) attributes.DeleteSubrange(i, 1);
      }
    });
    complete_calls_in(*body.mutable_node());
    model_.add_functions()->Swap(&body);
    return overloads_.at({number, given});
  }

  onnx::ModelProto& model_;
  google::protobuf::RepeatedPtrField<onnx::FunctionProto> functions_;  // those of the model
  std::map<std::string, int> numbers_;                                 // of functions, by their ids
  std::map<std::pair<int, Names>, std::string> overloads_;
};

}  // namespace

void complete_calls(onnx::ModelProto& model) { Completion(model).run(); }

}  // namespace onnxc
