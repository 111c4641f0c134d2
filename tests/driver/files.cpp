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

TEST_CASE("files that belong together are all new, or all as they were") {
  const test::TemporaryFolder folder;
  const fs::path one = folder.path() / "one", two = folder.path() / "two", three = folder.path() / "three";
  write_file(one, "old");
  {
    NewFiles files;
    files.add(one, "new");
    files.add(two, "new");
    CHECK(read_file(one) == "old");
    CHECK_FALSE(fs::exists(two));
  }  // never put in place
  CHECK(read_file(one) == "old");
  CHECK(count_in(folder.path()) == 1);

  NewFiles files;
  files.add(one, "new");
  files.add(two, "new");
  files.add(three, "new");
  fs::create_directory(three);  // which no file replaces
  CHECK_THROWS_WITH(files.commit(), Catch::Matchers::Contains(three.string() + " cannot be written: "));
  CHECK(read_file(one) == "old");
  CHECK_FALSE(fs::exists(two));
  fs::remove(three);
  files.commit();
  for (const fs::path& path : {one, two, three}) CHECK(read_file(path) == "new");
  CHECK(count_in(folder.path()) == 3);
}

TEST_CASE("no new file replaces another, or what was read") {
  const test::TemporaryFolder folder;
  const fs::path one = folder.path() / "one", link = folder.path() / "link";
  write_file(one, "old");
  fs::create_symlink(one, link);
  NewFiles files;
  files.add(link, "new");
  CHECK_THROWS_WITH(files.add(folder.path() / "." / "one", "new"), Catch::Matchers::Contains("would be written twice"));
  CHECK_THROWS_WITH(files.spare({one}), Catch::Matchers::Contains("is read, and would be replaced"));
  files.spare({folder.path() / "other"});
  CHECK(read_file(one) == "old");
}

TEST_CASE("a leftover goes with its owner") {
  const test::TemporaryFolder folder;
  const fs::path file = folder.path() / "file", inner = folder.path() / "inner";
  {
    const Leftover removed(inner), never_made(folder.path() / "none");
    fs::create_directories(inner / "deeper");
    write_file(inner / "deeper" / "file", "a");
    Leftover kept(file);
    write_file(file, "a");
    kept.keep();
  }
  CHECK(fs::exists(file));
  CHECK_FALSE(fs::exists(inner));
  {
    Leftover first(file);
    const Leftover second = std::move(first);
    CHECK(second.path() == file);
  }
  CHECK_FALSE(fs::exists(file));
}

}  // namespace
}  // namespace onnxc
