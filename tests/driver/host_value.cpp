#include "tools/driver/host_value.h"

#include <catch2/catch.hpp>

#include "tests/codegen/compile_and_run.h"
#include "tools/driver/abi_value.h"
#include "tools/driver/compare.h"
#include "tools/driver/files.h"
#include "tools/driver/model_summary.h"

namespace onnxc {
namespace {

using namespace std::string_literals;

std::vector<int> bytes_of(const TensorData& tensor) {
  std::vector<int> result;
  for (std::byte b : tensor.bytes) result.push_back(std::to_integer<int>(b));
  return result;
}

TEST_CASE("a tensor survives writing and reading") {
  TensorData t = TensorData::zeros(ElementType::F32, {2, 1, 3});
  for (std::size_t i = 0; i < 6; ++i) t.as<float>()[i] = static_cast<float>(i) - 2.5f;
  const HostValue back = parse_tensor(serialize_tensor(t, "x"));
  CHECK(back.name == "x");
  CHECK(back.tensor == t);
  TensorData s = TensorData::zeros(ElementType::String, {2});
  s.strings = {"", "two\0words"s};
  CHECK(parse_tensor(serialize_tensor(s, "")).tensor == s);
  const TensorData scalar = TensorData::zeros(ElementType::I64, {}), none = TensorData::zeros(ElementType::U4, {0, 5});
  CHECK(parse_tensor(serialize_tensor(scalar, "")).tensor == scalar);
  CHECK(parse_tensor(serialize_tensor(none, "")).tensor == none);
}

TEST_CASE("typed fields, packed and not") {
  // dims: 2, data_type: INT8, int32_data: [-1, 5]
  CHECK(bytes_of(parse_tensor("\x08\x02\x10\x03\x2a\x0b\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x05"s).tensor) == std::vector{255, 5});
  // the same, dims packed, int32_data one by one
  CHECK(bytes_of(parse_tensor("\x0a\x01\x02\x10\x03\x28\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x28\x05"s).tensor) == std::vector{255, 5});
  // FLOAT, float_data: [1]
  CHECK(bytes_of(parse_tensor("\x08\x01\x10\x01\x22\x04\x00\x00\x80\x3f"s).tensor) == std::vector{0, 0, 0x80, 0x3f});
  // UINT4[3] as two bytes in int32_data; the type comes last
  CHECK(bytes_of(parse_tensor("\x08\x03\x2a\x03\xa1\x01\x07\x10\x15"s).tensor) == std::vector{0xa1, 7});
  // FLOAT16, int32_data: [0x3c00]
  CHECK(bytes_of(parse_tensor("\x08\x01\x10\x0a\x2a\x02\x80\x78"s).tensor) == std::vector{0x00, 0x3c});
}

TEST_CASE("damaged tensors are refused") {
  CHECK_THROWS_AS(parse_tensor("\x08\x01\x10\x0f\x28\x05"s), Error);  // a complex128 whose element is in int32_data
  const std::string good = serialize_tensor(TensorData::zeros(ElementType::F32, {2}), "x");
  for (std::size_t n = 1; n < good.size(); ++n) {
    INFO(n);
    CHECK_THROWS_AS(parse_tensor(good.substr(0, n)), Error);
  }
  CHECK_THROWS_AS(parse_tensor("\x10\x63"s), Error);                                                  // element type 99
  CHECK_THROWS_AS(parse_tensor("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x10\x01"s), Error);      // a negative extent
  CHECK_THROWS_AS(parse_tensor("\x08\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x08\x04\x10\x01"s), Error);  // an overflow
  CHECK_THROWS_AS(parse_value("", ValueKind::Map), Error);                                            // no type of keys
  CHECK(parse_value("", ValueKind::Sequence).items.empty());
}

TEST_CASE("sequences and optionals") {
  const std::string tensor = serialize_tensor(TensorData::zeros(ElementType::F32, {}), "");
  const std::string item = "\x1a"s + static_cast<char>(tensor.size()) + tensor;
  CHECK(parse_value("\x0a\x01s"s + item + item, ValueKind::Sequence).items.size() == 2);
  CHECK(parse_value("\x10\x01"s + item, ValueKind::Optional).items.at(0).tensor.shape.empty());
}

TEST_CASE("values of all kinds survive writing and reading, and the C ABI") {
  TensorData numbers = TensorData::zeros(ElementType::F32, {3}), words = TensorData::zeros(ElementType::String, {3}),
             nibbles = TensorData::zeros(ElementType::U4, {3});
  for (std::size_t i = 0; i < 3; ++i) numbers.as<float>()[i] = static_cast<float>(i) + 0.5f;
  words.strings = {"b", "a\0c"s, ""};
  nibbles.bytes = {std::byte{0x51}, std::byte{0x0e}};
  const HostValue map{ValueKind::Map, {}, {}, {HostValue::of(words), HostValue::of(numbers)}};
  const HostValue optional{ValueKind::Optional, {}, {}, {HostValue::of(nibbles)}}, empty{ValueKind::Optional, {}, {}, {}};
  const HostValue all{ValueKind::Sequence, {}, {}, {map, optional, empty, HostValue::of(words), HostValue::of(nibbles)}};
  for (const HostValue& back : {parse_value(serialize_value(all, "name"), ValueKind::Sequence), to_host(*AbiValue(all).get())}) {
    CHECK(compare(back, all, {0, 0}).reason.empty());
    CHECK(describe(back) == describe(all));
  }
  HostValue other = map;
  std::ranges::reverse(other.items[0].tensor.strings);
  CHECK(!compare(other, map, {}).within);
  std::ranges::reverse(other.items[1].tensor.as<float>());
  CHECK(compare(other, map, {}).within);  // the order of entries means nothing
  CHECK(compare(HostValue::of(nibbles), optional, {}).within);
  CHECK(!compare(empty, optional, {}).within);
}

TEST_CASE("a summary names inputs, initialisers and operators") {
  const auto field = [](int number, const std::string& bytes) {
    return static_cast<char>(number << 3 | 2) + std::string(1, static_cast<char>(bytes.size())) + bytes;
  };
  const std::string tensor_type = field(2, field(1, "\x08\x01"s)), sequence_type = field(2, field(4, ""));
  const std::string inner = field(1, field(4, "Relu"));
  const std::string attribute = field(6, inner);
  const std::string graph = field(1, field(4, "If") + field(5, attribute)) + field(1, field(4, "Scaler") + field(7, "ai.onnx.ml")) +
                            field(5, serialize_tensor(TensorData::zeros(ElementType::F32, {1}), "w")) +
                            field(11, field(1, "x") + tensor_type) + field(11, field(1, "w") + tensor_type) +
                            field(12, field(1, "y") + sequence_type);
  test::TemporaryFolder folder;
  folder.write("m.onnx", field(7, graph) + field(8, field(1, "") + "\x10\x0d"s) + field(8, field(1, "ai.onnx.ml") + "\x10\x03"s));
  const ModelSummary summary = summarize_model(folder.path() / "m.onnx");
  CHECK(summary.operators == std::set<std::string>{"If", "Relu", "ai.onnx.ml.Scaler"});
  CHECK(summary.opsets == std::map<std::string, int64_t>{{"", 13}, {"ai.onnx.ml", 3}});
  REQUIRE(summary.inputs.size() == 2);
  CHECK(!summary.inputs[0].initial);
  CHECK(summary.inputs[1].initial->tensor.shape == std::vector<int64_t>{1});
  CHECK(summary.outputs.at(0).kind == ValueKind::Sequence);
  CHECK(summary.find_input("w") == 1);
  CHECK(summary.find_input("y") == -1);
}

}  // namespace
}  // namespace onnxc
