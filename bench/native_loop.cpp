// What peers.py needs beyond Python: a native team of threads for units that run on several, and a loop without Python's cost for each call.
#include "tools/driver/thread_team.h"

extern "C" const onnxc_executor* onnxc_bench_team(int threads) {
  static onnxc::ThreadTeam team(threads);
  return team.executor();
}

/// The first status that is not 0.
extern "C" int32_t onnxc_bench_loop(int32_t (*run)(const onnxc_call*), const onnxc_call* call, int64_t calls) {
  for (int64_t i = 0; i < calls; ++i) {
    if (const int32_t status = run(call); status != 0) return status;
  }
  return 0;
}
