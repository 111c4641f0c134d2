// Each *.graph file of this folder is one or more cases (tests/text_cases.h).
//
// The passes must turn the first graph into exactly the second. Both must give the same values on random inputs, with
// every symbol taken as 3. `# values: no` marks graphs whose shapes depend on data, which the evaluator cannot
// follow. UPDATE_GOLDEN=1 rewrites the second graph.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "compiler/ops/evaluate.h"
#include "tests/passes/random_inputs.h"
#include "tests/text_cases.h"

namespace onnxc {
namespace {

TEST_CASE("passes on text", "[passes]") {
  const std::filesystem::path folder = std::filesystem::path(ONNXC_SOURCE_DIR) / "tests" / "passes";
  const bool update = std::getenv("UPDATE_GOLDEN") != nullptr;
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".graph") continue;
    std::string rewritten;
    for (const TextCase& c : read_text_cases(entry.path())) {
      INFO(entry.path().filename() << ": " << c.name);
      const Graph before = parse_graph(c.graph);
      const std::string& passes = c.settings.at("passes");
      const auto said = c.settings.find("values");
      const bool values = said == c.settings.end() || said->second != "no";
      CHECK(print_graph(before) == print_graph(parse_graph(print_graph(before))));
      const Graph after = run_passes(passes, clone(before));
      const std::string printed = print_graph(after);
      if (!update) CHECK(printed == c.expected.at(""));
      if (values) {
        const auto inputs = random_inputs(before);
        check_same(evaluate_graph(before, inputs), evaluate_graph(after, inputs));
      }
      rewritten +=
          fmt::format("# case: {}\n# passes: {}\n{}{}# expect\n{}\n", c.name, passes, values ? "" : "# values: no\n", c.graph, printed);
      ++count;
    }
    if (update) std::ofstream(entry.path()) << rewritten;
  }
  CHECK(count > 0);
}

// Too large for text: a few nodes do not become most of the memory.
TEST_CASE("a constant that is joined with itself again and again is folded up to a limit", "[passes]") {
  std::string text = "graph \"doubled\" () -> (y) {\n  const c0: f32[1] = [1]\n";
  for (int i = 0; i < 26; ++i) text += fmt::format("  c{}: ? = Concat(c{}, c{}) {{axis = 0}}\n", i + 1, i, i);
  const Graph graph = run_passes("infer_shapes,fold_constants", parse_graph(text + "  y: ? = Relu(c26)\n}\n"));
  // 2^22 floats are 16 MiB, the most that may be larger than what it is made of.
  CHECK(std::ranges::count_if(graph.nodes, [](const Node& node) { return node.is("Concat"); }) == 4);
}

TEST_CASE("a common scale of 0 gives an empty image, whenever it is known", "[passes]") {
  const Graph before = parse_graph(R"(graph "empty" (x: f32[1, 1, 4, 4], sizes: i64[2]) -> (y) {
  y: ? = Resize(x, _, _, sizes) @19 {axes = [2, 3], keep_aspect_ratio_policy = "not_larger"}
}
)");
  const auto zeros = [](ElementType type, const std::vector<int64_t>& shape) {
    return std::make_shared<const TensorData>(TensorData::zeros(type, shape));
  };
  const std::vector<Constant> inputs{zeros(ElementType::F32, {1, 1, 4, 4}), zeros(ElementType::I64, {2})};
  const Graph after = run_passes("infer_shapes", clone(before));
  for (const Graph* graph : {&before, &after}) CHECK(evaluate_graph(*graph, inputs)[0]->shape == std::vector<int64_t>{1, 1, 0, 0});
}

}  // namespace
}  // namespace onnxc
