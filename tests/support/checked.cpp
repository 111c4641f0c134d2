#include "compiler/support/checked.h"

#include <catch2/catch.hpp>

#include "compiler/ir/tensor.h"
#include "compiler/ir/type.h"

namespace onnxc {
namespace {

TEST_CASE("sums and products of sizes are exact or an error", "[checked]") {
  CHECK(checked_add(INT64_MAX - 1, 1) == INT64_MAX);
  CHECK(checked_mul(INT64_MIN, 1) == INT64_MIN);
  CHECK(checked_mul(int64_t{1} << 31, int64_t{1} << 31) == int64_t{1} << 62);
  CHECK_THROWS_AS(checked_add(INT64_MAX, 1), SizeOverflow);
  CHECK_THROWS_AS(checked_mul(int64_t{1} << 32, int64_t{1} << 31), SizeOverflow);
  CHECK_THROWS_AS(checked_mul(INT64_MIN, -1), SizeOverflow);
}

TEST_CASE("the bytes of elements of any width", "[checked]") {
  struct Row {
    ElementType type;
    int64_t count, bytes;  // -1: they overflow
  };
  constexpr int64_t k58 = int64_t{1} << 58;
  const Row rows[] = {{ElementType::F32, 0, 0},
                      {ElementType::F32, 3, 12},
                      {ElementType::U4, 3, 2},
                      {ElementType::U4, 4, 2},
                      {ElementType::U2, 5, 2},
                      {ElementType::C128, 2, 32},
                      {ElementType::Bool, 7, 7},
                      {ElementType::F32, (int64_t{1} << 59) + 2, (int64_t{1} << 61) + 8},
                      {ElementType::F32, int64_t{1} << 61, -1},
                      {ElementType::C128, k58, int64_t{1} << 62},
                      {ElementType::C128, 2 * k58, -1},
                      {ElementType::U4, INT64_MAX, (int64_t{1} << 62)},
                      {ElementType::I2, INT64_MAX, int64_t{1} << 61},
                      {ElementType::U8, INT64_MAX, INT64_MAX},
                      {ElementType::F64, INT64_MAX, -1}};
  for (const Row& row : rows) {
    INFO(name(row.type) << " " << row.count);
    if (row.bytes < 0) CHECK_THROWS_AS(storage_bytes(row.type, row.count), SizeOverflow);
    else CHECK(storage_bytes(row.type, row.count) == row.bytes);
  }
}

TEST_CASE("no constant is made whose size wraps", "[checked]") {
  for (const std::vector<int64_t>& shape :
       {std::vector<int64_t>{(int64_t{1} << 59) + 2}, {int64_t{1} << 62}, {int64_t{1} << 32, int64_t{1} << 32}, {-1}, {INT64_MAX, 2, 3}}) {
    for (const ElementType type : {ElementType::F32, ElementType::C128, ElementType::U4, ElementType::String})
      CHECK_THROWS_AS(TensorData::zeros(type, shape), Error);
  }
  CHECK(TensorData::zeros(ElementType::U4, {3, 1}).bytes.size() == 2);
}

TEST_CASE("the least bytes of a type count an empty extent as one", "[checked]") {
  const Dim n = Dim::symbol("least_n", 0, INT64_MAX), m = Dim::symbol("least_m", 3, INT64_MAX);
  CHECK(least_bytes(Type::tensor(ElementType::F32, {n, m, 2})) == 24);
  CHECK(least_bytes(Type::tensor(ElementType::C128, {0, int64_t{1} << 62, int64_t{1} << 62})) == 0x1p128);
  CHECK(least_bytes(Type::tensor(ElementType::U4, {7})) == 7);
  CHECK(least_bytes(Type::unranked(ElementType::F32)) == 0);
}

}  // namespace
}  // namespace onnxc
