#include "compiler/states.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/support/error.h"
#include "compiler/support/error_codes.h"

namespace onnxc {
namespace {

int position(const Graph& graph, const std::vector<ValueId>& list, const std::string& name) {
  const auto it = std::ranges::find_if(list, [&](ValueId v) { return graph[v].name == name; });
  return it == list.end() ? -1 : static_cast<int>(it - list.begin());
}

std::string names(const Graph& graph, const std::vector<ValueId>& list) {
  std::string all;
  for (const ValueId v : list) all += fmt::format("{}'{}'", all.empty() ? "" : ", ", graph[v].name);
  return all;
}

}  // namespace

std::pair<std::string, std::string> parse_state(const std::string& text) {
  if (text == kUsualStates.first) return kUsualStates;
  const std::size_t at = text.find('=');
  if (at == text.npos || at == 0 || at + 1 == text.size())
    throw Error(ErrorCode::StateOption, fmt::format("--state got '{}', which is neither auto nor INPUT=OUTPUT", text));
  return {text.substr(0, at), text.substr(at + 1)};
}

std::vector<std::pair<std::string, std::string>> usual_states(const Graph& graph) {
  // What stands in the name of an input, and of its output instead.
  static constexpr std::pair<std::string_view, std::string_view> kNames[] = {{"past_key_values.", "present_key_values."},
                                                                             {"past_key_values.", "present."},
                                                                             {"past_key_values", "present_key_values"},
                                                                             {"past_key_values", "present"},
                                                                             {"past_", "present_"},
                                                                             {"past", "present"},
                                                                             {"cache_in", "cache_out"},
                                                                             {"_in", "_out"},
                                                                             {"in_", "out_"}};
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const ValueId v : graph.inputs) {
    const std::string& input = graph[v].name;
    std::vector<std::string> candidates{input + "N", input + "_out", input + ".out"};
    for (const auto& [from, to] : kNames) {
      const std::size_t at = input.find(from);
      if (at != input.npos) candidates.push_back(std::string(input).replace(at, from.size(), to));
    }
    for (const std::string& output : candidates) {
      if (position(graph, graph.outputs, output) < 0) continue;
      pairs.emplace_back(input, output);
      break;
    }
  }
  return pairs;
}

void bind_states(Graph& graph, const std::vector<std::pair<std::string, std::string>>& states) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const auto& pair : states) {
    if (pair != kUsualStates) {
      pairs.push_back(pair);
      continue;
    }
    const auto usual = usual_states(graph);
    if (usual.empty())
      throw Error(ErrorCode::StateOption, "no input and output have the names that states usually have", "name them: --state INPUT=OUTPUT");
    pairs.insert(pairs.end(), usual.begin(), usual.end());
  }
  for (const auto& [past, present] : pairs) {
    const State state{position(graph, graph.inputs, past), position(graph, graph.outputs, present)};
    if (state.past < 0)
      throw Error(ErrorCode::StateOption, fmt::format("--state names '{}', which is no input", past),
                  "inputs are " + names(graph, graph.inputs));
    if (state.present < 0)
      throw Error(ErrorCode::StateOption, fmt::format("--state names '{}', which is no output", present),
                  "outputs are " + names(graph, graph.outputs));
    for (const State& other : graph.states) {
      if (other.past == state.past || other.present == state.present)
        throw Error(ErrorCode::StateOption, fmt::format("--state names '{}' twice", other.past == state.past ? past : present));
    }
    graph.states.push_back(state);
  }
}

}  // namespace onnxc
