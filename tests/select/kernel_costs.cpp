// The cost of a row, against values that bench/fit_costs.py is held to as well (tests/bench/run.sh).
#include <catch2/catch.hpp>

#include <fstream>
#include <sstream>
#include <string>

#include "targets/target.h"

using namespace onnxc;

TEST_CASE("a row costs its call, the larger of arithmetic and stream, and a part of the lesser") {
  std::ifstream file(ONNXC_SOURCE_DIR "/tests/select/kernel_costs.txt");
  int count = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    Kernel row;
    double macs = 0, bytes = 0, ns = 0;
    std::istringstream(line) >> row.per_call >> row.per_mac >> row.per_byte >> macs >> bytes >> ns;
    INFO(line);
    CHECK(row.cost(macs, bytes) == Approx(ns));
    ++count;
  }
  CHECK(count == 6);
}
