// Look-ups by hash find each key and no other, also where all keys are in one bucket.
#include "compiler/ops/ml/key_table.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "compiler/ops/ml/classes.h"
#include "runtime_stub/onnxc/scalar/ml/lookup.hpp"

namespace onnxc {
namespace {

std::vector<onnxc_string> views(const std::vector<std::string>& strings) {
  std::vector<onnxc_string> result;
  for (const std::string& s : strings) result.push_back({s.data(), s.size()});
  return result;
}

TEST_CASE("strings are found by their hash", "[keys]") {
  std::vector<std::string> words{"",
                                 "a",
                                 std::string("a\0", 2),
                                 "ab",
                                 "ba",
                                 "abc",
                                 "abcd",
                                 "abcde",
                                 "a word of more than sixteen bytes",
                                 "a word of more than sixteen bytes."};
  for (int i = 0; i < 500; ++i) words.push_back("word " + std::to_string(i));
  const KeyTable table = key_table(*string_constant(words, {static_cast<int64_t>(words.size())}));
  const std::vector<onnxc_string> keys = views(table.keys.strings);
  const scalar::KeyTable<onnxc_string> view{keys.data(), table.first.data(), table.bits};
  for (std::size_t i = 0; i < words.size(); ++i) {
    const int64_t at = scalar::find_key(view, {words[i].data(), words[i].size()});
    REQUIRE(at >= 0);
    CHECK(table.order[static_cast<std::size_t>(at)] == static_cast<int64_t>(i));
  }
  for (const std::string& other : {std::string("b"), std::string("word 500"), std::string("A"), std::string("a\0\0", 3)})
    CHECK(scalar::find_key(view, {other.data(), other.size()}) == -1);
}

TEST_CASE("of equal keys the first or the last counts, and NaN is apart", "[keys]") {
  TensorData keys = TensorData::zeros(ElementType::F32, {5});
  std::ranges::copy(std::vector<float>{0.0f, 1.5f, -0.0f, std::numeric_limits<float>::quiet_NaN(), 1.5f}, keys.as<float>().begin());
  for (bool last : {false, true}) {
    const KeyTable table = key_table(keys, last);
    CHECK(table.nan == 3);
    const auto list = table.keys.as<float>();
    const scalar::KeyTable<float> view{list.data(), table.first.data(), table.bits};
    for (float zero : {0.0f, -0.0f}) CHECK(table.order.at(static_cast<std::size_t>(scalar::find_key(view, zero))) == (last ? 2 : 0));
    CHECK(table.order.at(static_cast<std::size_t>(scalar::find_key(view, 1.5f))) == (last ? 4 : 1));
    CHECK(scalar::find_key(view, 2.0f) == -1);
  }
}

TEST_CASE("keys in one bucket are searched by halves", "[keys]") {
  std::vector<int64_t> keys(1000);
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<int64_t>(3 * i);
  const std::vector<int32_t> first{0, 1000, 1000};
  for (int64_t key = -3; key < 3003; ++key) {
    if (contract::bucket_of(scalar::hash_of_key(key), 1) != 0) continue;
    const int64_t wanted = key >= 0 && key < 3000 && key % 3 == 0 ? key / 3 : -1;
    CHECK(scalar::find_key<int64_t>({keys.data(), first.data(), 1}, key) == wanted);
  }
}

}  // namespace
}  // namespace onnxc
