// State: a value that the caller keeps from run to run.
#pragma once

namespace onnxc {

/// The indices of an input, and of the output that is its value after the run. Both lie at the same place in the caller's memory. After
/// place_states their element types and ranks are equal.
struct State {
  int past = -1, present = -1;
  int axis = 0;  ///< of the model's tensors: the one that is the outermost in the caller's memory, where the others follow in their order
  friend bool operator==(const State&, const State&) = default;
};

struct Graph;

/// Whether the output is a Concat of the input and more, which begins where the input does. Other states keep their shape. After place_states.
bool grows(const Graph& graph, const State& state);

}  // namespace onnxc
