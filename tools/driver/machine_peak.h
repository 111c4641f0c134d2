// What this machine can do at most, to compare steps with.
#pragma once

namespace onnxc {

/// f32 multiply-adds a second that so many threads reach together, with the widest vectors of this machine and without touching memory. Takes a fifth of
/// a second, and the system's compiler the first time. Throws BuildError.
double measure_fma_peak(int threads);

}  // namespace onnxc
