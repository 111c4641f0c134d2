// What is read of values that callers make: a tensor of another type or rank is refused.
#include <onnxc/sequence.hpp>

#include <catch2/catch.hpp>

using namespace onnxc;

TEST_CASE("tensors of sequences have the type and the rank that they are declared to have") {
  const float numbers[6] = {};
  const onnxc_value right = {ONNXC_TENSOR, 1, 2, 6, numbers, {2, 3}};
  const auto read = [](const onnxc_value& value) {
    const float* data = nullptr;
    int64_t rows = -1, columns = -1;
    const Status status = read_tensor(&value, 1, &data, &rows, &columns);
    if (!status) {
      CHECK(data == value.data);
      CHECK(rows == 2);
      CHECK(columns == 3);
    }
    return status.code;
  };
  CHECK(read(right) == ONNXC_OK);
  onnxc_value other = right;
  other.kind = ONNXC_SEQUENCE;
  CHECK(read(other) == ONNXC_BAD_VALUE);
  other = right;
  other.elem_type = 7;
  CHECK(read(other) == ONNXC_BAD_VALUE);
  for (const int32_t rank : {0, 1, 3}) {
    other = right;
    other.rank = rank;
    CHECK(read(other) == ONNXC_BAD_VALUE);
  }
}

TEST_CASE("positions in a sequence count from either end") {
  struct Case {
    int64_t position, most, at;
    int32_t code;
  };
  for (const Case& c : {Case{0, 2, 0, ONNXC_OK}, Case{2, 2, 2, ONNXC_OK}, Case{3, 2, 0, ONNXC_INDEX_OUT_OF_RANGE}, Case{3, 3, 3, ONNXC_OK},
                        Case{-1, 2, 2, ONNXC_OK}, Case{-3, 2, 0, ONNXC_OK}, Case{-4, 2, 0, ONNXC_INDEX_OUT_OF_RANGE}}) {
    int64_t at = 0;
    CHECK(position_in(at, &c.position, 3, c.most).code == c.code);
    if (c.code == ONNXC_OK) CHECK(at == c.at);
  }
  int64_t at = 0;
  const int64_t* const none = nullptr;
  CHECK_FALSE(position_in(at, none, 3, 2));
  CHECK(at == 2);
}
