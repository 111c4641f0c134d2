#include "tools/quantize/histogram.h"

#include <algorithm>
#include <cmath>

namespace onnxc {
namespace {

constexpr int kSteps = 255;       // between codes of 8 bits
constexpr int kCandidates = 100;  // clipped ranges that are tried
constexpr std::size_t kCoarseBins = 2048;
constexpr uint64_t kFewNumbers = 10 * kCoarseBins;  // fewer leave bins so uneven that merging them seems to cost more than clipping

/// Clipped to [-t, t], for t from a hundredth of the greatest magnitude to all of it.
std::vector<Range> clipped_ranges(const Histogram& histogram) {
  const double low = std::min(histogram.low(), 0.0), high = std::max(histogram.high(), 0.0), most = std::max(-low, high);
  std::vector<Range> ranges;
  for (int i = kCandidates; i >= 1; --i) {
    const double t = most * i / kCandidates;
    ranges.push_back({std::max(low, -t), std::min(high, t)});
  }
  return ranges;
}

/// Bins of a histogram, several merged into one: with too few numbers in each, chance alone makes neighbours differ.
std::vector<uint64_t> coarse_bins(const Histogram& histogram) {
  std::vector<uint64_t> coarse(kCoarseBins);
  constexpr std::size_t kMerged = Histogram::kBins / kCoarseBins;
  for (std::size_t b = 0; b < histogram.bins().size(); ++b) coarse[b / kMerged] += histogram.bins()[b];
  // Zeros, of which Relu gives any number, are coded exactly: sharing a code with other bins would count as a loss.
  coarse[kCoarseBins / 2] = coarse[kCoarseBins / 2 + 1];
  return coarse;
}

/// Bins outside of the range count as its outermost ones.
double divergence(const std::vector<uint64_t>& bins, double reach, Range range) {
  const auto bin_of = [&](double x) {
    return static_cast<std::size_t>(
        std::clamp((x / reach + 1) / 2 * static_cast<double>(kCoarseBins), 0.0, static_cast<double>(kCoarseBins - 1)));
  };
  const std::size_t first = bin_of(range.low), last = bin_of(range.high);
  if (last - first < kSteps) return HUGE_VAL;  // fewer bins than codes: nothing would seem lost
  std::vector<double> exact(last - first + 1), coded(last - first + 1);
  for (std::size_t b = 0; b < bins.size(); ++b) exact[std::clamp(b, first, last) - first] += static_cast<double>(bins[b]);
  // The bins that share a code also share the numbers that lie in them: evenly, where there were any. Those that were clipped are no part of it.
  const double per_code = static_cast<double>(coded.size()) / (kSteps + 1);
  for (int code = 0; code <= kSteps; ++code) {
    const auto from = static_cast<std::size_t>(std::llround(code * per_code)),
               to = static_cast<std::size_t>(std::llround((code + 1) * per_code));
    double sum = 0;
    std::size_t used = 0;
    for (std::size_t b = from; b < to; ++b) {
      sum += static_cast<double>(bins[b + first]);
      used += exact[b] > 0 ? 1 : 0;
    }
    for (std::size_t b = from; b < to; ++b) coded[b] = exact[b] > 0 ? sum / static_cast<double>(used) : 0;
  }
  double all_exact = 0, all_coded = 0;
  for (std::size_t b = 0; b < exact.size(); ++b) {
    all_exact += exact[b];
    all_coded += coded[b];
  }
  if (all_coded == 0) return HUGE_VAL;
  constexpr double kNearlyNothing = 1e-9;  // of a bin whose numbers were all clipped ones
  double sum = 0;
  for (std::size_t b = 0; b < exact.size(); ++b) {
    if (exact[b] == 0) continue;
    const double p = exact[b] / all_exact, q = std::max(coded[b] / all_coded, kNearlyNothing);
    sum += p * std::log(p / q);
  }
  return sum;
}

Range without_tails(const Histogram& histogram, double percentile) {
  const double most = static_cast<double>(histogram.count()) * (1 - percentile / 100) / 2;
  const auto& bins = histogram.bins();
  const auto cut = [&](auto begin, auto end) {
    double passed = 0;
    std::size_t k = 0;
    for (auto it = begin; it != end; ++it, ++k) {
      passed += static_cast<double>(*it);
      if (passed > most) break;
    }
    return k;
  };
  const double half = histogram.bin_width() / 2;
  const double low = histogram.middle(cut(bins.begin(), bins.end())) - half;
  const double high = histogram.middle(bins.size() - 1 - cut(bins.rbegin(), bins.rend())) + half;
  return {std::max(low, histogram.low()), std::min(high, histogram.high())};
}

template <class Badness>
Range best_of(const Histogram& histogram, const Badness& badness) {
  Range best{histogram.low(), histogram.high()};
  double least = HUGE_VAL;
  for (const Range& range : clipped_ranges(histogram)) {
    const double value = badness(range);
    if (value < least) {
      least = value;
      best = range;
    }
  }
  return best;
}

}  // namespace

void Histogram::reach_to(double magnitude) {
  if (bins_.empty()) {
    bins_.resize(kBins);
    reach_ = std::exp2(std::ceil(std::log2(std::max(magnitude, 1e-30))));
  }
  while (magnitude > reach_) {
    std::vector<uint64_t> wider(kBins);
    for (std::size_t b = 0; b < kBins; ++b) wider[b / 2 + kBins / 4] += bins_[b];
    bins_ = std::move(wider);
    reach_ *= 2;
  }
}

void Histogram::add(std::span<const float> values) {
  float low = HUGE_VALF, high = -HUGE_VALF;
  for (const float x : values) {
    if (!std::isfinite(x)) has_nonfinite_ = true;
    low = std::min(low, x);
    high = std::max(high, x);
  }
  if (has_nonfinite_ || values.empty()) return;
  low_ = is_empty() ? low : std::min<double>(low_, low);
  high_ = count_ == 0 ? high : std::max<double>(high_, high);
  reach_to(std::max(std::abs(double{low}), std::abs(double{high})));
  const double per_width = 1 / bin_width();
  for (const float x : values) {
    const auto bin = static_cast<std::size_t>((double{x} + reach_) * per_width);
    ++bins_[std::min(bin, kBins - 1)];
  }
  count_ += values.size();
}

void Histogram::merge(const Histogram& other) {
  has_nonfinite_ |= other.has_nonfinite_;
  if (other.is_empty()) return;
  Histogram wide = other;
  const double most = std::max(reach_, other.reach_);
  reach_to(most);
  wide.reach_to(most);
  for (std::size_t b = 0; b < kBins; ++b) bins_[b] += wide.bins_[b];
  low_ = count_ == 0 ? other.low_ : std::min(low_, other.low_);
  high_ = count_ == 0 ? other.high_ : std::max(high_, other.high_);
  count_ += other.count_;
}

Range choose_range(const Histogram& histogram, RangeMethod method, double percentile) {
  Range range{histogram.low(), histogram.high()};
  switch (method) {
    case RangeMethod::MinMax: break;
    case RangeMethod::Percentile: range = without_tails(histogram, percentile); break;
    case RangeMethod::Entropy: {
      if (histogram.count() < kFewNumbers) break;
      const std::vector<uint64_t> bins = coarse_bins(histogram);
      const double reach = histogram.bin_width() * static_cast<double>(Histogram::kBins) / 2;
      range = best_of(histogram, [&](Range r) { return divergence(bins, reach, r); });
      break;
    }
    case RangeMethod::Mse: range = best_of(histogram, [&](Range r) { return mean_squared_error(histogram, codes_for(r)); }); break;
  }
  return {std::min(range.low, 0.0), std::max(range.high, 0.0)};
}

bool Codes::is_usable() const { return scale > 1e-30f && scale < 1e30f; }

Codes codes_for(Range range) {
  const double low = std::min(range.low, 0.0), high = std::max(range.high, 0.0), scale = (high - low) / kSteps;
  if (!(scale > 0)) return {};
  return {static_cast<float>(scale), static_cast<int>(std::clamp(std::nearbyint(-low / scale), 0.0, static_cast<double>(kSteps)))};
}

double mean_squared_error(const Histogram& histogram, const Codes& codes) {
  if (!codes.is_usable()) return HUGE_VAL;
  // Numbers are spread evenly in their bin, which is seldom wider than a code's step: the variance of the bin comes on top of what its middle misses.
  double sum = 0;
  const double scale = codes.scale, within = histogram.bin_width() * histogram.bin_width() / 12;
  const auto& bins = histogram.bins();
  for (std::size_t b = 0; b < bins.size(); ++b) {
    if (bins[b] == 0) continue;
    const double x = histogram.middle(b), code = std::clamp(std::nearbyint(x / scale) + codes.zero, 0.0, static_cast<double>(kSteps));
    const double error = x - (code - codes.zero) * scale;
    sum += static_cast<double>(bins[b]) * (error * error + within);
  }
  return histogram.count() == 0 ? 0 : sum / static_cast<double>(histogram.count());
}

}  // namespace onnxc
