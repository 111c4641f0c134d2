// The file of measured times: it is read as it was written, and a file that is not ours is refused and left alone.
#include "tools/tune/tune_cache.h"

#include <catch2/catch.hpp>
#include <stdexcept>

#include "compiler/support/error.h"
#include "tests/codegen/compile_and_run.h"
#include "tools/driver/files.h"

using namespace onnxc;

namespace {

TuneCache some() {
  TuneCache cache;
  cache["a machine"].nodes["Conv {} (f32[1])"] = {{{"conv", 1234.5}, {"gemv, weights as f16", 0}}, "conv"};
  cache["a machine"].nodes["\"\n\xff"] = {{}, ""};
  cache["a machine"].comparisons["00ff"] = {100, 90};
  cache["another"] = {};
  return cache;
}

}  // namespace

TEST_CASE("a cache of times is written and read again") {
  const std::string text = print_tune_cache(some());
  CHECK(print_tune_cache(parse_tune_cache(text)) == text);
  const TuneCache read = parse_tune_cache(text);
  REQUIRE(read.size() == 2);
  const Tuned& tuned = read.at("a machine");
  CHECK(tuned.nodes.size() == 2);
  CHECK(tuned.nodes.at("Conv {} (f32[1])").ns.at("conv") == 1234.5);
  CHECK(tuned.nodes.at("Conv {} (f32[1])").pick == "conv");
  CHECK(tuned.comparisons.at("00ff").default_ns == 100);
  CHECK_FALSE(tuned.comparisons.at("00ff").keeps_default());
}

TEST_CASE("what is no cache is refused") {
  const std::string text = print_tune_cache(some());
  for (std::size_t length = 0; length + 2 < text.size(); ++length)
    CHECK_THROWS_AS(parse_tune_cache(text.substr(0, length)), std::invalid_argument);
  const std::string head = R"({"format": "onnxc tune 1", "settings": {"m": {"comparisons": {}, "nodes": )";
  for (const std::string& wrong :
       {std::string("null"), std::string("[]"), std::string("{}"), std::string(R"({"format": "onnxc tune 2", "settings": {}})"),
        std::string(R"({"format": 1, "settings": {}})"), std::string(R"({"format": "onnxc tune 1"})"), head + "[]}}}",
        head + R"({"s": 1}}}})", head + R"({"s": {"ns": {}}}}}})", head + R"({"s": {"ns": {"conv": "1"}, "pick": ""}}}}})",
        head + R"({"s": {"ns": {"conv": -1}, "pick": ""}}}}})", head + R"({"s": {"ns": {"conv": 1e999}, "pick": ""}}}}})",
        head + R"({"s": {"ns": [1], "pick": ""}}}}})", head + R"({"s": {"ns": {}, "pick": 1}}}}})", std::string(100'000, '[')}) {
    INFO(wrong.substr(0, 200));
    CHECK_THROWS_AS(parse_tune_cache(wrong), std::invalid_argument);
  }
}

TEST_CASE("a file grows by what is added, and a foreign one is not written over") {
  const test::TemporaryFolder folder;
  const auto file = folder.path() / "deep" / "tune.json";
  CHECK(read_tune_cache(file).empty());
  add_to_tune_cache(file, "m", some()["a machine"]);
  Tuned more;
  more.nodes["Conv {} (f32[1])"] = {{{"conv", 1}}, "conv"};
  more.comparisons["11"] = {1, 2};
  add_to_tune_cache(file, "m", more);
  add_to_tune_cache(file, "n", more);
  const TuneCache read = read_tune_cache(file);
  CHECK(read.size() == 2);
  CHECK(read.at("m").nodes.size() == 2);
  CHECK(read.at("m").nodes.at("Conv {} (f32[1])").ns.at("conv") == 1);
  CHECK(read.at("m").comparisons.size() == 2);
  for (const char* other : {"", "{\"weights\": [1, 2]}", "{\"format\": \"onnxc tune 1\", \"settings\": {"}) {
    write_file(file, other);
    CHECK_THROWS_AS(read_tune_cache(file), Error);
    CHECK_THROWS_AS(add_to_tune_cache(file, "m", more), Error);
    CHECK(read_file(file) == other);
  }
}

TEST_CASE("the key of a combination tells candidates and kinds apart") {
  Choice choice{"", "y", {{"x", 1, 0}, {"x", 2, 0, "weights as f16"}}, 0, "a"};
  const std::string key = combination_key({choice});
  CHECK(key == combination_key({choice}));
  CHECK(key != combination_key({choice, choice}));
  choice.winner = 1;
  CHECK(key != combination_key({choice}));
  choice.winner = 0;
  choice.signature = "b";
  CHECK(key != combination_key({choice}));
}
