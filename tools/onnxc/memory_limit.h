// --max-memory. Every `new` of this process is counted, and one that would exceed the limit throws std::bad_alloc, as if the machine had no
// more.
//
// Why not the system's limits: RLIMIT_AS counts addresses that nobody uses and ends the growth of the stack with a signal; RLIMIT_DATA does
// not know the memory of sanitizers and GPUs from ours; both bind the C++ compilers that this process starts, and both leave no byte for
// the error itself. Counting is exact, the same on every machine, and can leave some room after the first failure, so that the error is told.
//
// With AddressSanitizer, which has an operator new of its own, nothing is counted.
#pragma once
#include <cstdint>
#include <string>

#include "compiler/support/error.h"

namespace onnxc {

/// Bytes that `new` may hold at once until limits are lifted (tools/driver/limits.h).
void limit_memory(int64_t bytes);

/// The memory of this machine, or of the control group that the process runs in; bytes.
int64_t machine_memory();

/// What a lack of memory is reported as. `felt`: what is known of where; without it, the stage is told.
Error memory_shortage(const std::string& felt = {});

/// A lack of memory where no exception may pass ends the program with the same exit status as anywhere else.
void expect_shortages(const std::string& model);

}  // namespace onnxc
