// Each *.graph file of this folder is one or more cases:
//
//   # case: what it shows
//   # passes: simplify, eliminate_dead_code
//   graph ... { ... }
//   # expect
//   graph ... { ... }
//
// `# values: no` marks graphs whose shapes depend on data, which the evaluator cannot follow. The passes must turn the first graph into the second, to the letter, and both must give the same values on random inputs (every symbol is taken as
// 3). UPDATE_GOLDEN=1 rewrites the second graph.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "compiler/onnxc.h"
#include "compiler/ops/evaluate.h"
#include "tests/passes/random_inputs.h"

namespace onnxc {
namespace {

struct Case {
  std::string name, passes, input, expected;
  bool values = true;
};

std::vector<Case> read_cases(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::vector<Case> cases;
  std::string line;
  bool expecting = false;
  while (std::getline(in, line)) {
    if (line.starts_with("# case: ")) {
      cases.push_back({line.substr(8), "", "", "", true});
      expecting = false;
    } else if (line.starts_with("# passes: ")) {
      cases.back().passes = line.substr(10);
    } else if (line == "# values: no") {
      cases.back().values = false;
    } else if (line == "# expect") {
      expecting = true;
    } else if (!cases.empty() && !line.empty()) {
      (expecting ? cases.back().expected : cases.back().input) += line + "\n";
    }
  }
  return cases;
}

TEST_CASE("passes on text", "[passes]") {
  const std::filesystem::path folder = std::filesystem::path(ONNXC_SOURCE_DIR) / "tests" / "passes";
  const bool update = std::getenv("UPDATE_GOLDEN") != nullptr;
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".graph") continue;
    std::string rewritten;
    for (const Case& c : read_cases(entry.path())) {
      INFO(entry.path().filename() << ": " << c.name);
      const Graph before = parse_graph(c.input);
      CHECK(print_graph(before) == print_graph(parse_graph(print_graph(before))));
      Graph after = clone(before);
      std::stringstream passes(c.passes);
      std::string pass;
      while (std::getline(passes >> std::ws, pass, ',')) after = run_pass(pass, std::move(after));
      const std::string printed = print_graph(after);
      if (!update) CHECK(printed == c.expected);
      if (c.values) {
        const auto inputs = random_inputs(before);
        check_same(evaluate_graph(before, inputs), evaluate_graph(after, inputs));
      }
      rewritten +=
          fmt::format("# case: {}\n# passes: {}\n{}{}# expect\n{}\n", c.name, c.passes, c.values ? "" : "# values: no\n", c.input, printed);
      ++count;
    }
    if (update) std::ofstream(entry.path()) << rewritten;
  }
  CHECK(count > 0);
}

}  // namespace
}  // namespace onnxc
