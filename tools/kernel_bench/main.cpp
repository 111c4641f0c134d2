// Benchmarks of the rows of the kernel catalogue, by google-benchmark: kernel_bench --help lists its options.
//
//   kernel_bench --benchmark_filter=winograd
//   kernel_bench --benchmark_repetitions=5 --benchmark_out=kernels.json && bench/fit_costs.py kernels.json
//
// One thread. Each benchmark is `row/shape`; a row without a benchmark is an error.
#include <onnxc/fma_peak.hpp>

#include <cstdio>
#include <iterator>
#include <string>
#include <vector>

#include "tools/kernel_bench/suite.h"

int main(int argc, char** argv) {
  using namespace onnxc::bench;
  const double peak = fma_peak(0.3);
  Suite suite(peak);
  for (const auto add : {add_linear, add_convolutions, add_columns, add_recurrent, add_elementwise, add_reduce, add_pool, add_movement,
                         add_image, add_scalar, add_signal, add_ml, add_sequence, add_text})
    add(suite);
  if (const std::vector<std::string> missing = suite.missing(); !missing.empty()) {
    for (const std::string& row : missing) std::fprintf(stderr, "kernel_bench: row %s of the catalogue has no benchmark\n", row.c_str());
    return 1;
  }
  // Our default comes first, so that the user's options override it.
  std::string seconds = "--benchmark_min_time=0.1";
  std::vector<char*> arguments{argv[0], seconds.data()};
  arguments.insert(arguments.end(), argv + 1, argv + argc);
  int count = static_cast<int>(std::size(arguments));
  benchmark::AddCustomContext("fma_peak_gmacs", std::to_string(peak / 1e9));
  benchmark::AddCustomContext("vector_floats", std::to_string(onnxc::Vec::width));
  benchmark::AddCustomContext("compiler", __VERSION__);
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
