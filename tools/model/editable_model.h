// A model as ONNX's own message, to be changed and written again: what commands that give models from models work on.
#pragma once
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/ir/tensor.h"
#include "onnx/onnx_pb.h"

namespace onnxc {

/// Reads a model with its external data, functions inlined. Throws Error{Io, Invalid, Unsupported}, as the compiler does.
onnx::ModelProto read_editable_model(const std::filesystem::path& path);
/// Tensors whose elements lie in files beside the model hold them from then on. Throws Error{Io, Invalid}.
void embed_external_data(onnx::ModelProto& model, const std::filesystem::path& folder);
/// Whole or not at all. Throws Error{Budget} beyond protobuf's 2 GiB.
void write_model(const onnx::ModelProto& model, const std::filesystem::path& path);

/// The opset of the default domain.
int64_t opset_of(const onnx::ModelProto& model);
/// Brings the model to that opset where its own is older: by the number alone where no operator of it has changed in between, else by ONNX's converter.
/// Throws Error{Unsupported} where that cannot.
void raise_opset(onnx::ModelProto& model, int64_t opset);
/// Imports a domain, unless it is imported already.
void import_domain(onnx::ModelProto& model, const std::string& domain, int64_t version);

/// Calls visit(tensor) for each initialiser and for each tensor among the attributes of nodes, in regions as well.
template <class Visit>
void for_each_tensor(onnx::GraphProto& graph, const Visit& visit) {
  for (auto& tensor : *graph.mutable_initializer()) visit(tensor);
  for (auto& node : *graph.mutable_node()) {
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.has_t()) visit(*attribute.mutable_t());
      if (attribute.has_g()) for_each_tensor(*attribute.mutable_g(), visit);
    }
  }
}
TensorData to_tensor(const onnx::TensorProto& proto);
onnx::TensorProto to_proto(const TensorData& tensor, const std::string& name);
/// The elements of a tensor of f32; empty for another, and for null.
std::vector<float> floats_of(const onnx::TensorProto* proto);
/// A vector of f32.
TensorData floats_tensor(const std::vector<float>& values);

/// An attribute of a node, or null.
const onnx::AttributeProto* find_attribute(const onnx::NodeProto& node, const std::string& name);
int64_t integer_attribute(const onnx::NodeProto& node, const std::string& name, int64_t otherwise);
float number_attribute(const onnx::NodeProto& node, const std::string& name, float otherwise);
std::vector<int64_t> integers_attribute(const onnx::NodeProto& node, const std::string& name);
void set_attribute(onnx::NodeProto& node, const std::string& name, int64_t value);
void clear_attribute(onnx::NodeProto& node, const std::string& name);
/// Whether it is an operator of ONNX's own domain, of that name.
bool is_op(const onnx::NodeProto& node, std::string_view op);
/// `Conv 'stem/conv1'`, by its name or else that of its first output.
std::string shown(const onnx::NodeProto& node);

/// Where the values of a main graph come from and go to. It holds for the graph as it was when it was made.
class GraphIndex {
 public:
  explicit GraphIndex(const onnx::GraphProto& graph);

  /// The node that computes a value, or -1.
  int producer(const std::string& value) const;
  /// The nodes that read it, one entry for each place, without those in regions.
  const std::vector<int>& readers(const std::string& value) const;
  /// Whether it is an output of the graph, or is read inside of a region.
  bool is_seen_outside(const std::string& value) const { return outside_.contains(value); }
  /// Whether one node reads it, once, and nothing else sees it.
  bool has_one_reader(const std::string& value) const { return readers(value).size() == 1 && !is_seen_outside(value); }
  /// The constant that an initialiser states, or null.
  const onnx::TensorProto* initialiser(const std::string& value) const;
  /// A name that no value has yet, from then on taken.
  std::string fresh(const std::string& base);

 private:
  std::map<std::string, int> producers_;
  std::map<std::string, std::vector<int>> readers_;
  std::map<std::string, const onnx::TensorProto*> initialisers_;
  std::set<std::string> outside_, names_;
};

/// Replaces the value of an initialiser.
void set_initialiser(onnx::GraphProto& graph, const std::string& name, const TensorData& tensor);
/// Removes initialisers that nothing reads, also from the inputs where an early IR lists them, and the nodes whose outputs nothing reads.
void remove_unused(onnx::GraphProto& graph);
/// Constant nodes of tensors become initialisers.
void move_constants(onnx::GraphProto& graph);

}  // namespace onnxc
