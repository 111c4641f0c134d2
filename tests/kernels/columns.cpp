// conv_columns and depthwise_columns: those of microcontrollers with this machine's instructions, which have the same layouts.
// tests/firmware runs their own.
#include "tests/kernels/columns.hpp"

#include <onnxc/columns_dsp.hpp>
#include <onnxc/columns_helium.hpp>
#include <onnxc/columns_plain.hpp>

#include <catch2/catch.hpp>

using namespace onnxc;
using namespace onnxc::test;

TEMPLATE_TEST_CASE("columns: sums are exact", "", PlainColumns, DspColumns, HeliumColumns) {
  for_each_column_case<TestType>([](int wrong, int index) {
    INFO("case " << index);
    CHECK(wrong == 0);
  });
}

TEST_CASE("columns: pairs of weights that need more than 16 bits are found") {
  const pack::ColumnShape shape{.form = contract::kDspColumns, .cout = 3, .cin = 2};
  const std::vector<int8_t> fit{-1, 0, -127, -128, -128, -128}, exceed{-1, -1, 5, -128, 0, 0};
  CHECK(pack::fits_pairs(fit, shape));
  CHECK_FALSE(pack::fits_pairs(exceed, shape));
}
