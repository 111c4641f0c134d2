// Each *.graph file of tests/lowering/programs is one or more cases (tests/text_cases.h) with a program for each target:
//
//   # expect x86-64-v3
//   program ...
//   # expect zen4
//   program ...
//
// A case for other targets names them: `# targets: cortex-m4`. Passes, lowering and the memory plan must turn the graph into exactly these programs. `[...]` stands for as many
// values as the type has. Kernels are chosen by predicted costs alone, so nothing depends on the machine that runs
// this test. UPDATE_GOLDEN=1 rewrites the programs.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "compiler/lowering/lower_graph.h"
#include "compiler/lowering/memory/plan_memory.h"
#include "targets/target.h"
#include "tests/text_cases.h"

namespace onnxc {
namespace {

/// The targets of a case.
std::vector<std::string> targets_of(const TextCase& c) {
  const auto named = c.settings.find("targets");
  if (named == c.settings.end()) return {"x86-64-v3", "zen4"};
  std::istringstream words(named->second);
  std::vector<std::string> targets;
  for (std::string word; std::getline(words, word, ',');) targets.push_back(word);
  return targets;
}

/// `const w: f32[2, 2] = [...]` with its values: 1, 2, 3, 4.
std::string with_values(const std::string& graph) {
  std::istringstream in(graph);
  std::string all;
  for (std::string line; std::getline(in, line); all += line + "\n") {
    const std::size_t dots = line.find("[...]");
    if (dots == line.npos) continue;
    int64_t count = 1;
    std::istringstream extents(line.substr(line.find('[') + 1, line.find(']') - line.find('[') - 1));
    for (std::string extent; std::getline(extents, extent, ',');) count *= std::stoll(extent);
    std::string values;
    for (int64_t i = 0; i < count; ++i) values += fmt::format("{}{}", i == 0 ? "" : ", ", i % 7 + 1);
    line.replace(dots, 5, "[" + values + "]");
  }
  return all;
}

std::string program_of(const TextCase& c, const std::string& target) {
  const Graph graph = run_passes(c.settings.at("passes"), parse_graph(with_values(c.graph)));
  const LowerOptions options;
  const Target machine = *find_target(target);
  Program program = lower_graph(graph, machine, options, nullptr);
  plan_program(program, options, true);
  check_plan(program);
  return print_program(program);
}

TEST_CASE("lowering on text") {
  const std::filesystem::path folder = std::filesystem::path(ONNXC_SOURCE_DIR) / "tests" / "lowering" / "programs";
  const bool update = std::getenv("UPDATE_GOLDEN") != nullptr;
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::string rewritten;
    for (const TextCase& c : read_text_cases(entry.path())) {
      INFO(entry.path().filename() << ": " << c.name);
      const auto named = c.settings.find("targets");
      rewritten += fmt::format("# case: {}\n# passes: {}\n{}{}", c.name, c.settings.at("passes"),
                               named == c.settings.end() ? "" : fmt::format("# targets: {}\n", named->second), c.graph);
      for (const std::string& target : targets_of(c)) {
        const std::string program = program_of(c, target);
        const auto expected = c.expected.find(target);
        if (!update) CHECK(program == (expected == c.expected.end() ? "" : expected->second));
        rewritten += fmt::format("# expect {}\n{}", target, program);
        ++count;
      }
      rewritten += "\n";
    }
    if (update) std::ofstream(entry.path()) << rewritten;
  }
  CHECK(count >= 20);
}

}  // namespace
}  // namespace onnxc
