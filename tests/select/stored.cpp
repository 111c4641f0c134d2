// Which weights a narrower type holds exactly, and that stored weights are read as the same floats.
#include "compiler/select/weights/stored.h"

#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "compiler/select/weights/pack.h"
#include "runtime_stub/onnxc/types.hpp"

using namespace onnxc;

namespace {

constexpr float kInfinite = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();

bool same(float a, float b) { return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b); }

std::vector<Storage> exact(const std::vector<float>& b, int64_t n, bool whole = false) {
  return exact_storages(std::vector<Columns>{{b, n, whole}});
}

std::string types(const std::vector<float>& b, int64_t n = 1, bool whole = false) {
  std::string text;
  for (const Storage& storage : exact(b, n, whole)) text += (text.empty() ? "" : " ") + std::string(name(storage.element));
  return text;
}

/// The float that the kernels read for element i of the stored panels.
float read(const std::vector<std::byte>& stored, std::size_t i, float scale, ElementType element) {
  uint16_t half = 0;
  int8_t code = 0;
  if (element == ElementType::I8) {
    std::memcpy(&code, stored.data() + i, 1);
    return static_cast<float>(code) * scale;
  }
  std::memcpy(&half, stored.data() + 2 * i, 2);
  return element == ElementType::F16 ? static_cast<float>(float16::from_bits(half)) : static_cast<float>(bfloat16::from_bits(half));
}

/// The number of stored elements that differ from the floats, over all types that fit. `lanes`: floats of a vector;
/// nr may also be an odd number of half vectors.
int64_t wrong_elements(const std::vector<float>& b, int64_t n, int64_t nr, int64_t lanes) {
  const int64_t k = static_cast<int64_t>(b.size()) / n, padded = pack::panels_size(1, n, nr);
  const auto arranged = [&](const std::vector<float>& matrix, int64_t columns) {
    const std::vector<float> panels = pack::panels(matrix, {.k = k, .n = columns, .nr = nr});
    return nr % lanes == 0 ? panels : pack::pairs(panels, nr, lanes);
  };
  std::vector<float> numbers(static_cast<std::size_t>(k * padded));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(static_cast<int64_t>(i) % padded);
  const std::vector<float> panels = arranged(b, n), columns = arranged(numbers, padded);
  int64_t wrong = 0;
  for (const Storage& storage : exact(b, n)) {
    const std::vector<float> scales = pack::padded(storage.scales, nr);
    const std::vector<std::byte> stored = store(panels, k, nr, storage.element, scales, lanes);
    for (std::size_t i = 0; i < panels.size(); ++i)
      wrong += !same(read(stored, i, scales.empty() ? 0 : scales[static_cast<std::size_t>(columns[i])], storage.element), panels[i]);
  }
  return wrong;
}

}  // namespace

TEST_CASE("a type holds its own values") {
  for (uint32_t code = 0; code < 0x10000; ++code) {
    const float half = static_cast<float>(float16::from_bits(static_cast<uint16_t>(code))),
                brain = static_cast<float>(bfloat16::from_bits(static_cast<uint16_t>(code)));
    if (is_f16(half) == std::isnan(half) || is_bf16(brain) == std::isnan(brain)) FAIL(code);
  }
}

TEST_CASE("a type holds no other values") {
  std::mt19937 random(1);
  for (int i = 0; i < 1'000'000; ++i) {
    const float x = std::bit_cast<float>(static_cast<uint32_t>(random()) & (i % 2 == 0 ? 0xfffff000u : 0xffffffffu));
    if (is_f16(x) != same(static_cast<float>(float16(x)), x) && !std::isnan(x)) FAIL(x);
    if (is_bf16(x) != same(static_cast<float>(bfloat16(x)), x) && !std::isnan(x)) FAIL(x);
  }
}

TEST_CASE("values at the edges of the types") {
  struct Case {
    float value;
    const char* types;
  };
  const Case cases[] = {
      {0.0f, "f16 bf16 i8"},      {-0.0f, "f16 bf16"},       {1.0f, "f16 bf16 i8"},
      {kInfinite, "f16 bf16"},    {-kInfinite, "f16 bf16"},  {kNan, ""},
      {65504.0f, "f16 i8"},       {65505.0f, "i8"},          {65536.0f, "bf16 i8"},
      {0x1p-14f, "f16 bf16 i8"},  {0x1p-24f, "f16 bf16 i8"}, {0x1p-25f, "bf16 i8"},
      {0x1.8p-24f, "bf16 i8"},    {0x1.ff8p-15f, "f16 i8"},  {0x1.ffcp-15f, "i8"},
      {0x1p-126f, "bf16 i8"},     {0x1p-133f, "bf16"},       {0x1p-149f, ""},
      {0x1.02p0f, "f16 bf16 i8"}, {0x1.01p0f, "f16 i8"},     {0x1.001p0f, "i8"},
      {0x1.fep127f, "bf16 i8"},   {0x1.fffffep127f, "i8"},
  };
  for (const Case& c : cases) {
    INFO(c.value);
    CHECK(types({c.value}) == c.types);
    CHECK(wrong_elements({c.value}, 1, 4, 4) == 0);
  }
}

TEST_CASE("one element that does not fit is enough") {
  std::vector<float> b(1000, 0.5f);
  CHECK(types(b) == "f16 bf16 i8");
  for (const std::size_t at : {0u, 255u, 256u, 999u}) {
    std::vector<float> other = b;
    other[at] = 1.0f / 3;
    CHECK(types(other) == "i8");  // of two magnitudes
    other[at] = 0.5000001f;
    CHECK(types(other) == "");
  }
}

TEST_CASE("codes times a scale of each column are found again") {
  std::mt19937 random(2);
  std::uniform_real_distribution<float> scale_of(1e-4f, 3.0f);
  for (const int least : {-128, -127, -8, 0}) {
    for (const int64_t n : {1, 3, 16, 37}) {
      for (const int64_t k : {1, 2, 17, 400}) {
        std::uniform_int_distribution<int> code_of(least, least == -8 ? 7 : 127);
        std::vector<float> scales, b;
        for (int64_t j = 0; j < n; ++j) scales.push_back(scale_of(random));
        for (int64_t i = 0; i < k * n; ++i)
          b.push_back(static_cast<float>(code_of(random)) * scales[static_cast<std::size_t>(i % n)] + 0.0f);
        const auto storages = exact(b, n);
        REQUIRE_FALSE(storages.empty());
        CHECK(storages.back().element == ElementType::I8);
        CHECK(wrong_elements(b, n, 8, 8) == 0);
        if (k % 2 == 0) CHECK(wrong_elements(b, n, 12, 8) == 0);
      }
    }
  }
}

TEST_CASE("what is no code times a scale") {
  const float s = 0.0123f;
  CHECK(types({127 * s, 3 * s, -128 * s}) == "i8");
  CHECK(types({-127 * s, 3 * s, 128 * s, s}) == "");  // +128 is no code
  CHECK(types({127 * s, -0.0f}) == "");               // nor is -0
  CHECK(types({127 * s, 0.5f * s, s, 126 * s}) == "");
  CHECK(types({127 * s, kInfinite}) == "");
  CHECK(types({127 * s, 1e-40f}) == "");  // subnormals may be flushed
  CHECK(types({127 * s, s, 127 * s, 2 * s, 0, 0}, 2) == "i8");
  std::vector<float> many;
  for (int i = 1; i < 200; ++i) many.push_back(static_cast<float>(i) * s);
  CHECK(types(many) == "");
}

TEST_CASE("columns may be what lies together") {
  std::vector<float> rows, columns;  // a scale for each of three columns of 200
  const float scales[] = {0.0123f, 1.7f, 3e-5f};
  for (int j = 0; j < 3; ++j) {
    for (int i = 0; i < 200; ++i) columns.push_back(static_cast<float>(i * 37 % 256 - 128) * scales[j] + 0.0f);
  }
  for (std::size_t i = 0; i < 200; ++i) {
    for (std::size_t j = 0; j < 3; ++j) rows.push_back(columns[j * 200 + i]);
  }
  CHECK(types(columns, 3, true) == "i8");
  CHECK(types(rows, 3) == "i8");
  CHECK(types(columns, 3) == "");
  CHECK(types(rows, 3, true) == "");
  CHECK(exact(columns, 3, true)[0].scales == exact(rows, 3)[0].scales);
}

TEST_CASE("several matrices are stored as one type, with a scale for each column of each") {
  const std::vector<float> halves = {0.1f * 3, 0.1f, 0.7f, 1.4f}, thirds = {1.0f / 3, 2.0f / 3}, powers = {0.5f, 0.25f};
  const auto both = exact_storages(std::vector<Columns>{{halves, 2}, {thirds, 1}});
  REQUIRE(both.size() == 1);
  CHECK(both[0].element == ElementType::I8);
  CHECK(both[0].scales.size() == 3);
  CHECK(exact_storages(std::vector<Columns>{{powers, 2}, {powers, 1}}).size() == 3);
  CHECK(exact_storages(std::vector<Columns>{{powers, 2}, {std::vector<float>{-0.0f, 0x1.001p0f}, 1}}).empty());
}

TEST_CASE("random weights fit nothing") {
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  std::vector<float> b(64 * 64);
  for (float& x : b) x = normal(random);
  CHECK(types(b, 64) == "");
  for (float& x : b) x = static_cast<float>(float16(x));
  CHECK(types(b, 64) == "f16");
  CHECK(wrong_elements(b, 64, 24, 16) == 0);
  for (float& x : b) x = static_cast<float>(bfloat16(x * 1e9f));
  CHECK(types(b, 64) == "bf16");
  CHECK(wrong_elements(b, 64, 24, 8) == 0);
}
