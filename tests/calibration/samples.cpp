// Files of samples, written by hand here; tests/quantize has those that numpy writes.
#include "tools/calibration/samples.h"

#include <catch2/catch.hpp>

#include <cmath>

#include "tests/calibration/message.h"
#include "tests/codegen/compile_and_run.h"
#include "tools/calibration/npy_file.h"

namespace onnxc {
namespace {

using test::message;

std::string npy(const std::string& descr, const std::string& shape, const std::string& data, const std::string& fortran = "False") {
  const std::string header = "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }\n";
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size()) + '\0' + header + data;
}
template <class T>
std::string raw(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

TEST_CASE("arrays of either order of axes and bytes", "[calibration]") {
  const std::vector<float> ordered{0, 1, 2, 3, 4, 5};
  const TensorData plain = parse_npy(npy("<f4", "(2, 3)", raw(ordered)));
  CHECK(plain.type == ElementType::F32);
  CHECK(plain.shape == std::vector<int64_t>{2, 3});
  CHECK(to_doubles(plain) == std::vector<double>{0, 1, 2, 3, 4, 5});
  const TensorData columns = parse_npy(npy("<f4", "(2, 3)", raw(std::vector<float>{0, 3, 1, 4, 2, 5}), "True"));
  CHECK(columns == plain);
  CHECK(to_integers(parse_npy(npy(">i2", "(2,)", std::string("\x01\x02\xff\xfe", 4)))) == std::vector<int64_t>{0x102, -2});
  CHECK(parse_npy(npy("|u1", "()", "\x07")).shape.empty());
  CHECK(parse_npy(npy("<f8", "(0, 4)", "")).bytes.empty());
}

TEST_CASE("what is no array is refused with a reason", "[calibration]") {
  const auto refused = [](const std::string& bytes) { return message([&] { parse_npy(bytes); }); };
  CHECK_THAT(refused("PK"), Catch::Contains("no .npy array"));
  CHECK_THAT(refused(npy("|O", "(1,)", "x")), Catch::Contains("Python objects"));
  CHECK_THAT(refused(npy("<U4", "(1,)", std::string(16, 'x'))), Catch::Contains("'<U4'"));
  CHECK_THAT(refused(npy("<f4", "(2,)", "abcd")), Catch::Contains("4 bytes of data where its shape [2] needs 8"));
  for (const char* shape : {"(-1,)", "(99999999999999999999,)", "(1099511627776, 1099511627776)", "3", "(a,)"})
    CHECK_THAT(refused(npy("<f4", shape, "")), Catch::Contains("its shape"));
  CHECK_THAT(refused(std::string("\x93NUMPY\x01\x00\xff\xff{", 11)), Catch::Contains("ends too early"));
  CHECK_THAT(refused(std::string("\x93NUMPY\x09\x00\x02\x00{}", 12)), Catch::Contains("version 9"));
  CHECK_THAT(refused(std::string("\x93NUMPY\x01\x00\x02\x00{}", 12)), Catch::Contains("no 'descr'"));
}

/// What numpy.savez_compressed wrote for x = [[0, 1], [2, 3], [4, 5]] as f32.
std::string compressed() {
  const std::string hex =
      "504b03042d000000080000002100ccca9cbdffffffffffffffff05001400782e6e707901001000980000000000000055000000000000009bec17ea1b"
      "10c9c850c650ad9e925a9c5ca46ea5a06e9366a2aea3a09e965f54529498179f5f94920a12774bcc294e058a17672416a402f91ac63a0a469a3a0ab5"
      "0a64032e063068b007120e4004c40d40bcc00100504b01022d032d000000080000002100ccca9cbd5500000098000000050000000000000000000000"
      "800100000000782e6e7079504b05060000000001000100330000008c0000000000";
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return bytes;
}

TEST_CASE("archives are read, and every damage to one is noticed", "[calibration]") {
  const test::TemporaryFolder folder;
  folder.write("x.npz", compressed());
  const std::vector<NamedArray> arrays = read_arrays(folder.path() / "x.npz");
  REQUIRE(arrays.size() == 1);
  CHECK(arrays[0].name == "x");
  CHECK(to_doubles(arrays[0].tensor) == std::vector<double>{0, 1, 2, 3, 4, 5});
  for (std::size_t length = 0; length < compressed().size(); ++length) {
    folder.write("x.npz", compressed().substr(0, length));
    CHECK_THROWS_AS(read_arrays(folder.path() / "x.npz"), Error);
  }
  for (std::size_t at = 0; at < compressed().size(); ++at) {  // names, times and the like may differ, numbers may not
    std::string bytes = compressed();
    bytes[at] = static_cast<char>(bytes[at] ^ 0x11);
    folder.write("x.npz", bytes);
    try {
      for (const NamedArray& array : read_arrays(folder.path() / "x.npz")) CHECK(array.tensor == arrays[0].tensor);
    } catch (const Error&) {
    }
  }
}

/// x: f32[batch, 2] and y: f32[3].
Graph graph_of_two() {
  Graph graph;
  const Type types[] = {Type::tensor(ElementType::F32, Extents{Dim::symbol("batch"), Dim(2)}),
                        Type::tensor(ElementType::F32, Extents{Dim(3)})};
  for (const char* name : {"x", "y"}) graph.inputs.push_back(graph.add_value(name, types[graph.inputs.size()]));
  return graph;
}
ModelSummary summary_of(const std::vector<std::string>& names) {
  ModelSummary model;
  for (const std::string& name : names) model.inputs.push_back({name, ValueKind::Tensor, {}});
  return model;
}

TEST_CASE("an array is cut into samples along an axis of its own, or along the batch", "[calibration]") {
  const test::TemporaryFolder folder;
  const ModelSummary one = summary_of({"x"});
  const auto read = [&](const std::string& shape, const std::vector<float>& values) {
    folder.write("x.npy", npy("<f4", shape, raw(values)));
    return Samples::read(folder.path() / "x.npy", one, graph_of_two());
  };
  const Samples along_batch = read("(3, 2)", {0, 1, 2, 3, 4, 5});
  CHECK(along_batch.size() == 3);
  CHECK(along_batch.at(1).inputs[0]->tensor.shape == std::vector<int64_t>{1, 2});
  CHECK(to_doubles(along_batch.at(1).inputs[0]->tensor) == std::vector<double>{2, 3});
  const Samples along_own = read("(1, 3, 2)", {0, 1, 2, 3, 4, 5});
  CHECK(along_own.size() == 1);
  CHECK(along_own.at(0).inputs[0]->tensor.shape == std::vector<int64_t>{3, 2});

  const auto refused = [&](const std::string& shape, const std::vector<float>& values) { return message([&] { read(shape, values); }); };
  CHECK_THAT(refused("(3,)", {0, 1, 2}), Catch::Contains("x.npy: the array for input 'x' is f32[3]: the input is f32[batch, 2]"));
  CHECK_THAT(refused("(2, 3)", {0, 1, 2, 3, 4, 5}),
             Catch::Contains("sample 0: the value of input 'x' is f32[1, 3]: the input is f32[batch, 2]"));
  CHECK_THAT(refused("(0, 2)", {}), Catch::Contains("no samples"));
  CHECK_THAT(refused("(2, 2)", {0, 1, 2, std::nanf("")}), Catch::Contains("sample 1: ") && Catch::Contains("it holds NaN"));
  CHECK_THAT(refused("(1, 2)", {0, HUGE_VALF}), Catch::Contains("it holds an infinity"));
  folder.write("x.npy", npy("<f8", "(1, 2)", raw(std::vector<double>{0, 1})));
  CHECK_THAT(message([&] { Samples::read(folder.path() / "x.npy", one, graph_of_two()); }), Catch::Contains("astype(np.float32)"));
  CHECK_THAT(message([&] { Samples::read(folder.path() / "x.npy", summary_of({"x", "y"}), graph_of_two()); }),
             Catch::Contains("has values for one input, the model has 2"));
}

TEST_CASE("an archive has an array for each input, with as many samples", "[calibration]") {
  const test::TemporaryFolder folder;
  folder.write("x.npz", compressed());
  CHECK(Samples::read(folder.path() / "x.npz", summary_of({"x"}), graph_of_two()).size() == 3);
  CHECK_THAT(message([&] { Samples::read(folder.path() / "x.npz", summary_of({"x", "y"}), graph_of_two()); }),
             Catch::Contains("no array for input 'y'; arrays are called like the model's inputs: 'x' f32[batch, 2], 'y' f32[3]"));
}

TEST_CASE("a folder has data sets, or tensors of the one input in the order of their names", "[calibration]") {
  const test::TemporaryFolder folder;
  const auto refused = [&] { return message([&] { Samples::read(folder.path(), summary_of({"x"}), graph_of_two()); }); };
  CHECK_THAT(refused(), Catch::Contains("holds no samples; put test_data_set_0/input_0.pb"));
  TensorData tensor = TensorData::zeros(ElementType::F32, {1, 2});
  for (const char* name : {"b.pb", "a.pb"}) {
    tensor.as<float>()[0] = static_cast<float>(name[0]);
    folder.write(name, serialize_tensor(tensor, ""));
  }
  const Samples samples = Samples::read(folder.path(), summary_of({"x"}), graph_of_two());
  CHECK(samples.size() == 2);
  CHECK(samples.at(0).inputs[0]->tensor.as<float>()[0] == 'a');
  folder.write("c.pb", serialize_tensor(TensorData::zeros(ElementType::F32, {1, 3}), ""));
  CHECK_THAT(refused(), Catch::Contains("c.pb: the value of input 'x' is f32[1, 3]: the input is f32[batch, 2]"));
  CHECK_THAT(message([&] { Samples::read(folder.path() / "none", summary_of({"x"}), graph_of_two()); }),
             Catch::Contains("no such file or folder"));
}

}  // namespace
}  // namespace onnxc
