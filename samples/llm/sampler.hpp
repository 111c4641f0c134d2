// Which token comes next: the best one, or one that is drawn. The same logits and the same seed give the same tokens on every machine,
// since nothing here comes from a library that may differ: no <random>, and exp of our own, which is rounded the same everywhere.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <vector>

struct Sampling {
  double temperature = 0.8;  // 0: the best token
  std::int64_t top_k = 40;   // only so many of the best; 0: all
  double top_p = 0.95;       // only the best that have so much of the probability; 1: all
  double penalty = 1.0;      // tokens that were there have logits that are divided by it, or multiplied where they are negative
  std::uint64_t seed = 1;
};

class Sampler {
 public:
  explicit Sampler(const Sampling& sampling) : how_(sampling), state_(sampling.seed) {}

  /// context: all tokens so far.
  std::int64_t pick(std::span<const float> logits, std::span<const std::int64_t> context) {
    candidates_.clear();
    for (std::size_t i = 0; i < logits.size(); ++i) {
      constexpr float kLargest = std::numeric_limits<float>::max();
      if (!std::isnan(logits[i]))
        candidates_.push_back({static_cast<double>(std::clamp(logits[i], -kLargest, kLargest)), static_cast<std::int64_t>(i)});
    }
    if (candidates_.empty()) throw std::runtime_error("the model's logits are no numbers");
    if (how_.penalty != 1) penalise(context, logits.size());
    if (how_.temperature <= 0) return std::min_element(candidates_.begin(), candidates_.end(), better)->id;
    std::size_t kept = candidates_.size();
    if (how_.top_k > 0) kept = std::min(kept, static_cast<std::size_t>(how_.top_k));
    std::partial_sort(candidates_.begin(), candidates_.begin() + static_cast<std::ptrdiff_t>(kept), candidates_.end(), better);
    candidates_.resize(kept);
    return drawn();
  }

 private:
  struct Candidate {
    double value;  // a logit, later a share
    std::int64_t id;
  };
  static bool better(const Candidate& a, const Candidate& b) { return a.value != b.value ? a.value > b.value : a.id < b.id; }

  void penalise(std::span<const std::int64_t> context, std::size_t vocabulary) {
    there_.assign(vocabulary, false);
    for (const std::int64_t id : context) {
      if (id >= 0 && static_cast<std::size_t>(id) < vocabulary) there_[static_cast<std::size_t>(id)] = true;
    }
    for (Candidate& c : candidates_) {
      if (there_[static_cast<std::size_t>(c.id)]) c.value = c.value > 0 ? c.value / how_.penalty : c.value * how_.penalty;
    }
  }

  std::int64_t drawn() {
    const double largest = candidates_.front().value, per_bit = std::min(kBitsPerUnit / how_.temperature, 1e300);
    double all = 0;
    for (Candidate& c : candidates_) {
      const double distance = c.value - largest;
      c.value = power_of_two(distance * per_bit);
      all += c.value;
    }
    const double wanted = how_.top_p * all;
    double sum = 0;
    std::size_t kept = 0;
    while (kept < candidates_.size() && (kept == 0 || sum < wanted)) sum += candidates_[kept++].value;
    const double place = static_cast<double>(next() >> 11) * 0x1p-53 * sum;
    double before = 0;
    for (std::size_t i = 0; i < kept; ++i) {
      before += candidates_[i].value;
      if (place < before) return candidates_[i].id;
    }
    return candidates_[kept - 1].id;
  }

  static constexpr double kBitsPerUnit = 1.4426950408889634;  // log2(e)

  /// 2^x for x <= 0, within some units of the last place. Each operation is one that IEEE 754 rounds in one way; sums of products are
  /// written as fma, since a compiler that may contract them does so on some machines only.
  static double power_of_two(double x) {
    if (!(x > -1000)) return 0;
    const double whole = std::floor(x), rest = x - whole;
    // Taylor's polynomial of 2^rest = exp(rest ln 2), rest in [0, 1).
    static constexpr std::array<double, 16> kCoefficients = [] {
      std::array<double, 16> c{1};
      for (std::size_t k = 1; k < c.size(); ++k) c[k] = c[k - 1] * 0.6931471805599453 / static_cast<double>(k);
      return c;
    }();
    double y = 0;
    for (std::size_t k = kCoefficients.size(); k-- > 0;) y = std::fma(y, rest, kCoefficients[k]);
    return std::ldexp(y, static_cast<int>(whole));
  }

  /// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }

  Sampling how_;
  std::uint64_t state_;
  std::vector<Candidate> candidates_;
  std::vector<bool> there_;
};
