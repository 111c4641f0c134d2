// What was seen of a value over the calibration data: its extremes, and how often it had which size.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace onnxc {

/// Counts in bins of equal width over [-reach, reach). The reach is a power of two that doubles when a greater number comes, so one pass over the data does, and
/// histograms can be merged.
class Histogram {
 public:
  static constexpr std::size_t kBins = 1 << 14;

  void add(std::span<const float> values);
  void merge(const Histogram& other);

  bool is_finite() const { return !has_nonfinite_; }
  bool is_empty() const { return low_ > high_; }
  double low() const { return low_; }
  double high() const { return high_; }
  uint64_t count() const { return count_; }
  const std::vector<uint64_t>& bins() const { return bins_; }
  double bin_width() const { return 2 * reach_ / static_cast<double>(kBins); }
  /// The middle of a bin.
  double middle(std::size_t bin) const { return (static_cast<double>(bin) + 0.5) * bin_width() - reach_; }

 private:
  void reach_to(double magnitude);

  double low_ = 1, high_ = 0;  // empty
  double reach_ = 0;
  uint64_t count_ = 0;
  bool has_nonfinite_ = false;
  std::vector<uint64_t> bins_;
};

struct Range {
  double low, high;
};

enum class RangeMethod { MinMax, Percentile, Entropy, Mse };

/// The range that codes of 8 bits shall stand for: it contains 0. `percentile`: the share of numbers, in percent, that Percentile keeps.
///   MinMax      all that was seen
///   Percentile  all but as many at each end
///   Entropy     the clipped range whose codes keep most information: the least Kullback-Leibler divergence (Migacz 2017, 8-bit inference with TensorRT); all
///               that was seen where that are too few numbers to tell
///   Mse         the clipped range with the least squared error
Range choose_range(const Histogram& histogram, RangeMethod method, double percentile);

/// A real number is (code - zero) * scale, codes are 0 to 255.
struct Codes {
  float scale = 0;
  int zero = 0;
  bool is_usable() const;  ///< neither so small nor so large that arithmetic with the scale breaks down
};
Codes codes_for(Range range);

/// The mean squared error of what was seen, when it is rounded to codes.
double mean_squared_error(const Histogram& histogram, const Codes& codes);

}  // namespace onnxc
