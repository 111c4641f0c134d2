#include "codegen/unit_names.h"

#include <catch2/catch.hpp>

namespace onnxc {
namespace {

TEST_CASE("expressions are named after their functions") {
  Program program;
  const std::pair<const char*, const char*> table[] = {{"relu(x0)", "Relu"},
                                                       {"relu(add(x0, x1))", "AddRelu"},
                                                       {"min(max(x0, f32(0)), f32(6))", "Clip"},
                                                       {"max(min(x0, f32(6)), f32(0))", "Clip2"},
                                                       {"max(x0, x1)", "Max"},
                                                       {"max(max(x0, f32(1)), x1)", "MaxMax"},
                                                       {"x0", "E6"},
                                                       {"add(add(add(add(add(x0, x1), x0), x1), x0), x1)", "E7"}};
  for (const auto& [expr, name] : table) program.exprs.push_back(parse_expr(expr, {ElementType::F32, ElementType::F32}));
  const std::vector<std::string> names = expr_names(program);
  for (std::size_t i = 0; i < names.size(); ++i) CHECK(names[i] == table[i].second);
  CHECK(summary(program.exprs[1]) == "add, relu");
  CHECK(summary(program.exprs[2]) == "clip");
  CHECK(summary(program.exprs[7]) == "add, add, add, add, ...");
}

TEST_CASE("a unit for a GPU has more names of its own") {
  Names host = weight_scope("net", {}, false), gpu = weight_scope("net", {}, true);
  for (const char* name : {"gpu", "stream", "unit", "enqueue"}) {
    CHECK(add_weight_name(host, name) == name);
    CHECK(add_weight_name(gpu, name) == std::string(name) + "_2");
  }
}

TEST_CASE("weights are named after their values") {
  Names scope = weight_scope("net", {"batch_8"}, false);
  const std::pair<const char*, const char*> table[] = {
      {"conv1.weight", "conv1_weight"},
      {"conv1.weight", "conv1_weight_2"},
      {"Parameter193", "parameter193"},
      {"B", "b"},
      {"", "constant"},
      {"plan", "plan_2"},
      {"plan_0", "w_plan_0"},
      {"batch_8", "batch_8_2"},
      {"net_weights", "net_weights_2"},
      {"int", "w_int"},
      {"Int", "w_int_2"},
      {"exp", "w_exp"},
      {"onnxc::at", "w_onnxc_at"},
      {"NULL", "null"},
      {"/encoder/layer.11/attention/self/query/MatMul_output_0", "self_query_MatMul_output_0"}};
  for (const auto& [from, name] : table) CHECK(add_weight_name(scope, from) == name);
  for (const std::size_t length : {36, 37, 100, 70'000}) {
    for (const char c : {'n', 'N', '_', '/', '7', '\xe2'}) {
      const std::string name = add_weight_name(scope, std::string(length, c));
      CHECK(name.size() <= 40);
      CHECK(name == make_identifier(name));
    }
  }
}

}  // namespace
}  // namespace onnxc
