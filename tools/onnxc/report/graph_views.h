// The two graphs of a report: the model as it was imported, and the steps of the program.
#pragma once
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "compiler/ir/graph.h"
#include "compiler/ir/program.h"

namespace onnxc {

/// {nodes: [{kind, title, subtitle, name, inside, inputs: [{name, type, constant}], outputs: [{name, type}], attributes}],
///  edges: [[from, to]]}
///
/// `kind` is input, node or output. `inside` is the number of the node whose region contains a node. Nodes of regions
/// read from the sources of their owner, and their results lead to the owner. `types` has the types of values by
/// name, for those that the import did not know.
nlohmann::ordered_json describe_model_graph(const Graph& model, const std::map<std::string, Type>& types);

/// {nodes: [{kind, title, subtitle, name, step}], edges: [[from, to]]}: `kind` is input, step or output, and `step`
/// counts from 0 in pre-order. An edge leads from the step that last wrote a buffer, or a part of it, to each step
/// that reads it, and from an If or a Loop to the first steps of its blocks.
nlohmann::ordered_json describe_step_graph(const Program& program);

}  // namespace onnxc
