// The kernels of columns with a microcontroller's own instructions. Ends with the number of cases that are wrong.
#include "tests/kernels/columns.hpp"

#include <cstdio>
#if defined(__ARM_FEATURE_MVE)
#include <onnxc/columns_helium.hpp>
#endif
#if defined(__ARM_FEATURE_DSP)
#include <onnxc/columns_dsp.hpp>
#endif
#include <onnxc/columns_plain.hpp>

namespace {
template <class Columns>
int check(const char* name) {
  int failed = 0, cases = 0;
  onnxc::test::for_each_column_case<Columns>([&](int wrong, int index) {
    ++cases;
    if (wrong == 0) return;
    ++failed;
    std::printf("%s, case %d: %d wrong elements\n", name, index, wrong);
  });
  std::printf("%s: %d of %d cases are right\n", name, cases - failed, cases);
  return failed;
}
}  // namespace

int main() {
  int failed = check<onnxc::PlainColumns>("plain");
#if defined(__ARM_FEATURE_DSP)
  failed += check<onnxc::DspColumns>("dsp");
#endif
#if defined(__ARM_FEATURE_MVE)
  failed += check<onnxc::HeliumColumns>("helium");
#endif
  return failed > 100 ? 100 : failed;
}
