#include "tools/driver/code_budget.h"

#include <catch2/catch.hpp>

#include <algorithm>

#include "codegen/unit_names.h"
#include "compiler/support/error.h"
#include "tools/driver/build_library.h"
#include "tools/driver/files.h"

namespace onnxc {
namespace {

Step call(const std::string& function, const std::vector<int64_t>& arguments, int expr) {
  Call call{.kernel = function, .header = {}, .function = function};
  for (const int64_t argument : arguments) call.template_args.emplace_back(argument);
  call.args.emplace_back(EpilogueArg{expr, {}});
  return {std::move(call), "Conv 'c" + std::to_string(expr) + "': [1] -> [1]"};
}

TEST_CASE("functions lead to the steps that call them") {
  Program program;
  for (const char* expr : {"relu(x0)", "max(x0, f32(1))", "max(x0, f32(2))", "x0"})
    program.exprs.push_back(parse_expr(expr, {ElementType::F32}));
  program.steps = {call("gemm", {4, 2}, 0), call("gemm", {4, 2}, 1), call("gemm", {14, 2}, 1), call("scalar::gemm_all", {}, 3)};
  const auto steps = [&](const char* function) { return steps_of_function(program, function); };
  CHECK(steps("void onnxc::isa::gemm<4, 2, onnxc::isa::Epilogue<m::Max> >(float*)") == std::vector{1});
  CHECK(steps("void onnxc::isa::gemm<4, 2, onnxc::isa::Epilogue<m::Relu> >(float*)") == std::vector{0});
  CHECK(steps("void onnxc::isa::gemm<14, 2, onnxc::isa::Epilogue<m::Max> >(float*)") == std::vector{2});
  CHECK(steps("onnxc::isa::scalar::gemm_all<onnxc::isa::Epilogue<m::E3> >(float*)") == std::vector{3});
  CHECK(steps("onnxc::isa::tile<onnxc::isa::Epilogue<m::E3> >(float*)") == std::vector{3});  // what a kernel calls
  CHECK(steps("m::steps(m::Inputs const&)").empty());
  CHECK(steps("onnxc::isa::tile<onnxc::isa::Max>(float*)").empty());  // no expression, the runtime's own
  CHECK(expr_names(program) == std::vector<std::string>{"Relu", "Max", "Max2", "E3"});
  program.steps = {call("conv", {4}, 0), call("conv_wide", {4}, 1)};  // functions of a kernel are named after it
  CHECK(steps("void onnxc::isa::detail::conv_forward<6>(float*)") == std::vector{0});
  CHECK(steps("void onnxc::isa::detail::conv_wide_forward<6>(float*)") == std::vector{1});
}

TEST_CASE("the code of an object is measured") {
  BuildRequest request;
  request.files.push_back({"unit.cpp", Text("namespace m { int gemm(int x) { return x * 3; } int data[5000] = {1}; }\n")});
  request.to_compile.push_back("unit.cpp");
  for (const bool shared : {false, true}) {
    request.shared = shared;
    const std::string file = read_file(build_library(request));
    const CodeSize code = code_size(file);
    CHECK(code.bytes > 0);
    CHECK(code.bytes < 5000);
    CHECK(std::ranges::count(code.functions, "m::gemm(int)", &CodeSize::Function::name) == 1);
    Program program;
    program.exprs.push_back(parse_expr("relu(x0)", {ElementType::F32}));
    program.steps = {call("gemm", {}, 0)};
    CHECK_NOTHROW(check_code_budget(file, program, code.bytes));
    CHECK_THROWS_AS(check_code_budget(file, program, code.bytes - 1), Error);
  }
  CHECK_THROWS_AS(code_size("\x7f"
                            "ELF"),
                  Error);
  CHECK_THROWS_AS(code_size(std::string(64, 'x')), Error);
}

}  // namespace
}  // namespace onnxc
