#include "codegen/weights.h"

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include <cmath>
#include <cstring>
#include <iostream>
#include <limits>
#include <random>

#include "tests/codegen/compile_and_run.h"

#ifndef ONNXC_SOURCE_DIR
#define ONNXC_SOURCE_DIR "."
#endif

namespace onnxc {
namespace {

using test::TemporaryFolder;

struct Blobs {
  std::vector<WeightBlob> blobs;

  template <class T>
  void add(const std::string& type, const std::vector<T>& values, int alignment = 1) {
    std::vector<std::byte> bytes(values.size() * sizeof(T));
    if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
    blobs.push_back({"w" + std::to_string(blobs.size()), type, std::move(bytes), alignment});
  }
};

Blobs nasty_blobs() {
  using limits = std::numeric_limits<float>;
  Blobs b;
  b.add<float>("float", {0.0f, -0.0f, 1.0f, -2.5f, 0.1f, 3.14159274f, 1e-45f, limits::min(), limits::max(), limits::lowest(),
                         limits::infinity(), -limits::infinity(), limits::quiet_NaN(), std::bit_cast<float>(0xffc12345u),
                         std::bit_cast<float>(0x7fa00001u), 1023.875f, 1024.125f, 16777216.0f});
  b.add<double>("double", {0.1, -1e308, 5e-324, std::numeric_limits<double>::infinity(), std::nan(""), 0.125, -0.0});
  b.add<int64_t>("std::int64_t", {INT64_MIN, INT64_MAX, -1, 0});
  b.add<uint64_t>("std::uint64_t", {UINT64_MAX, 0, 1});
  b.add<int32_t>("std::int32_t", {INT32_MIN, INT32_MAX}, 4096);
  b.add<uint32_t>("std::uint32_t", {UINT32_MAX});
  b.add<int16_t>("std::int16_t", {INT16_MIN, INT16_MAX, 7});
  b.add<uint16_t>("std::uint16_t", {UINT16_MAX, 1});
  b.add<int8_t>("std::int8_t", {-128, 127, 0});
  std::vector<uint8_t> all;
  for (int i = 0; i < 256; ++i) all.push_back(static_cast<uint8_t>(i));
  for (char c : std::string("?\?=?\?/\\\"0123%d{}\n")) all.push_back(static_cast<uint8_t>(c));
  b.add<uint8_t>("std::uint8_t", all);
  b.add<uint8_t>("bool", {1, 0, 1});
  b.add<uint16_t>("half", {0x3c00, 0xfbff, 0x7e00});  // a type of the unit
  b.add<float>("float", {});
  std::mt19937 random(1);
  std::vector<float> floats;
  for (int i = 0; i < 3001; ++i) floats.push_back(std::bit_cast<float>(static_cast<uint32_t>(random())));
  b.add<float>("float", floats);
  return b;
}

/// A program that writes all blobs to standard output through their access expressions.
std::string program(const Blobs& b, const WeightsText& text, const std::string& declarations, bool huge_pages, int alignment) {
  std::string source = "#include <cstdio>\n#include <onnxc/base.hpp>\n#include <onnxc/huge_pages.hpp>\n";
  for (const std::string& include : text.includes) source += "#include " + include + "\n";
  source += "namespace m {\n" + text.header_declarations + "struct half { std::uint16_t bits; };\n" + declarations;
  source += "bool dump() {\n";
  if (!text.missing.empty()) source += "if (" + text.missing + ") return false;\n";
  for (const WeightBlob& blob : b.blobs) {
    const bool constant = text.access(blob.name).find('(') == std::string::npos;
    source += fmt::format("{{ {} const {}* p = {};\n", constant ? "static constexpr" : "", blob.elem_cpp_type, text.access(blob.name));
    source += "if (reinterpret_cast<std::uintptr_t>(p) % " + std::to_string(std::max(alignment, blob.alignment)) + " != 0) return false;\n";
    source += "std::fwrite(p, 1, " + std::to_string(blob.bytes.size()) + ", stdout); }\n";
  }
  source += "return true;\n}\n}\n";
  if (text.missing.empty()) {
    source += fmt::format("int main() {{ {}return m::dump() ? 0 : 1; }}\n", huge_pages ? "m::m_use_huge_pages(); " : "");
  } else {
    source +=
        "alignas(4096) static std::byte image[1 << 20];\nint main() {\n  if (m::dump()) return 1;\n  std::FILE* file = std::fopen(\"" +
        text.side_files[0].name +
        "\", \"rb\");\n  [[maybe_unused]] auto n = std::fread(image, 1, sizeof image, file);\n  m::m_weights = image;\n  "
        "std::fclose(file);\n  " +
        std::string(huge_pages ? "m::m_use_huge_pages();\n  " : "") + "return m::dump() ? 0 : 1;\n}\n";
  }
  return source;
}

std::string all_bytes(const Blobs& b) {
  std::string bytes;
  for (const WeightBlob& blob : b.blobs) bytes.append(reinterpret_cast<const char*>(blob.bytes.get()->data()), blob.bytes.size());
  return bytes;
}

void check_round_trip(const Blobs& b, const std::string& form, const std::string& flags, bool without_asm = false, bool huge_pages = false,
                      int alignment = 64, bool typed = false) {
  const WeightsText text = emit_weights(
      b.blobs, {.form = form, .prefix = "m", .alignment = static_cast<std::size_t>(alignment), .typed = typed, .huge_pages = huge_pages});
  if (!b.blobs.empty()) CHECK((text.access("w0").find('(') == std::string::npos) == (typed || text.form == "array"));
  std::string declarations = text.declarations.str();
  if (without_asm) {
    const std::string_view condition = "(defined(__GNUC__) || defined(__clang__))";
    const std::size_t at = declarations.find(condition);
    REQUIRE(at != std::string::npos);
    declarations.replace(at, condition.size(), "0");
  }
  TemporaryFolder folder;
  folder.write("unit.cpp", program(b, text, declarations, huge_pages, alignment));
  std::string objects;
  for (const SideFile& file : text.side_files) {
    folder.write(file.name, file.bytes.str());
    if (file.name.ends_with(".o")) objects += " " + file.name;
  }
  for (const std::string& compiler : test::compilers()) {
    INFO(compiler << " " << flags << " --weights=" << form);
    const bool built = test::run_in(folder, compiler + " -std=c++20 -Wall -Wextra -Wpedantic -Werror -I" ONNXC_SOURCE_DIR "/runtime_stub " +
                                                flags + " unit.cpp" + objects + " -o unit");
    INFO(folder.read("log"));
    REQUIRE(built);
    REQUIRE(test::run_in(folder, "./unit > dump"));
    CHECK(folder.read("dump") == all_bytes(b));
  }
}

TEST_CASE("every form gives the same bytes back") {
  const Blobs b = nasty_blobs();
  for (const char* form : {"auto", "array", "asm", "string", "incbin", "object", "file", "section:.mine"}) {
    check_round_trip(b, form, "-O1 -Wconversion");
  }
  for (const char* form : {"array", "asm", "string", "object"}) check_round_trip(b, form, "-O2 -fsanitize=address,undefined -fPIC");
  for (const char* form : {"array", "asm", "object", "section:.mine"}) check_round_trip(b, form, "-O2 -fno-pie -no-pie");
}

TEST_CASE("images of little alignment have their last bytes") {
  Blobs b = nasty_blobs();
  for (const std::vector<float>& end : {std::vector<float>{1.5f, -2.5f}, std::vector<float>{0.1f}}) {
    b.add<float>("float", end);
    for (const char* form : {"asm", "string", "incbin", "object", "file"}) check_round_trip(b, form, "-O1", false, false, 8);
  }
}

TEST_CASE("images with a name for each type are constant expressions") {
  const Blobs b = nasty_blobs();
  for (const char* form : {"asm", "incbin"}) check_round_trip(b, form, "-O1", false, false, 8, true);
  check_round_trip(b, "asm", "-O0", false, false, 16, true);
}

TEST_CASE("in memory of huge pages every form gives the same bytes") {
  const Blobs b = nasty_blobs();
  for (const char* form : {"array", "asm", "string", "incbin", "object", "file"})
    check_round_trip(b, form, "-O1 -Wconversion", false, true);
  check_round_trip(b, "asm", "-O1 -fsanitize=address,undefined", false, true);
}

TEST_CASE("larger weights: asm, with a literal for other compilers") {
  Blobs b = nasty_blobs();
  std::mt19937 random(2);
  std::vector<uint32_t> words(30'000);
  for (uint32_t& word : words) word = static_cast<uint32_t>(random());
  b.add<uint32_t>("std::uint32_t", words);
  b.add<uint8_t>("std::uint8_t", {1, 2, 3});
  const WeightsText text = emit_weights(b.blobs, {"auto", "m"});
  CHECK(text.form == "asm");
  CHECK(text.declarations.str().find("asm(") != std::string::npos);
  check_round_trip(b, "auto", "-O1");
  check_round_trip(b, "auto", "-O1", true);
  check_round_trip(b, "string", "-O1");
  check_round_trip(b, "section:.mine", "-O1");
  check_round_trip(b, "section:.mine", "-O1 -fPIC");
}

TEST_CASE("no weights and small weights") {
  Blobs none;
  for (const char* form : {"auto", "array", "asm", "string", "incbin", "object", "file"}) check_round_trip(none, form, "-O1");
  Blobs small;
  small.add<float>("float", {1.0f, 0.5f, 0.1f});
  CHECK(emit_weights(small.blobs, {"auto", "m"}).declarations.str() ==
        "alignas(64) constexpr float w0[] = {\n    1.0f, 0.5f, 0x1.99999ap-4f,\n};\n");
}

TEST_CASE("two units with weights link into one shared library") {
  const Blobs b = nasty_blobs();
  TemporaryFolder folder;
  for (const std::string prefix : {"first", "second"}) {
    const WeightsText text = emit_weights(b.blobs, {"asm", prefix});
    std::string source = "#include <onnxc/base.hpp>\n#include <bit>\nnamespace " + prefix + " {\nstruct half { std::uint16_t bits; };\n" +
                         text.declarations.str();
    source += "const float* first_weight() { return " + text.access("w0") + "; }\n}\n";
    folder.write(prefix + ".cpp", source);
  }
  for (const std::string& compiler : test::compilers()) {
    for (const std::string flags : {"-O2", "-O2 -flto"}) {
      if (flags.find("lto") != std::string::npos && compiler != "g++") continue;
      INFO(compiler << " " << flags);
      const bool built = test::run_in(folder, compiler + " -std=c++20 -fPIC -shared -Wl,-z,defs " + flags +
                                                  " -I" ONNXC_SOURCE_DIR "/runtime_stub first.cpp second.cpp -o both.so && nm -D both.so");
      const std::string log = folder.read("log");
      INFO(log);
      CHECK(built);
      CHECK(log.find("_weights") == std::string::npos);  // hidden
    }
  }
}

TEST_CASE("Mach-O takes the asm form") {
  if (std::system("command -v clang++-19 >/dev/null 2>&1") != 0) {
    std::cout << "skipped: clang++-19 is not installed\n";
    return;
  }
  const Blobs b = nasty_blobs();
  const WeightsText text = emit_weights(b.blobs, {"asm", "m"});
  TemporaryFolder folder;
  // There are no headers for that system here, so the few names that the text needs are spelled out.
  folder.write("unit.cpp",
               "namespace std { using size_t = decltype(sizeof 0); enum class byte : unsigned char {}; enum class endian { little, native "
               "= little }; }\n"
               "namespace m {\n" +
                   text.declarations.str() + "const std::byte* get() { return weights; }\n}\n");
  for (const std::string target :
       {"arm64-apple-macos13", "x86_64-apple-macos13", "aarch64-linux-gnu", "riscv64-linux-gnu", "armv7m-none-eabi"}) {
    INFO(target);
    const bool built = test::run_in(
        folder, "clang++-19 --target=" + target + " -std=c++20 -Wall -Wextra -Wpedantic -Werror -ffreestanding -c unit.cpp -o unit.o");
    INFO(folder.read("log"));
    CHECK(built);
  }
}

TEST_CASE("an object file has a section, a symbol and its machine") {
  Blobs b;
  b.add<uint8_t>("std::uint8_t", {1, 2, 3});
  const WeightsText text = emit_weights(b.blobs, {"object", "m", "aarch64-linux-gnu"});
  TemporaryFolder folder;
  folder.write("w.o", text.side_files.at(0).bytes.str());
  REQUIRE(test::run_in(folder, "readelf -hSsr --wide w.o"));
  const std::string log = folder.read("log");
  for (const char* part : {"AArch64", ".rodata.onnxc", "m_weights", "m_weights_pointer", "HIDDEN", "R_AARCH64_ABS64"})
    CHECK(log.find(part) != std::string::npos);
  CHECK(log.find("Warning") == std::string::npos);
}

TEST_CASE("a hundred megabytes in each form for large weights") {
  Blobs b;
  std::vector<uint64_t> words(100'000'000 / 8);
  std::mt19937_64 random(3);
  for (uint64_t& word : words) word = random();
  b.add<uint64_t>("std::uint64_t", words);
  for (const char* form : {"auto", "string", "object"}) {
    const WeightsText text = emit_weights(b.blobs, {form, "m"});
    CHECK(text.image_bytes == words.size() * 8);
  }
}

TEST_CASE("what cannot be is refused") {
  Blobs b;
  b.add<uint8_t>("std::uint8_t", {1});
  CHECK_THROWS_AS(emit_weights(b.blobs, {"zip", "m"}), std::invalid_argument);
  CHECK_THROWS_AS(emit_weights(b.blobs, {"asm", "m n"}), std::invalid_argument);
  CHECK_THROWS_AS(emit_weights(b.blobs, {"section:a\"b", "m"}), std::invalid_argument);
  CHECK_THROWS_AS(emit_weights(b.blobs, {"object", "m", "z80"}), std::invalid_argument);
  CHECK_THROWS_AS(emit_weights(b.blobs, {"asm", "m"}).access("w1"), std::logic_error);
  b.blobs[0].name = "a-b";
  CHECK_THROWS_AS(emit_weights(b.blobs, {"asm", "m"}), std::logic_error);
}

}  // namespace
}  // namespace onnxc
