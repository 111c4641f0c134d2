// What may be taken from a model. Each change makes it smaller or plainer, and none undoes another, so that a search ends.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "onnx/onnx_pb.h"

namespace onnxc {

/// Types of values by name, as ONNX's inference finds them; it knows those of regions by the same names.
using ValueTypes = std::map<std::string, onnx::TypeProto>;
/// Of what ONNX cannot infer there is no type, and of a model that it refuses there are those that the model states.
ValueTypes value_types(const onnx::ModelProto& model);

/// States shapes of outputs, and of values inside where they are stated, anew, as they are inferred.
void restate(onnx::ModelProto& model);

/// Returns false where there is nothing to change.
using Change = std::function<bool(onnx::ModelProto&)>;

struct ChangeKind {
  const char* name;  ///< for the report: "nodes"
  /// The changes to try, the most promising first.
  std::vector<Change> (*list)(const onnx::ModelProto&, const ValueTypes&);
  bool bends = false;  ///< shapes of values inside may change
};

/// Outputs that go, with the nodes that only they need.
std::vector<Change> drop_outputs(const onnx::ModelProto& model, const ValueTypes& types);
/// Neighbouring nodes that go: what others read of them becomes an input.
std::vector<Change> cut_nodes(const onnx::ModelProto& model, const ValueTypes& types);
/// Nodes whose result becomes what they read, also in regions.
std::vector<Change> bypass_nodes(const onnx::ModelProto& model, const ValueTypes& types);
/// Nodes in regions that go where nothing but the region's output needs them.
std::vector<Change> choose_branches(const onnx::ModelProto& model, const ValueTypes& types);
std::vector<Change> inline_functions(const onnx::ModelProto& model, const ValueTypes& types);
/// Inputs of nodes that become absent, and attributes that go.
std::vector<Change> drop_operands(const onnx::ModelProto& model, const ValueTypes& types);
std::vector<Change> drop_attributes(const onnx::ModelProto& model, const ValueTypes& types);
/// Extents of inputs and constants that become 1, a half, one less: in one place, or everywhere at once.
std::vector<Change> shrink_extents(const onnx::ModelProto& model, const ValueTypes& types);
/// Constants that become zeros, ones, or integers.
std::vector<Change> plain_constants(const onnx::ModelProto& model, const ValueTypes& types);
/// What the model states of values inside and of its outputs, names, texts, and what nothing reads.
std::vector<Change> drop_words(const onnx::ModelProto& model, const ValueTypes& types);

/// Removes constants and functions that nothing needs and, where `nodes`, nodes that no output needs. Inputs stay.
void sweep(onnx::ModelProto& model, bool nodes);

}  // namespace onnxc
