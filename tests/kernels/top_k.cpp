// TopK of rows against its scalar twin: the same bits.
#include <cstring>

#include <onnxc/top_k.hpp>

#include "common.hpp"

using namespace onnxc;
using namespace onnxc::test;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInf = std::numeric_limits<float>::infinity();

template <bool largest>
void check_top_k(const std::vector<float>& x, int64_t rows, int64_t n, int64_t k) {
  std::vector<float> expected(size_t(rows * k));
  std::vector<int64_t> at(size_t(rows * k), -1), found = at;
  CHECK(!scalar::top_k<float>({expected.data(), {rows, k}}, {at.data(), {rows, k}}, {x.data(), {rows, n}}, 1, largest));
  const Unaligned from(x);
  for (int threads : {1, 2}) {
    const Scratch values(1, rows * k);
    std::fill(found.begin(), found.end(), -1);
    for (int t = 0; t < threads; ++t)
      top_k<largest>(Share{t, threads}, {values.of(0), {rows, k}}, {found.data(), {rows, k}}, {from.data(), {rows, n}});
    INFO("rows " << rows << " n " << n << " k " << k << " largest " << largest);
    CHECK(found == at);
    int64_t differ = 0;
    for (size_t i = 0; i < expected.size(); ++i) differ += std::memcmp(&expected[i], values.of(0) + i, 4) != 0 ? 1 : 0;
    CHECK(differ == 0);
  }
}

}  // namespace

TEST_CASE("TopK of rows has the scalar kernel's values and indices") {
  for (int64_t n : {1, 2, kPartLanes, Vec::width, Vec::width + 1, 4 * Vec::width, 5 * Vec::width + 3, 1000}) {
    for (int64_t k : {int64_t{0}, int64_t{1}, int64_t{2}, int64_t{5}, int64_t{Vec::width / 2}, int64_t{Vec::width}, int64_t{2 * Vec::width},
                      int64_t{2 * Vec::width + 1}, int64_t{100}, n}) {
      if (k > n) continue;
      constexpr int64_t kRows = 12;
      std::vector<float> x = numbers(kRows * n, uint32_t(n + k));
      for (int64_t i = 0; i < n; ++i) {
        const auto at = [&](int64_t row) -> float& { return x[size_t(row * n + i)]; };
        at(1) = 1;                           // all equal
        at(2) = float(i % 3);                // ties
        at(3) = float(i);                    // ascending
        at(4) = -float(i);                   // descending
        at(5) = i % 5 == 2 ? kNan : at(5);   // some NaN
        at(6) = kNan;                        // nothing else
        at(7) = i % 2 == 0 ? kInf : -kInf;   // infinities
        at(8) = i % 2 == 0 ? 0.0f : -0.0f;   // equal ones whose bits differ
        at(9) = i == n - 1 ? kNan : -kInf;   // one NaN among the worst
        at(10) = i == n / 2 ? -kInf : kInf;  // the other way round
      }
      check_top_k<true>(x, kRows, n, k);
      check_top_k<false>(x, kRows, n, k);
    }
  }
}
