// Candidates within a budget of bytes.
#include "compiler/select/weights_budget.h"

#include <catch2/catch.hpp>
#include <random>

using namespace onnxc;

namespace {

Choice choice(std::vector<Choice::Candidate> candidates) { return {"", "", std::move(candidates), 0}; }

struct Sum {
  double cost = 0;
  int64_t growth = 0;
};
Sum sum(const std::vector<Choice>& choices, const std::vector<std::size_t>& picks) {
  Sum sum;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    sum.cost += choices[i].candidates[picks[i]].cost_ns;
    sum.growth += choices[i].candidates[picks[i]].growth;
  }
  return sum;
}

/// The least cost of all combinations within the budget.
double best_cost(const std::vector<Choice>& choices, int64_t most) {
  double best = -1;
  std::vector<std::size_t> picks(choices.size());
  for (;;) {
    if (const Sum s = sum(choices, picks); s.growth <= most && (best < 0 || s.cost < best)) best = s.cost;
    std::size_t i = 0;
    while (i < picks.size() && ++picks[i] == choices[i].candidates.size()) picks[i++] = 0;
    if (i == picks.size()) return best;
  }
}

}  // namespace

TEST_CASE("without a need to save, each choice takes its cheapest candidate") {
  const std::vector<Choice> choices = {choice({{"a", 3, 0}, {"b", 1, 10}}), choice({{"a", 1, 0}, {"b", 2, 10}})};
  CHECK(picks_within(choices, 10) == std::vector<std::size_t>{1, 0});
}

TEST_CASE("what costs least time for each byte is given up first, and only as much as is needed") {
  // Three layers alike, one dear: two of the three keep their large weights.
  const Choice alike = choice({{"direct", 20, 0}, {"small", 10, 20}, {"large", 9, 80}});
  const std::vector<Choice> choices = {alike, alike, alike, choice({{"direct", 20, 0}, {"small", 8, 70}})};
  const auto picks = picks_within(choices, 260);
  CHECK(sum(choices, picks).growth == 250);
  CHECK(picks[3] == 1);
  CHECK(std::count(picks.begin(), picks.end() - 1, 2u) == 2);
}

TEST_CASE("how weights are stored changes no choice of a kernel") {
  std::vector<Choice> choices = {choice({{"direct", 20, 0}, {"direct", 5, -50, "weights as f16", true}, {"large", 10, 60}}),
                                 choice({{"direct", 20, 0}, {"large", 8, 70}})};
  CHECK(picks_within(choices, 200) == std::vector<std::size_t>{2, 1});
  CHECK(picks_within(choices, 100) == std::vector<std::size_t>{0, 1});
  CHECK(picks_within(choices, 0) == std::vector<std::size_t>{0, 0});
  choices[0].winner = choices[1].winner = 1;
  CHECK(weights_growth(choices) == 70);
}

TEST_CASE("a budget of nothing leaves nothing that grows") {
  const std::vector<Choice> choices = {choice({{"a", 3, 0}, {"b", 1, 10}}), choice({{"a", 5, 0}, {"b", 1, 1}})};
  CHECK(picks_within(choices, 0) == std::vector<std::size_t>{0, 0});
}

TEST_CASE("random budgets are kept, and cost little more than the best combination") {
  std::mt19937 random(7);
  double ours = 0, best = 0;
  for (int round = 0; round < 500; ++round) {
    std::vector<Choice> choices(1 + random() % 6);
    int64_t all = 0;
    for (Choice& c : choices) {
      const double direct = 10 + random() % 90;
      c.candidates = {{"direct", direct, 0}};
      for (int k = 1 + static_cast<int>(random() % 2); k > 0; --k)
        c.candidates.push_back({"w", direct * (0.2 + 0.1 * (random() % 8)), static_cast<int64_t>(random() % 100)});
      all += c.candidates.back().growth;
    }
    const int64_t most = static_cast<int64_t>(random() % static_cast<uint32_t>(all + 1));
    const Sum s = sum(choices, picks_within(choices, most));
    REQUIRE(s.growth <= most);
    ours += s.cost;
    best += best_cost(choices, most);
  }
  CHECK(ours <= 1.05 * best);
}
