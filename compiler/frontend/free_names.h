#pragma once
#include <string>
#include <vector>

namespace onnx {
class NodeProto;
}

namespace onnxc {

/// Names that the graphs among a node's attributes use and do not define, in the order of their first use. Throws Error{Invalid} if graphs are nested too deeply.
std::vector<std::string> free_names(const onnx::NodeProto& node, int depth = 0);

}  // namespace onnxc
