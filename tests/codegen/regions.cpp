#include "codegen/regions.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "tests/codegen/compile_and_run.h"

namespace onnxc {
namespace {

Program divided() {
  Program program;
  program.arena.alignment = 8;
  program.arena.bytes = 208;
  program.regions = {{.name = "fast", .capacity = 100, .section = ".fast", .arena_bytes = 48},
                     {.name = "slow", .capacity = 1000, .arena_bytes = 160},
                     {.name = "flash", .capacity = 1000, .section = ".qspi", .constants_only = true}};
  return program;
}

TEST_CASE("a region as the command line has it") {
  CHECK(region_text({.name = "fast", .capacity = 8192}) == "fast:8192");
  CHECK(region_text({.name = "fast", .capacity = 8192, .section = ".dtcm"}) == "fast:8192:.dtcm");
  CHECK(region_text({.name = "q", .capacity = 1, .section = ".q", .constants_only = true}) == "q:1:.q:const");
  CHECK(region_name_problem("fast").empty());
  for (const char* name : {"arena", "stack", "self_test", "std"}) CHECK_FALSE(region_name_problem(name).empty());
}

TEST_CASE("the interface of an arena in parts") {
  const Program program = divided();
  CHECK(arenas_declaration(program) ==
        "/// Bytes of scratch memory in each region; arena_bytes are those of all together.\n"
        "inline constexpr std::size_t fast_bytes = 48, slow_bytes = 160, arena_bytes = 208, arena_alignment = 8;\n\n"
        "/// Scratch memory in each region, of at least its bytes at a multiple of arena_alignment.\n"
        "struct Arenas {\n  std::span<std::byte> fast;\n  std::span<std::byte> slow;\n};\n"
        "/// The regions one behind the other in a block of arena_bytes or more, which is what the C interface takes.\n"
        "inline Arenas arenas_in([[maybe_unused]] std::span<std::byte> block) noexcept {\n"
        "  return {block.subspan(0, fast_bytes), block.subspan(fast_bytes, slow_bytes)};\n}\n\n");
  CHECK(arena_parameter(program) == "const Arenas& arenas");
  CHECK(arena_checks(program, false) ==
        "  if (const auto status = onnxc::check_arena(arenas.fast, fast_bytes, arena_alignment)) return status;\n"
        "  if (const auto status = onnxc::check_arena(arenas.slow, slow_bytes, arena_alignment)) return status;\n");
  Buffer buffer;
  buffer.region = 1;
  CHECK(arena_base(program, buffer) == "arenas.slow.data()");
}

TEST_CASE("without parts the interface is one arena") {
  Program program;
  CHECK(arena_parameter(program) == "std::span<std::byte> arena");
  CHECK(arena_base(program, {}) == "arena");
  CHECK(arena_checks(program, true) ==
        "  if (const auto status = onnxc::check_arena(arena, arena_bytes(dims), arena_alignment)) return status;\n");
  program.regions = {divided().regions[2]};
  CHECK(arena_parameter(program) == "std::span<std::byte> arena");
}

TEST_CASE("constants of regions lie in sections of their own, small and large ones") {
  const std::vector<std::byte> small(64, std::byte{1}), large(100'000, std::byte{2});
  Program program = divided();
  std::vector<WeightBlob> blobs;
  for (const auto& [name, bytes, region] : {std::tuple("a", &small, 0), std::tuple("b", &large, 2), std::tuple("c", &small, -1)}) {
    Weights& weights = program.weights.emplace_back();
    weights.name = name;
    weights.region = region;
    blobs.push_back({name, "std::uint8_t", *bytes});
  }
  const WeightsText text = emit_weights_by_region(blobs, {.form = "auto", .prefix = "m"}, program);
  CHECK(text.image_bytes == 64 + 100'032 + 64);
  CHECK(text.end == "nullptr");
  CHECK(text.access("a") == "a");
  CHECK(text.access("b") == "onnxc::at<std::uint8_t>(flash_weights, b)");
  const test::TemporaryFolder folder;
  std::string source = "#include <cstdio>\n#include <onnxc/base.hpp>\n";
  for (const std::string& include : text.includes) source += "#include " + include + "\n";
  source += "namespace m {\n" + text.declarations.str() + "}\nusing namespace m;\n";
  source += fmt::format("int main() {{ std::printf(\"%d %d %d\\n\", {}[63], {}[99999], {}[0]); }}\n", text.access("a"), text.access("b"),
                        text.access("c"));
  folder.write("m.cpp", source);
  for (const std::string& compiler : test::compilers()) {
    INFO(compiler);
    const bool built = test::run_in(folder, compiler + " -std=c++20 -Wall -Wextra -Wpedantic -Werror -I " ONNXC_SOURCE_DIR
                                                       "/runtime_stub m.cpp -o m && ./m && objdump -h -t m");
    const std::string log = folder.read("log");
    INFO(log);
    CHECK(built);
    CHECK(log.starts_with("1 2 1\n"));
    CHECK(log.find(" .fast ") != log.npos);
    CHECK(log.find(" .qspi ") != log.npos);
    CHECK(log.find(" m_region_flash_weights\n") != log.npos);
  }
}

}  // namespace
}  // namespace onnxc
