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
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "compiler/onnxc.h"
#include "compiler/ops/evaluate.h"

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

std::vector<Constant> random_inputs(const Graph& graph) {
  std::mt19937 random(7);
  std::vector<Constant> inputs;
  for (ValueId v : graph.inputs) {
    const Type& type = graph[v].type;
    std::vector<int64_t> shape;
    for (Dim d : type.extents) shape.push_back(d.is_constant() ? d.value() : 3);
    auto t = std::make_shared<TensorData>(TensorData::zeros(type.element, shape));
    const auto width = static_cast<std::size_t>(info(type.element).bits / 8);
    for (std::size_t i = 0; i < t->bytes.size() / width; ++i) {
      const double value = std::round(std::normal_distribution<double>(0, 2)(random) * 8) / 8;
      const uint64_t bits = to_bits(type.element, value);
      std::memcpy(t->bytes.data() + i * width, &bits, width);
    }
    inputs.push_back(t);
  }
  return inputs;
}

/// Sums may be formed in another order, so floats may differ in the last bits.
void check_same(const std::vector<Constant>& a, const std::vector<Constant>& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    REQUIRE(a[i]->type == b[i]->type);
    REQUIRE(a[i]->shape == b[i]->shape);
    const auto x = to_doubles(*a[i]), y = to_doubles(*b[i]);
    for (std::size_t k = 0; k < x.size(); ++k) {
      INFO("output " << i << " element " << k << ": " << x[k] << " and " << y[k]);
      CHECK(((std::isnan(x[k]) && std::isnan(y[k])) || std::abs(x[k] - y[k]) <= 1e-5 * (1 + std::abs(x[k]))));
    }
  }
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
      rewritten += fmt::format("# case: {}\n# passes: {}\n{}{}# expect\n{}\n", c.name, c.passes, c.values ? "" : "# values: no\n", c.input, printed);
      ++count;
    }
    if (update) std::ofstream(entry.path()) << rewritten;
  }
  CHECK(count > 0);
}

}  // namespace
}  // namespace onnxc
