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

std::string why_not_written(const fs::path& path) {
  try {
    write_file(path, "text");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::Io);
    return error.what();
  }
  return "written";
}

TEST_CASE("what cannot be written or read says why") {
  const test::TemporaryFolder folder;
  const fs::path work = folder.path(), file = work / "a.txt";
  write_file(file, "a");
  const auto contains = [](const fs::path& path, const std::string& why) {
    return Catch::Matchers::Contains(path.string() + " cannot be written: " + why);
  };
  CHECK_THAT(why_not_written(work / "none" / "r.html"),
             contains(work / "none" / "r.html", "the folder " + (work / "none").string() + " does not exist"));
  CHECK_THAT(why_not_written(file / "r.html"), contains(file / "r.html", file.string() + " is no folder"));
  CHECK_THAT(why_not_written(work), contains(work, "it is a folder"));
  CHECK_THAT(why_not_written("/dev/full"), contains("/dev/full", "No space left on device"));
  CHECK_THAT(why_not_written("/proc/r.html"), contains("/proc/r.html", "no file can be made in /proc: "));
  CHECK_THAT(why_not_written(work / std::string(250, 'n')), Catch::Matchers::Contains("File name too long"));
  CHECK_THAT(why_not_written(""), Catch::Matchers::Contains("'' cannot be written: a file needs a name"));
  CHECK_THROWS_WITH(read_file(work / "none"), Catch::Matchers::Contains("cannot be read: No such file or directory"));
  CHECK_THROWS_WITH(read_file(work), Catch::Matchers::Contains("cannot be read: it is a folder"));
  CHECK_THROWS_WITH(make_folder(file / "sub"), Catch::Matchers::Contains((file / "sub").string() + " cannot be made: "));
}

}  // namespace
}  // namespace onnxc
