#include "tools/driver/data_set.h"

#include <catch2/catch.hpp>

#include "tests/codegen/compile_and_run.h"

namespace onnxc {
namespace {

namespace fs = std::filesystem;

TensorData number(float value) {
  TensorData t = TensorData::zeros(ElementType::F32, {1});
  t.as<float>()[0] = value;
  return t;
}

/// Graph inputs w (with an initialiser of 7), x and y; output z.
ModelSummary summary() {
  ModelSummary model;
  model.inputs = {{"w", ValueKind::Tensor, HostValue{ValueKind::Tensor, "w", number(7), {}}},
                  {"x", ValueKind::Tensor, {}},
                  {"y", ValueKind::Tensor, {}}};
  model.outputs = {{"z", ValueKind::Tensor, {}}};
  return model;
}

struct Files {
  test::TemporaryFolder folder;
  void write(const std::string& name, float value, const std::string& tensor_name = "") const {
    fs::create_directories((folder.path() / name).parent_path());
    folder.write(name, serialize_tensor(number(value), tensor_name));
  }
};

/// The values that w, x and y get; 0 for none.
std::vector<float> given(const DataSet& data) {
  std::vector<float> values;
  for (const auto& input : data.inputs) values.push_back(input ? input->tensor.as<float>()[0] : 0);
  return values;
}

/// A unit whose inputs have these names.
struct Unit {
  std::vector<onnxc_tensor_info> inputs;
  onnxc_model model{};
  explicit Unit(const std::vector<const char*>& names) {
    for (const char* name : names) inputs.push_back({name, name, 1, 1, nullptr, ONNXC_PLAIN, ONNXC_TENSOR});
    model.inputs = inputs.data();
    model.input_count = static_cast<int32_t>(inputs.size());
  }
};

TEST_CASE("data sets are found in a case, in the order of their numbers, or given themselves") {
  const Files files;
  for (const char* name : {"test_data_set_10/input_0.pb", "test_data_set_2/input_0.pb", "test_data_set_x/input_0.pb", "other/input_0.pb"})
    files.write(name, 1);
  const fs::path root = files.folder.path();
  CHECK(find_data_sets(root) == std::vector<fs::path>{root / "test_data_set_2", root / "test_data_set_10"});
  CHECK(find_data_sets(root / "other") == std::vector<fs::path>{root / "other"});
  CHECK(find_data_sets(root / "test_data_set_x").size() == 1);
  CHECK_THROWS_AS(find_data_sets(root / "nothing"), Error);
}

TEST_CASE("files go to the inputs they name, else to those of their number, with or without initialisers counted") {
  const Files files;
  const fs::path folder = files.folder.path();
  files.write("input_0.pb", 1);
  files.write("input_1.pb", 2);
  files.write("output_0.pb", 3);
  // Two files: as many as there are inputs without an initialiser.
  const DataSet two = read_data_set(folder, summary());
  CHECK(given(two) == std::vector<float>{0, 1, 2});
  CHECK(two.outputs.at(0)->tensor.as<float>()[0] == 3);
  files.write("input_2.pb", 3);
  CHECK(given(read_data_set(folder, summary())) == std::vector<float>{1, 2, 3});
  fs::remove(folder / "input_0.pb");
  fs::remove(folder / "input_2.pb");
  CHECK(given(read_data_set(folder, summary())) == std::vector<float>{0, 2, 0});
  files.write("input_1.pb", 5, "y");
  CHECK(given(read_data_set(folder, summary())) == std::vector<float>{0, 0, 5});
  files.write("input_9.pb", 5);
  CHECK_THROWS_AS(read_data_set(folder, summary()), Error);
}

TEST_CASE("a unit is fed with what was given, or with the initialiser") {
  const Files files;
  const ModelSummary model = summary();
  files.write("input_1.pb", 2, "x");
  files.write("input_2.pb", 3, "y");
  const DataSet data = read_data_set(files.folder.path(), model);
  const auto values = [&](const std::vector<const char*>& names, const DataSet& set) {
    const Unit unit(names);
    std::vector<float> result;
    for (const HostValue* value : feeds(unit.model, model, set)) result.push_back(value->tensor.as<float>()[0]);
    return result;
  };
  CHECK(values({"x", "y"}, data) == std::vector<float>{2, 3});
  CHECK(values({"y", "w"}, data) == std::vector<float>{3, 7});
  files.write("input_0.pb", 7, "w");
  const DataSet same = read_data_set(files.folder.path(), model);
  CHECK(values({"x", "y"}, same) == std::vector<float>{2, 3});
  files.write("input_0.pb", 8, "w");
  const DataSet other = read_data_set(files.folder.path(), model);
  CHECK(values({"w", "x", "y"}, other) == std::vector<float>{8, 2, 3});
  CHECK_THROWS_AS(values({"x", "y"}, other), Error);  // the unit holds 7
  fs::remove(files.folder.path() / "input_2.pb");
  CHECK_THROWS_AS(values({"x", "y"}, read_data_set(files.folder.path(), model)), Error);
  CHECK_THROWS_AS(values({"q"}, data), Error);
}

TEST_CASE("tolerances come from data.json and case.json") {
  const test::TemporaryFolder folder;
  CHECK(read_tolerance(folder.path(), {.rtol = 1, .atol = 2}).atol == 2);
  folder.write("data.json", R"({"rtol": 0.5, "int_atol": 1})");
  CHECK(read_tolerance(folder.path(), {.rtol = 1, .atol = 2}).rtol == 0.5);
  CHECK(read_tolerance(folder.path(), {.rtol = 1, .atol = 2}).int_atol == 1);
  folder.write("data.json", R"({"kind": "cnn", "tol_rel_l2": 0.1})");
  CHECK(!read_tolerance(folder.path(), {}).rel_l2);
  folder.write("case.json", R"({"kind": "quant", "tol_rel_l2": 0.1})");
  CHECK(read_tolerance(folder.path(), {}).rel_l2 == 0.1);
  folder.write("case.json", "[");
  CHECK_THROWS_AS(read_tolerance(folder.path(), {}), Error);
}

}  // namespace
}  // namespace onnxc
