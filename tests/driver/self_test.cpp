#include "tools/driver/self_test.h"

#include <catch2/catch.hpp>

#include "compiler/support/error.h"
#include "tests/codegen/compile_and_run.h"

namespace onnxc {
namespace {

constexpr const char* kMain = R"(
#include "unit.h"
alignas(unit::arena_alignment) std::byte memory[unit::self_test_bytes + unit::arena_alignment];
int main() {
  const std::span all(memory);
  if (unit::self_test(all.first(unit::self_test_bytes - 1)).code != ONNXC_SMALL_ARENA) return 100;
  if (unit::self_test(all.subspan(1)).code != ONNXC_MISALIGNED) return 101;
  return unit::self_test(all.first(unit::self_test_bytes)).code;
}
)";

/// The exit status of a program with the unit.
int run_unit(const CompileOptions& options, const std::filesystem::path& model) {
  const Unit unit = compile_file(model, options);
  test::TemporaryFolder folder;
  folder.write("unit.cpp", unit.source.str());
  folder.write("unit.h", unit.header);
  folder.write("main.cpp", kMain);
  const bool built =
      test::run_in(folder, "g++ -std=c++20 -O1 -Wall -Wextra -Wpedantic -Wconversion -Werror -march=native -I" ONNXC_SOURCE_DIR
                           "/runtime_stub unit.cpp main.cpp -o unit");
  INFO(folder.read("log"));
  REQUIRE(built);
  test::run_in(folder, "./unit; echo $? > status");
  return std::stoi(folder.read("status"));
}

TEST_CASE("a unit tests itself") {
  const std::filesystem::path model = ONNXC_SOURCE_DIR "/samples/digits/digits.onnx";
  CompileOptions options;
  options.name_space = "unit";
  options.header_name = "unit.h";
  const auto vectors = make_self_test(model, options, std::nullopt);
  REQUIRE(vectors->vectors.size() == 1);
  options.self_test = vectors;
  CHECK(run_unit(options, model) == ONNXC_OK);
  SelfTest spoilt = *vectors;
  TensorData& output = spoilt.vectors[0].outputs[0];
  output.as<float>()[static_cast<std::size_t>(output.count() - 1)] += 0.5f;
  options.self_test = std::make_shared<const SelfTest>(spoilt);
  CHECK(run_unit(options, model) == ONNXC_WRONG_RESULT);
  CHECK_THROWS_AS(make_self_test(model, options, ONNXC_SOURCE_DIR "/samples"), Error);  // no data
}

}  // namespace
}  // namespace onnxc
