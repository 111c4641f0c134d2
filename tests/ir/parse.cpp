// What the text of a graph is refused for: tests and tools read files that people change by hand.
#include <catch2/catch.hpp>
#include <string>

#include "compiler/ir/graph.h"
#include "compiler/support/error.h"

using namespace onnxc;

namespace {

std::string reason(const std::string& constant) {
  try {
    parse_graph("graph \"g\" (x: f32[2]) -> (y) {\n  const c: " + constant + "\n  y: f32[2] = Add(x, c)\n}\n");
  } catch (const Error& error) {
    return error.kind() == ErrorKind::Invalid ? error.what() : std::string("kind: ") + error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("constants in text have the size that their type says") {
  using Catch::Matchers::Contains;
  CHECK(reason("f32[2] = [1, 2]").empty());
  CHECK(reason("f32[2, 0] = []").empty());
  CHECK_THAT(reason("f32[n] = [1, 2]"), Contains("constant extents"));
  CHECK_THAT(reason("f32[3] = [1, 2]"), Contains("as many elements"));
  CHECK_THAT(reason("f32[1000000, 1000000, 1000000] = [1, 2]"), Contains("as many elements"));
  CHECK_THAT(reason("f32[4000000000000000000] = {00}"), Contains("as many elements"));
}
