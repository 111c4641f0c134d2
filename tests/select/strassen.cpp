// How large products are split into blocks for Strassen's form.
#include "compiler/select/product/strassen.h"

#include <catch2/catch.hpp>

using namespace onnxc;

TEST_CASE("blocks fit a cache, and leave work for two threads") {
  for (const char* name : {"x86-64-v4", "zen4", "zen5", "x86-64-v3", "aarch64", "generic"}) {
    const Target target = *find_target(name);
    for (const int64_t sample_rows : {32, 49, 81, 97, 196, 784, 3136, 50'021}) {
      for (const int64_t k : {32, 64, 384, 4096}) {
        for (const int64_t n : {40, 64, 160, 256, 1024}) {
          const auto plan = plan_strassen(target, {.samples = 1, .sample_rows = sample_rows, .n = n, .k = k});
          INFO(name << " " << sample_rows << " rows, n " << n << ", k " << k << ": block " << plan.block << ", tile " << plan.tile.rows
                    << "x" << plan.tile.vectors);
          CHECK(plan.block >= 1);
          CHECK(plan.block <= std::min<int64_t>(sample_rows, 448 + 2 * plan.tile.rows));
          if (sample_rows >= 80) CHECK(plan.block < sample_rows);
          CHECK_FALSE(plan.tile.pairs);
          CHECK(plan.sample_macs > 7.0 / 8 * double(sample_rows) * double(n) * double(k));
        }
      }
    }
  }
}

TEST_CASE("two threads get as much each") {
  for (const int64_t sample_rows : {49, 196, 784}) {
    for (const int64_t n : {96, 160, 320, 576}) {
      const auto plan =
          plan_strassen(*find_target("x86-64-v4"), {.samples = 1, .sample_rows = sample_rows, .n = n, .k = 960, .threads = 2});
      const int64_t pairs = (n + 2 * plan.tile.nr - 1) / (2 * plan.tile.nr), units = (sample_rows + plan.block - 1) / plan.block * pairs;
      INFO(sample_rows << " rows, n " << n << ": block " << plan.block << ", " << pairs << " pairs");
      CHECK((units % 2 == 0 || units > 10));
    }
  }
}
