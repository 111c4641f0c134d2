#include "tools/driver/machine_peak.h"

#include <numeric>
#include <vector>

#include "compiler/support/error.h"
#include "tools/driver/build_library.h"
#include "tools/driver/thread_team.h"
#include "tools/driver/unit_library.h"

namespace onnxc {

double measure_fma_peak(int threads) {
  BuildRequest request;
  request.files.push_back({"peak.cpp", Text("#include <onnxc/fma_peak.hpp>\nextern \"C\" double onnxc_fma_peak(double seconds) { return "
                                            "onnxc::bench::fma_peak(seconds); }\n")});
  request.to_compile.push_back("peak.cpp");
  request.flags = {"-march=native", "-O2"};
  const UnitLibrary library(build_library(request));
  const auto peak = reinterpret_cast<double (*)(double)>(library.symbol("onnxc_fma_peak"));
  ONNXC_CHECK(peak != nullptr, "the library has its one function");
  std::vector<double> rates(static_cast<std::size_t>(threads));
  ThreadPool(threads).parallel_for(threads, [&](int32_t t) { rates[static_cast<std::size_t>(t)] = peak(0.2); });
  return std::accumulate(rates.begin(), rates.end(), 0.0);
}

}  // namespace onnxc
