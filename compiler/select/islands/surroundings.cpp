#include "compiler/select/islands/surroundings.h"

namespace onnxc {

const Node* Surroundings::only_producer(ValueId value) const {
  if (value == kAbsent || definitions[static_cast<std::size_t>(value)] < 0 || uses[static_cast<std::size_t>(value)] != 1) return nullptr;
  return &graph.nodes[static_cast<std::size_t>(definitions[static_cast<std::size_t>(value)])];
}

}  // namespace onnxc
