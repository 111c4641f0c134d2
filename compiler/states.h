// Which inputs and outputs are states, as a user names them.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/graph.h"

namespace onnxc {

/// {"auto", ""}: all pairs that have usual names; see usual_states.
inline const std::pair<std::string, std::string> kUsualStates{"auto", ""};

/// `past=present`, or `auto`. Throws Error{Usage} for another text.
std::pair<std::string, std::string> parse_state(const std::string& text);

/// States the pairs in the graph. Throws Error{Usage} for a name that is no input or output, or is named twice.
void bind_states(Graph& graph, const std::vector<std::pair<std::string, std::string>>& states);

/// Pairs of an input and an output whose names exporters give states: past_key_values.0.key and present.0.key, past_key_0 and present_key_0,
/// state and stateN or state_out, h_in and h_out.
std::vector<std::pair<std::string, std::string>> usual_states(const Graph& graph);

}  // namespace onnxc
