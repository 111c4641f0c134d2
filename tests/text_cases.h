// Test cases as text: a graph, the passes that run on it, and the expected result.
//
//   # case: what it shows
//   # passes: infer_shapes, lower_elementwise
//   graph ... { ... }
//   # expect
//   ...
//
// `# NAME: VALUE` is a setting. The expected result may have a name: `# expect zen4`.
#pragma once
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "compiler/onnxc.h"

namespace onnxc {

struct TextCase {
  std::string name;
  std::map<std::string, std::string> settings{};
  std::string graph{};
  std::map<std::string, std::string> expected{};  ///< by name; without one, by the empty name
};

inline std::vector<TextCase> read_text_cases(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::vector<TextCase> cases;
  std::string* text = nullptr;
  for (std::string line; std::getline(in, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("# case: ")) {
      cases.push_back({line.substr(8)});
      text = &cases.back().graph;
    } else if (line.starts_with("# expect")) {
      text = &cases.back().expected[line.substr(std::min<std::size_t>(line.size(), 9))];
    } else if (line.starts_with("# ") && colon != line.npos) {
      cases.back().settings[line.substr(2, colon - 2)] = line.substr(colon + 2);
    } else if (text != nullptr && !line.empty()) {
      *text += line + "\n";
    }
  }
  return cases;
}

/// `list`: names of passes with commas between them.
inline Graph run_passes(const std::string& list, Graph graph) {
  std::stringstream passes(list);
  for (std::string pass; std::getline(passes >> std::ws, pass, ',');) graph = run_pass(pass, std::move(graph));
  return graph;
}

}  // namespace onnxc
