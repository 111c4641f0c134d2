// The peak performance of this machine, for comparison with steps.
#pragma once

namespace onnxc {

/// The f32 multiply-adds per second that this number of threads reaches together, with the widest vectors of this
/// machine and without memory accesses. The first call needs the system's compiler. Throws BuildError.
double measure_fma_peak(int threads);

}  // namespace onnxc
