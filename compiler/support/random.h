// Pseudo-random numbers that are the same on every machine: searches must not depend on the standard library.
#pragma once
#include <cstddef>
#include <cstdint>

namespace onnxc {

/// SplitMix64: Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators".
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t next() {
    state_ += 0x9e3779b97f4a7c15u;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  /// Uniform enough in [0, bound).
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(next() % bound); }

 private:
  uint64_t state_;
};

}  // namespace onnxc
