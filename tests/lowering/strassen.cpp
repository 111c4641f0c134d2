// How large products are cut into blocks for Strassen's form: blocks of one sample each, since rows of a block are added to each other.
#include "compiler/ops/linear/strassen.h"

#include <catch2/catch.hpp>

using namespace onnxc;

TEST_CASE("blocks hold rows of one sample, and fit a cache") {
  for (const char* name : {"x86-64-v4", "x86-64-v3", "aarch64", "generic"}) {
    const Target target = *find_target(name);
    for (const bool several : {false, true}) {
      for (const int64_t sample_rows : {64, 81, 97, 196, 784, 3136, 50'021}) {
        for (const int64_t k : {64, 384, 4096}) {
          const auto plan = plan_strassen(target, several, sample_rows, 256, k);
          INFO(name << (several ? " samples of " : " one sample of ") << sample_rows << " k " << k);
          if (!plan) {
            CHECK(several);
            continue;
          }
          INFO("block " << plan->block);
          CHECK((!several || sample_rows % plan->block == 0));
          CHECK(plan->block >= 1);
          CHECK(plan->block <= std::max<int64_t>(96, 448) + 2 * plan->tile.rows);
          if (sample_rows >= 80) CHECK(plan->block < sample_rows);  // two threads have one each
          CHECK_FALSE(plan->tile.pairs);
        }
      }
    }
  }
}

TEST_CASE("samples whose rows do not divide have no blocks") { CHECK_FALSE(plan_strassen(*find_target("x86-64-v4"), true, 50'021, 256, 256)); }
