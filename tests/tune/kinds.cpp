// Which candidates are measured, and what their measured times decide.
#include "tools/tune/kinds.h"

#include <catch2/catch.hpp>

#include "tools/tune/regret.h"

using namespace onnxc;

namespace {

using Labels = std::vector<std::string>;

Choice choice(const std::string& signature, std::vector<Choice::Candidate> candidates, std::size_t winner = 0,
              const std::string& value = "y") {
  return {"Conv '" + value + "'", value, std::move(candidates), winner, signature};
}

}  // namespace

TEST_CASE("finalists are those predicted within three times the cheapest, whose weights fit") {
  const Choice some = choice("a", {{"direct", 290, 0}, {"small", 100, 50}, {"large", 110, 500}, {"slow", 301, 0}}, 1);
  const auto kinds = kinds_of({some}, 100);
  REQUIRE(kinds.size() == 1);
  CHECK(kinds[0].finalists == Labels{"small", "direct"});
  CHECK(kinds_of({some}, 1000)[0].finalists == Labels{"small", "large", "direct"});
}

TEST_CASE("what is chosen is a finalist in any case, and there are five at most beside it") {
  CHECK(kinds_of({choice("a", {{"direct", 900, 0}, {"small", 100, 50}}, 0)}, 100)[0].finalists == Labels{"small", "direct"});
  std::vector<Choice::Candidate> many;
  for (int i = 0; i < 8; ++i) many.push_back({"k" + std::to_string(i), 100.0 + i, 0});
  CHECK(kinds_of({choice("a", many)}, 0)[0].finalists.size() == kMostFinalists);
  CHECK(kinds_of({choice("a", many, 7)}, 0)[0].finalists.back() == "k7");
}

TEST_CASE("nodes that are alike are one kind; those without a choice are none") {
  const std::vector<Choice::Candidate> two{{"gemv", 10, 0}, {"gemv", 9, -5, "weights as f16"}};
  const auto kinds = kinds_of({choice("a", two), choice("b", {{"gemv", 10, 0}}), choice("a", two), choice("a", {two[0]})}, 0);
  REQUIRE(kinds.size() == 1);
  CHECK(kinds[0].nodes == 3);
  CHECK(kinds[0].finalists == Labels{"gemv, weights as f16", "gemv"});
}

TEST_CASE("finalists follow predictions where costs were measured") {
  Choice known = choice("a", {{"x", 100, 0}, {"y", 200, 0}});
  apply_measured(known.candidates, {{{"x", 900}, {"y", 50}}, "y"});
  CHECK(kinds_of({known}, 0)[0].finalists == Labels{"x", "y"});
}

TEST_CASE("each round takes the next finalist of every kind") {
  const std::vector<Kind> kinds{{"a", {"x", "y", "z"}, 1}, {"b", {"p", "q"}, 1}};
  const auto round = [&](std::size_t r) { return picks_of_round(kinds, r).at("a").pick + picks_of_round(kinds, r).at("b").pick; };
  CHECK(round(0) == "xp");
  CHECK(round(1) == "yq");
  CHECK(round(2) == "zp");
}

TEST_CASE("the predicted winner stays unless another is quicker by more than 3 %") {
  const Kind kind{"a", {"first", "second", "third"}, 1};
  struct Case {
    double first, second, third;
    const char* pick;
  };
  for (const Case& c : {Case{100, 98, 99, "first"}, Case{100, 96, 99, "second"}, Case{100, 96, 95, "third"}, Case{100, 97, 97, "first"},
                        Case{100, 200, 300, "first"}, Case{0, 0, 0, "first"}, Case{100, 0, 101, "first"}}) {
    INFO(c.first << " " << c.second << " " << c.third);
    CHECK(decide(kind, {{"a", {{"first", {c.first}}, {"second", {c.second}}, {"third", {c.third}}}}}).pick == c.pick);
  }
  CHECK(decide(kind, {}).pick == "first");
}

TEST_CASE("times of all nodes of a kind are pooled by their median; those that did not run do not count") {
  const Measured measured = decide({"a", {"x", "y"}, 2}, {{"a", {{"x", {5, 900, 7, 6, 8}}, {"y", {0, 0, 4}}}}, {"b", {{"x", {1}}}}});
  CHECK(measured.ns == std::map<std::string, double>{{"x", 7}, {"y", 4}});
  CHECK(measured.pick == "y");
}

TEST_CASE("a kind is known when all its finalists are") {
  const Kind kind{"a", {"x", "y"}, 1};
  CHECK_FALSE(is_known({}, kind));
  CHECK_FALSE(is_known({{"a", {{{"x", 1}}, "x"}}}, kind));
  CHECK(is_known({{"a", {{{"x", 1}, {"y", 0}, {"z", 2}}, "x"}}}, kind));
}

TEST_CASE("regret is what was chosen against the best that was measured") {
  const std::vector<Choice::Candidate> two{{"x", 10, 0}, {"y", 20, 0}};
  const Tuning tuning{{"a", {{{"x", 30}, {"y", 20}}, "y"}}, {"b", {{{"x", 5}, {"y", 6}}, "x"}}, {"c", {{{"x", 0}, {"y", 0}}, "x"}}};
  const Regret regret = regret_of({choice("a", two), choice("b", two), choice("c", two), choice("unknown", two)}, tuning);
  REQUIRE(regret.rows.size() == 2);
  CHECK(regret.rows[0].best.label == "y");
  CHECK(regret.rows[0].regret() == 1.5);
  CHECK(regret.rows[0].chosen.predicted_ns == 10);
  CHECK(regret.rows[1].regret() == 1);
  CHECK(regret.ratio() == Approx(35.0 / 25));
  CHECK(regret_of({}, tuning).ratio() == 1);
}
