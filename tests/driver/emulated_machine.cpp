#include "tools/emulator/emulated_machine.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "tools/driver/build_library.h"
#include "tools/driver/temporary_folder.h"

namespace onnxc {
namespace {

TEST_CASE("machines that stand for targets are read from the table") {
  const auto m33 = find_emulated_machine("cortex-m33");
  REQUIRE(m33);
  CHECK(m33->emulator == std::vector<std::string>{"qemu-system-arm", "-M", "mps2-an505"});
  CHECK(m33->is_board);
  CHECK(m33->code.origin == 0x10000000);
  CHECK(m33->data.bytes == 2 << 20);
  CHECK(m33->large.origin == 0x80000000);
  CHECK(m33->reset == 0x10000000);
  const auto sve = find_emulated_machine("aarch64-sve256");
  REQUIRE(sve);
  CHECK(!sve->is_board);
  CHECK(sve->emulator.front() == "qemu-aarch64");
  for (const char* none : {"native", "wasm32", "cortex-m", "#", "", "qemu-aarch64"}) CHECK(!find_emulated_machine(none));
  for (const char* here : {"native", "generic"}) CHECK(!runs_elsewhere(here));
  CHECK(runs_elsewhere("cortex-m0"));
}

TEST_CASE("a compiler is a command with options, or a program whose name has blanks") {
  using Words = std::vector<std::string>;
  CHECK(compiler_words("g++") == Words{"g++"});
  CHECK(compiler_words("  clang++ --sysroot=/x  -m32 ") == Words{"clang++", "--sysroot=/x", "-m32"});
  CHECK(compiler_words(" ") == Words{" "});
  const TemporaryFolder folder;
  const std::string named = (folder.path() / "my compiler").string();
  std::ofstream{named};
  CHECK(compiler_words(named) == Words{named});
}

}  // namespace
}  // namespace onnxc
