#include "compiler/select/islands/surroundings.h"

namespace onnxc {

const Node* Surroundings::only_producer(ValueId value) const {
  if (value == kAbsent || definitions[value] < 0 || uses[value] != 1) return nullptr;
  return &graph.node(definitions[value]);
}

}  // namespace onnxc
