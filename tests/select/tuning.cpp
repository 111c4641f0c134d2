// Measured times take the place of predicted costs, and which nodes count as alike.
#include "compiler/select/tuning.h"

#include <catch2/catch.hpp>

#include "compiler/select/signature.h"

using namespace onnxc;

namespace {

std::vector<Choice::Candidate> three() { return {{"winograd_4", 1000, 300}, {"conv", 2500, 0}, {"winograd_2", 4000, 80}}; }

std::string winner(std::vector<Choice::Candidate> candidates, const Measured& measured) {
  apply_measured(candidates, measured);
  const Choice choice{"", "", std::move(candidates), 0};
  return choice.candidates[cheapest(choice)].label();
}

/// The signature of the last node. Values lie row-major, except the one with number `channels_last`.
std::string signature(const std::string& text, int channels_last = -1, double streaming = 1, bool absorbs_first = false) {
  const Graph graph = parse_graph(text);
  PerValue<Layout> layouts(graph.values.size());
  if (channels_last >= 0) layouts[channels_last] = {true, 16};
  const Node* const first = &graph.nodes.front();
  return signature_of(graph, graph.nodes.back(), {&first, absorbs_first ? 1u : 0u}, layouts, streaming);
}

}  // namespace

TEST_CASE("the pick becomes the cheapest, and what was not measured keeps its distance") {
  auto candidates = three();
  apply_measured(candidates, {{{"winograd_4", 3000}, {"conv", 2600}}, "conv"});
  CHECK(candidates[0].cost_ns == 3000);
  CHECK(candidates[1].cost_ns == Approx(2600));
  CHECK(candidates[2].cost_ns == 12000);
  CHECK(candidates[2].predicted_ns == 4000);
  CHECK(cheapest({"", "", candidates, 0}) == 1);
}

TEST_CASE("a pick counts that is not the quickest, that was not measured, or without any time") {
  CHECK(winner(three(), {{{"winograd_4", 2650}, {"conv", 2600}}, "winograd_4"}) == "winograd_4");
  CHECK(winner(three(), {{{"winograd_4", 2650}, {"conv", 2600}}, "winograd_2"}) == "winograd_2");
  CHECK(winner(three(), {{}, "winograd_2"}) == "winograd_2");
  CHECK(winner(three(), {{{"winograd_4", 1000}, {"conv", 1000}}, "conv"}) == "conv");
}

TEST_CASE("what says nothing changes nothing") {
  for (const Measured& measured :
       {Measured{}, Measured{{}, "no such kernel"}, Measured{{{"no such kernel", 5}}, "no such kernel"}, Measured{{{"conv", 0}}, ""}}) {
    auto candidates = three();
    apply_measured(candidates, measured);
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      CHECK(candidates[i].cost_ns == three()[i].cost_ns);
      CHECK_FALSE(candidates[i].predicted_ns);
    }
  }
}

TEST_CASE("nodes are alike whose operators, attributes, types and layouts are") {
  const std::string text = R"(graph "g" (x: f32[1, 16, 4, 4], w: f32[8, 16, 1, 1]) -> (y) {
  mid: f32[1, 16, 4, 4] = Relu(x)  # "r"
  y: f32[1, 8, 4, 4] = Conv(mid, w) [max(x0, f32(0))] {group = 1, pads = [0, 0, 0, 0]}  # "n"
}
)";
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string other = text;
    for (std::size_t at = 0; (at = other.find(from, at)) != other.npos; at += to.size()) other.replace(at, from.size(), to);
    REQUIRE(other != text);
    return other;
  };
  const std::string own = signature(text);
  CHECK(own ==
        "Conv {group = 1, pads = [0, 0, 0, 0]} (f32[1, 16, 4, 4], f32[8, 16, 1, 1]) -> (f32[1, 8, 4, 4]) [max(x0, f32(0))] weights 1");
  CHECK(signature(with("\"n\"", "\"another\"")) == own);
  CHECK(signature(with("mid", "other")) == own);
  CHECK(signature(with("group = 1", "group = 2")) != own);
  CHECK(signature(with("4, 4", "4, 5")) != own);
  CHECK(signature(with("f32[8", "f16[8")) != own);
  CHECK(signature(with("max(x0, f32(0))", "max(x0, f32(1))")) != own);
  CHECK(signature(text, 2) != own);  // what Relu gives in channels-last
  CHECK(signature(text, 0) == own);  // x, which the node does not read
  CHECK(signature(text, -1, 0.45) != own);
  CHECK(signature(text, -1, 1, true) != own);
  const std::string batch = signature(with("[1, 16, 4, 4]", "[tuning_batch, 16, 4, 4]"));
  CHECK(batch.ends_with(", tuning_batch in 1..9223372036854775807"));
}

TEST_CASE("long signatures are cut and stay apart") {
  const auto long_one = [](char last) {
    return signature("graph \"g\" (x: f32[1]) -> (y) {\n  y: f32[1] = LRN(x) {a = \"" + std::string(2000, 'a') + last + "\"}  # \"\"\n}\n");
  };
  CHECK(long_one('b').size() < 700);
  CHECK(long_one('b') == long_one('b'));
  CHECK(long_one('b') != long_one('c'));
}
