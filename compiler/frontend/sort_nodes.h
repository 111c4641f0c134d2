#pragma once

namespace onnx {
class ModelProto;
}

namespace onnxc {

/// Puts the nodes of the graph, of its functions and of all graphs inside into topological order. Nodes that may stay before others do. What is not defined anywhere is left to
/// the importer. Returns whether a node moved. Throws Error{Invalid} that names a node which needs itself.
bool sort_nodes(onnx::ModelProto& model);

}  // namespace onnxc
