// How much a network's values differ from those of the network that it was made from.
#pragma once
#include <cmath>

namespace onnxc {

struct SignalToNoise {
  double signal = 0, noise = 0;  ///< sums of squares

  void add(double exact, double found) {
    signal += exact * exact;
    noise += (exact - found) * (exact - found);
  }
  /// Infinity where nothing differs.
  double decibels() const { return noise > 0 ? 10 * std::log10(signal / noise) : HUGE_VAL; }
};

}  // namespace onnxc
