// Suggestions for a misspelled name.
#include "compiler/support/closest.h"

#include <catch2/catch.hpp>

using onnxc::closest_names;
using Names = std::vector<std::string>;

TEST_CASE("names that contain what was given come first, then those with few changes") {
  const Names names{"layer1/conv", "layer2/conv", "conv", "relu", "convolutional"};
  CHECK(closest_names("conv", names, 2) == Names{"conv", "layer1/conv"});
  CHECK(closest_names("rely", names, 1) == Names{"relu"});
  CHECK(closest_names("layer3/conv", names, 2) == Names{"layer1/conv", "layer2/conv"});
}

TEST_CASE("nothing, long names and doubles are names too") {
  CHECK(closest_names("x", {}).empty());
  CHECK(closest_names("x", {"", "y", "y"}) == Names{"y"});
  CHECK(closest_names("", {"ab", "a"}, 1) == Names{"a"});
  const std::string a(100'000, 'a'), b(100'000, 'b');
  CHECK(closest_names(a, {a, b}, 1) == Names{a});
}
