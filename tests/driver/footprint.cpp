#include "tools/driver/footprint.h"

#include <catch2/catch.hpp>

#include "compiler/support/error.h"
#include "tools/driver/build_library.h"
#include "tools/driver/files.h"
#include "tools/driver/stack_bound.h"

namespace onnxc {
namespace {

std::string node(const std::string& title, const std::string& frame) {
  return "node: { title: \"" + title + "\" label: \"" + title + "\\nm.cpp:1:2" +
         (frame.empty() ? "" : "\\n" + frame + "\\n0 dynamic objects") + "\" }\n";
}
std::string edge(const std::string& from, const std::string& to) {
  return "edge: { sourcename: \"" + from + "\" targetname: \"" + to + "\" label: \"m.cpp:3:4\" }\n";
}
const std::string kFrame = "40 bytes (static)";

TEST_CASE("the bound of the stack is the deepest path") {
  const std::string graph = node("run", kFrame) + node("m.cpp:_ZN1m4leafEv", "8 bytes (static)") + node("deep", "100 bytes (static)") +
                            edge("run", "m.cpp:_ZN1m4leafEv") + edge("run", "deep") + edge("run", "deep");
  const StackBound bound = stack_bound(graph);
  CHECK(bound.bytes == 140);
  CHECK(bound.path == std::vector<std::string>{"run", "deep"});
  CHECK(bound.others.empty());
  SECTION("a library's function counts") {
    const StackBound more = stack_bound(graph + node("memcpy", "") + edge("deep", "memcpy"));
    CHECK(more.bytes == 140 + StackBound::kLibraryFrame);
    CHECK(more.others == std::vector<std::string>{"memcpy"});
  }
  SECTION("a constructor is an alias of another") {
    const StackBound more = stack_bound(graph + node("m.cpp:_ZN1mC2Ev", "200 bytes (static)") + edge("deep", "m.cpp:_ZN1mC1Ev"));
    CHECK(more.bytes == 340);
  }
  SECTION("no bound") {
    CHECK(stack_bound(graph + edge("deep", "run")).why == "deep calls itself");
    CHECK(!stack_bound(graph + node("__indirect_call", "") + edge("deep", "__indirect_call")).bytes);
    CHECK(!stack_bound(graph + node("grows", "16 bytes (dynamic)") + edge("deep", "grows")).bytes);
    CHECK(stack_bound(graph + node("grows", "16 bytes (dynamic,bounded)") + edge("deep", "grows")).bytes == 156);
  }
}

TEST_CASE("constants of regions are RAM as well, unless they lie in flash") {
  Footprint f{.code = 100, .weights = 5'000, .data = 8, .zeroed = 16, .arena = 1'600};
  f.stack.bytes = 200;
  f.regions = {{.name = "fast", .capacity = 2'000, .section = ".f", .arena_bytes = 600, .constant_bytes = 1'300},
               {.name = "slow", .capacity = 4'000, .arena_bytes = 1'000},
               {.name = "flash", .capacity = 9'000, .section = ".q", .constants_only = true, .constant_bytes = 3'000}};
  CHECK(f.copied_constants() == 1'300);
  CHECK(f.ram() == 8 + 16 + 1'600 + 200 + 1'300);
  CHECK(f.flash() == 100 + 5'000 + 8);
  const std::string line = text(f);
  for (const char* part :
       {"RAM 3,124 (arena 1,600, stack 200, variables 24, constants 1,300); regions fast 1,900 of 2,000 (arena 600, constants 1,300), "
        "slow 1,000 of 4,000 (arena 1,000, constants 0), flash 3,000 of 9,000 (arena 0, constants 3,000); by "})
    CHECK(line.find(part) != line.npos);
  CHECK_NOTHROW(check_footprint(f, {.ram = 3'124}));
  CHECK_THROWS_AS(check_footprint(f, {.ram = 3'123}), Error);
}

TEST_CASE("a unit's sections are its footprint") {
  BuildRequest request;
  request.files.push_back(
      {"unit.cpp", Text("extern int use(const volatile char*);\n"
                        "namespace m { const int table[1000] = {7}; int counts[500] = {1}; int zeros[300];\n"
                        "int run(int i) { volatile char big[4000]; big[i] = 1; return table[i] + counts[i] + zeros[i] + big[2]; } }\n")});
  request.to_compile.push_back("unit.cpp");
  request.shared = false;
  request.call_graph = compiler_name().find("clang") == std::string::npos;
  if (!request.call_graph) return;
  const std::filesystem::path object = build_library(request);
  const Footprint f = footprint_of(read_file(object), read_file(std::filesystem::path(object).replace_extension(".ci")));
  CHECK(f.code > 0);
  CHECK(f.code < 1000);
  CHECK(f.constants >= 4000);
  CHECK(f.constants < 5000);
  CHECK(f.data == 2000);
  CHECK(f.zeroed == 1200);
  REQUIRE(f.stack.bytes);
  CHECK(*f.stack.bytes >= 3900);  // a leaf may use memory below its frame
  CHECK(*f.stack.bytes < 4200);
  CHECK(f.flash() == f.code + f.constants + 2000);
  CHECK(f.ram() == 3200 + *f.stack.bytes);
  CHECK_NOTHROW(check_footprint(f, {f.flash(), f.ram(), *f.stack.bytes}));
  CHECK_THROWS_AS(check_footprint(f, {f.flash() - 1, {}, {}}), Error);
  CHECK_THROWS_AS(check_footprint(f, {{}, f.ram() - 1, {}}), Error);
  CHECK_THROWS_AS(check_footprint(f, {{}, {}, *f.stack.bytes - 1}), Error);
  CHECK_THROWS_AS(check_footprint(footprint_of(read_file(object), ""), {{}, {}, 1 << 20}), Error);
}

}  // namespace
}  // namespace onnxc
