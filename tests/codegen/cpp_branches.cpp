#include "codegen/cpp_branches.h"

#include <catch2/catch.hpp>

#include <cmath>

#include "compiler/ir/expr.h"

namespace onnxc {
namespace {

uint64_t bits(double value) { return to_bits(ElementType::F32, value); }

TEST_CASE("nested conditions are written with leaves that count on from tree to tree") {
  Branches branches;
  branches.tests = {{.feature = 2, .numbers = {bits(2.5)}, .left = -1, .right = 1},
                    {.feature = 0, .nan_right = true, .numbers = {bits(-0.0)}, .left = -2, .right = -3},
                    {.feature = 1, .is_set = true, .numbers = {bits(1), bits(7)}, .left = 3, .right = 4},
                    {.feature = 3, .is_set = true, .nan_right = true, .left = -1, .right = -2},
                    {.feature = 3, .numbers = {bits(INFINITY)}, .left = -3, .right = -4}};
  branches.roots = {0, 2};
  CHECK(cpp_branches_struct("Branches0", branches) == R"(struct Branches0 {  // 2 trees, 5 tests
  template <class Row, class Ends>
  static ONNXC_INLINE void leaves(const Row& x, const Ends& ends) {
    ends(0, x.above(2, 2.5f)
      ? x.above_or_nan(0, -0.0f) ? 2 : 1
      : 0);
    ends(1, x.outside(1, 1.0f, 7.0f)
      ? x.above(3, std::numeric_limits<float>::infinity()) ? 6 : 5
      : x.outside_or_nan(3) ? 4 : 3);
  }
};
)");
}

}  // namespace
}  // namespace onnxc
