// The end of image classifiers (classifier.hpp): the partial sums that it leaves to be added up.
#pragma once
#include "sizes.hpp"

namespace onnxc::inline ONNXC_ISA::contract {

/// Groups of channels, whatever the number of threads.
inline constexpr int64_t kClassifierGroups = 4;

/// Floats from one group's row of sums to the next: n in whole panels of nr.
constexpr int64_t classifier_pitch(int64_t n, int64_t nr) { return round_up(n, nr); }
/// Floats of the sums of one image.
constexpr int64_t classifier_sums(int64_t n, int64_t nr) { return kClassifierGroups * classifier_pitch(n, nr); }

}  // namespace onnxc::contract
