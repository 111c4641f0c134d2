// Which unit of a group a compiler's errors belong to.
#include "tools/conformance/blame.h"

#include <catch2/catch.hpp>

using namespace onnxc;

using Errors = std::map<std::string, std::string>;

TEST_CASE("a missing header is the fault of the unit that includes it") {
  CHECK(blame("In file included from /r/onnxc/image/decode.hpp:9,\n"
              "                 from /w/case_0012.cpp:14,\n"
              "                 from /w/node_group_003.cpp:5:\n"
              "/r/onnxc/image/tiff.hpp:5:10: fatal error: tiffio.h: No such file or directory\n"
              "    5 | #include <tiffio.h>\n"
              "compilation terminated.\n") == Errors{{"case_0012", "error: tiffio.h: No such file or directory"}});
  CHECK(blame("In file included from /w/node_group_003.cpp:5:\n"
              "In file included from /w/case_0012.cpp:14:\n"
              "In file included from /r/onnxc/image/decode.hpp:9:\n"
              "/r/onnxc/image/tiff.hpp:5:10: fatal error: 'tiffio.h' file not found\n"
              "#include <tiffio.h>\n"
              "         ^~~~~~~~~~\n"
              "1 error generated.\n") == Errors{{"case_0012", "error: 'tiffio.h' file not found"}});
}

TEST_CASE("an error inside of a header is the fault of the unit that led there, not of the one that included it first") {
  CHECK(blame("In file included from /r/onnxc/conv.hpp:3,\n"
              "                 from /w/case_0001.cpp:8,\n"
              "                 from /w/node_group_000.cpp:2:\n"
              "/r/onnxc/tile.hpp: In instantiation of 'void onnxc::f() [with int N = 9]':\n"
              "/w/case_0007.cpp:40:12:   required from here\n"
              "/r/onnxc/tile.hpp:30:3: error: static assertion failed\n") == Errors{{"case_0007", "error: static assertion failed"}});
  CHECK(blame("/w/case_0003.cpp:10:5: error: 'x' was not declared in this scope\n"
              "/w/case_0003.cpp:11:5: error: another\n"
              "/w/case_0004.cpp:2:5: error: 'y' was not declared in this scope\n") ==
        Errors{{"case_0003", "error: 'x' was not declared in this scope"}, {"case_0004", "error: 'y' was not declared in this scope"}});
}

TEST_CASE("a linker names no unit") {
  CHECK(blame("/usr/bin/ld: cannot find -ltiff: No such file or directory\ncollect2: error: ld returned 1 exit status\n").empty());
}

TEST_CASE("what is not installed is named") {
  CHECK(missing_of_system("error: tiffio.h: No such file or directory") == "tiffio.h");
  CHECK(missing_of_system("error: 'webp/decode.h' file not found") == "webp/decode.h");
  CHECK(missing_of_system("/usr/bin/ld: cannot find -ltiff: No such file or directory") == "tiff");
  CHECK(missing_of_system("error: 'x' was not declared in this scope").empty());
}
