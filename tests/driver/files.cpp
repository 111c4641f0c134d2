#include "tools/driver/files.h"

#include <catch2/catch.hpp>

#include "compiler/support/error.h"
#include "tests/codegen/compile_and_run.h"

namespace onnxc {
namespace {

namespace fs = std::filesystem;

std::size_t count_in(const fs::path& folder) { return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), {})); }

TEST_CASE("files are replaced, and what they are stays") {
  const test::TemporaryFolder folder;
  const fs::path work = folder.path();
  const fs::path file = work / "unit.cpp", link = work / "link.cpp";
  Text text;
  text += "one, ";
  text += [](const Text::Sink& sink) {
    sink("two, ");
    sink("three");
  };
  text += ", ";
  text += "four";
  CHECK(text.str() == "one, two, three, four");
  write_file(file, text);
  CHECK(read_file(file) == text.str());

  fs::create_symlink(file, link);
  write_file(link, "through a link");
  CHECK(read_file(file) == "through a link");
  CHECK(fs::is_symlink(link));

  CHECK_THROWS_AS(write_file("/dev/full", "nothing fits"), Error);
  CHECK(fs::is_character_file("/dev/full"));
  CHECK_THROWS_AS(write_file(work, "a folder"), Error);
  CHECK_THROWS_AS(write_file(work / "none" / "unit.cpp", text), Error);
  CHECK(count_in(work) == 2);  // nothing is left behind
}

}  // namespace
}  // namespace onnxc
