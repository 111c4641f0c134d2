#include "tools/driver/compare.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

namespace onnxc {
namespace {

template <class T>
TensorData tensor(ElementType type, const std::vector<T>& values) {
  TensorData t = TensorData::zeros(type, {static_cast<int64_t>(values.size())});
  std::memcpy(t.bytes.data(), values.data(), t.bytes.size());
  return t;
}
TensorData floats(const std::vector<float>& values) { return tensor(ElementType::F32, values); }

constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInf = std::numeric_limits<float>::infinity();

TEST_CASE("floats are compared as numpy's assert_allclose does") {
  const Tolerance tolerance{.rtol = 1e-3, .atol = 1e-7};
  const struct {
    float actual, expected;
    bool within;
  } table[] = {{1, 1, true},     {1.0009f, 1, true},  {1.0011f, 1, false},   {-1, 1, false},       {0, 0, true},
               {-0.0f, 0, true}, {5e-8f, 0, true},    {2e-7f, 0, false},     {kNan, kNan, true},   {-kNan, kNan, true},
               {kNan, 1, false}, {1, kNan, false},    {kInf, kInf, true},    {-kInf, kInf, false}, {3e38f, kInf, false},
               {kInf, 1, false}, {kNan, kInf, false}, {1000.9f, 1000, true}, {1e-45f, 0, true}};
  for (const auto& row : table) {
    INFO(row.actual << " for " << row.expected);
    CHECK(compare(floats({0, row.actual}), floats({0, row.expected}), tolerance).within == row.within);
  }
}

TEST_CASE("the comparison says what is wrong and by how much") {
  TensorData expected = TensorData::zeros(ElementType::F32, {2, 3});
  TensorData actual = expected;
  actual.as<float>()[4] = 0.5f;
  const Comparison result = compare(actual, expected, {});
  CHECK(result.reason == "1 of 6 elements differ, the largest error is 0.5; [1, 1] is 0.5, expected 0");
  CHECK(result.largest_error == 0.5);
  CHECK(compare(floats({1, 2}), floats({1, 2, 3}), {}).reason == "it is f32[2], expected f32[3]");
  CHECK(compare(tensor<double>(ElementType::F64, {1}), floats({1}), {}).reason == "it is f64[1], expected f32[1]");
  CHECK(compare(floats({3, 4, 0}), floats({3, 4, 0.5f}), {.rel_l2 = 0.2}).within);
  CHECK(compare(floats({3, 4, 0}), floats({3, 4, 0.5f}), {.rel_l2 = 0.01}).reason == "the relative L2 error is 0.0995, above 0.01");
  CHECK(!compare(floats({3, kNan}), floats({3, 4}), {.rel_l2 = 10}).within);
}

TEST_CASE("integers are exact or within their own tolerance") {
  const auto bytes = [](std::vector<int8_t> values) { return tensor(ElementType::I8, values); };
  CHECK(compare(bytes({-128, 127}), bytes({-128, 127}), {.atol = 10}).within);
  CHECK(!compare(bytes({-127, 127}), bytes({-128, 127}), {.atol = 10}).within);
  CHECK(compare(bytes({-127, 127}), bytes({-128, 127}), {.int_atol = 1}).within);
  CHECK(!compare(bytes({-128}), bytes({127}), {.int_atol = 254}).within);
  const auto words = [](std::vector<uint64_t> values) { return tensor(ElementType::U64, values); };
  CHECK(!compare(words({UINT64_MAX}), words({0}), {.int_atol = 1}).within);
  CHECK(compare(words({UINT64_MAX}), words({UINT64_MAX - 1}), {.int_atol = 1}).within);
  const auto longs = [](std::vector<int64_t> values) { return tensor(ElementType::I64, values); };
  CHECK(!compare(longs({INT64_MIN}), longs({INT64_MAX}), {.int_atol = INT64_MAX}).within);
  CHECK(!compare(tensor<uint8_t>(ElementType::Bool, {1}), tensor<uint8_t>(ElementType::Bool, {0}), {.int_atol = 1}).within);
}

TEST_CASE("other element types") {
  TensorData strings = TensorData::zeros(ElementType::String, {2});
  strings.strings = {"a", "b"};
  TensorData others = strings;
  CHECK(compare(others, strings, {}).within);
  others.strings[1] = "c";
  CHECK(compare(others, strings, {}).reason == "[1] is \"c\", expected \"b\"");
  // bfloat16: 1.0 and its neighbour lie 2^-7 apart, which the runner's 2^-6 covers.
  CHECK(compare(tensor<uint16_t>(ElementType::BF16, {0x3f81}), tensor<uint16_t>(ElementType::BF16, {0x3f80}), {}).within);
  CHECK(!compare(tensor<uint16_t>(ElementType::BF16, {0x3f84}), tensor<uint16_t>(ElementType::BF16, {0x3f80}), {}).within);
  CHECK(!compare(tensor<uint16_t>(ElementType::F16, {0x3c02}), tensor<uint16_t>(ElementType::F16, {0x3c00}), {}).within);
  TensorData complex = TensorData::zeros(ElementType::C64, {1}), other = complex;
  other.as<float>()[1] = 1;
  CHECK(!compare(other, complex, {}).within);
  HostValue sequence{ValueKind::Sequence, "", {}, {{ValueKind::Tensor, "", floats({1}), {}}}}, longer = sequence;
  CHECK(compare(sequence, sequence, {}).within);
  longer.items.push_back(longer.items[0]);
  CHECK(compare(longer, sequence, {}).reason == "it has 2 items, expected 1");
  longer.items.pop_back();
  longer.items[0].tensor = floats({2});
  CHECK(compare(longer, sequence, {}).reason == "item 0: 1 of 1 elements differ, the largest error is 1; [0] is 2, expected 1");
}

}  // namespace
}  // namespace onnxc
