#include "codegen/names.h"

#include <catch2/catch.hpp>

#include <set>

#include "tests/codegen/compile_and_run.h"

namespace onnxc {
namespace {

std::vector<std::string> nasty_names() {
  // clang-format off
  std::vector<std::string> names = {
      "", " ", "x", "X", "7", "12abc", "a.b", "a/b", "a:b", "a b", "a__b", "_a", "_A", "__a", "a_", "/layer1/conv/Conv_output_0",
      "INPUT__0", "NULL", "EOF", "INT64_MAX", "ONNXC_OK", "NDEBUG", "int", "class", "co_await", "requires", "char8_t", "import",
      "not_eq", "errno", "linux", "stdin", "std", "onnxc", "main", "run", "Inputs", "arena", "in", "out", "weights", "\"",
      "\"; system(\"rm\"); //", "a\nb", "a\r\nb", "a\\", "a\\ ", "a\\\n#error", "*/ int x; /*", "/* x", "?\?/", "?\?/\nint y",
      "?\?\?/", "%>", "<::", "\xe8\xbe\x93\xe5\x85\xa5", "caf\xc3\xa9", "\xe2\x80\xae" "txet", "\xe2\x81\xa6hidden\xe2\x81\xa9",
      "\xff\xfe", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x80\xa8line", std::string("nul\0nul", 7), "\x1b[31m",
      "\t", "{}", "{0}", "%s", "\\u202e", "\\x41", "\\", "trailing ", "0x1p3", "a-b", "a+b", "a_b", "a_2", "a", "A", "a_b_2",
      "onnx::MatMul_123", "R\"(x)\"", "$dollar", "#define x y", "__FILE__", "_Pragma", "asm", "typeof", "interface"};
  // clang-format on
  names.push_back(std::string(70'000, 'n'));
  names.push_back(std::string(69'999, 'n') + "m");
  names.push_back(std::string(70'000, '_'));
  names.push_back(std::string(40, 'a') + std::string(100, '/') + std::string(40, 'b'));
  for (int c = 1; c < 256; ++c) names.push_back(std::string("c") + static_cast<char>(c));
  return names;
}

TEST_CASE("namespaces keep clear of global names") {
  const std::pair<const char*, const char*> table[] = {
      {"mnist-12", "mnist_12"}, {"exp", "model_exp"}, {"sinf", "model_sinf"},   {"index", "model_index"},
      {"class", "model_class"}, {"", "model"},        {"onnxc", "model_onnxc"}, {"onnxc_model", "model_onnxc_model"},
      {"expo", "expo"},         {"model", "model"}};
  for (const auto& [name, expected] : table) CHECK(make_namespace(name) == expected);
  for (const std::string& name : nasty_names()) CHECK(namespace_problem(make_namespace(name)).why.empty());
}

TEST_CASE("a namespace that is asked for has a problem or none") {
  for (const char* name : {"mnist", "Mnist12", "MNIST", "model", "run", "expo"}) {
    INFO(name);
    CHECK(namespace_problem(name).why.empty());
  }
  for (const char* name : {"small", "near", "far", "interface", "major", "final"}) {
    INFO(name);
    CHECK(namespace_problem(name).elsewhere);
    CHECK(make_namespace(name) == std::string("model_") + name);
  }
  for (const char* name :
       {"", "a-b", "7a", "a.b", "_a", "a__b", "a_", "class", "errno", "std", "exp", "expf", "index", "onnxc_a", "NULL", "linux"}) {
    INFO(name);
    CHECK_FALSE(namespace_problem(name).why.empty());
    CHECK_FALSE(namespace_problem(name).elsewhere);
  }
}

TEST_CASE("identifiers resemble their names") {
  const std::pair<const char*, const char*> table[] = {{"/layer1/conv.0:weight", "layer1_conv_0_weight"},
                                                       {"int", "int_"},
                                                       {"7", "v7"},
                                                       {"INPUT__0", "input_0"},
                                                       {"X", "X"},
                                                       {"", "v"},
                                                       {"_", "v"},
                                                       {"__a__b__", "a_b"},
                                                       {"NULL", "null"},
                                                       {"input.1", "input_1"},
                                                       {"onnx::MatMul_123", "onnx_MatMul_123"},
                                                       {"conv1", "conv1"},
                                                       {"STD", "std_"},
                                                       {"co_await", "co_await_"},
                                                       {"caf\xc3\xa9", "caf"}};
  for (const auto& [name, identifier] : table) CHECK(make_identifier(name) == identifier);
  CHECK(make_identifier("///", "input") == "input");
  const std::string long_name = make_identifier(std::string(70'000, 'n'));
  CHECK(long_name.size() <= 64);
  CHECK(long_name != make_identifier(std::string(70'001, 'n')));
}

TEST_CASE("clashes get numbers, the same each time") {
  Names names(kInterfaceNames);
  const std::pair<const char*, const char*> table[] = {{"a", "a"},      {"a", "a_2"},     {"a_2", "a_2_2"},
                                                       {"a.", "a_3"},   {"run", "run_2"}, {"Inputs", "Inputs_2"},
                                                       {"int", "int_"}, {"int", "int_2"}, {"int ", "int_3"}};
  for (const auto& [name, identifier] : table) CHECK(names.add(name) == identifier);
  CHECK(names.contains("a_2"));
  CHECK(!names.contains("b"));
  for (int i = 0; i < 200'000; ++i) names.add("same");  // linear time
  CHECK(names.add("same") == "same_200001");
}

TEST_CASE("comments stay on their line") {
  const std::pair<const char*, const char*> table[] = {{"conv1", "conv1"},
                                                       {"a\nb", "a\\x0ab"},
                                                       {"a\\", "a\\x5c"},
                                                       {"a\\  ", "a\\x5c"},
                                                       {"?\?/", "?\\x3f/"},
                                                       {"*/", "*\\x2f"},
                                                       {"caf\xc3\xa9", "caf\xc3\xa9"},
                                                       {"\xe2\x80\xae"
                                                        "a",
                                                        "\\u202ea"},
                                                       {"\xff", "\\xff"},
                                                       {"a\\b", "a\\b"},
                                                       {"", ""},
                                                       {"  ", ""}};
  for (const auto& [text, comment] : table) CHECK(comment_text(text) == comment);
  CHECK(comment_text(std::string(70'000, 'n')) == std::string(100, 'n') + "... (70000 bytes)");
}

TEST_CASE("names in a unit compile, and literals hold their bytes") {
  Names names(kInterfaceNames);
  std::string source =
      "#include <cassert>\n#include <cerrno>\n#include <climits>\n#include <cmath>\n#include <complex>\n#include <cstdint>\n#include "
      "<cstdio>\n#include <csignal>\n#include <cstring>\n#include <onnxc/base.hpp>\n";
  source += "namespace unit {\nusing onnxc::Status;\n";
  std::string expected, prints, members;
  std::set<std::string> seen;
  int line = 0;
  for (const std::string& name : nasty_names()) {
    const std::string id = names.add(name);
    CHECK(seen.insert(id).second);
    CHECK(id.find("__") == std::string::npos);
    source += "int " + id + " = " + std::to_string(++line) + ";  // " + comment_text(name) + "\n/* " + comment_text(name, 1000) + " */\n";
    members += "  int " + id + " = " + std::to_string(line) + ";\n";
    if (name.size() > kLongestLiteral) continue;
    prints += "std::fwrite(" + string_literal(name) + ", 1, " + std::to_string(name.size()) + ", stdout);\n";
    expected += name;
  }
  source += "struct Inputs {\n" + members + "};\n}\nint main() {\n" + prints +
            "if (unit::Inputs().X != unit::X) return 1;\nreturn unit::interface_ == unit::Inputs().interface_ ? 0 : 1;\n}\n";
  test::TemporaryFolder folder;
  folder.write("unit.cpp", source);
  for (const std::string& compiler : test::compilers()) {
    for (const char* flags : {"-std=c++20 -Wall -Wextra -Wpedantic -Wshadow -Werror", "-std=gnu++20 -Wall -Wextra -trigraphs -Werror"}) {
      INFO(compiler << " " << flags);
      const bool built = test::run_in(folder, compiler + " " + flags + " -I" ONNXC_SOURCE_DIR "/runtime_stub unit.cpp -o unit");
      INFO(folder.read("log"));
      REQUIRE(built);
      REQUIRE(test::run_in(folder, "./unit > printed"));
      CHECK(folder.read("printed") == expected);
    }
  }
}

}  // namespace
}  // namespace onnxc
