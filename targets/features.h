// What processors can do beyond plain C++, as sets: kernels need some features, and a target has some.
#pragma once
#include <cstdint>
#include <initializer_list>

namespace onnxc {

/// x86: SSE4.1, AVX2, multiply-adds with AVX2, f16 conversions, AVX-512 (F, BW, DQ, VL). AVX-512's dot products of bytes (VNNI) and of bfloat16. AArch64: Neon,
/// which each has; dot products of signed bytes; of unsigned and signed ones. Cortex-M: pairs of 16 bits in a register (DSP), vectors of 128 bits
/// (Helium, of integers and floats).
enum class Feature : uint8_t { Sse41, Avx2, Fma, F16c, Avx512, Vnni, Bf16, Neon, DotProd, I8mm, Dsp, Helium };

class Features {
 public:
  constexpr Features() = default;
  constexpr Features(std::initializer_list<Feature> list) {
    for (const Feature feature : list) bits_ |= bit(feature);
  }
  constexpr void add(Feature feature) { bits_ |= bit(feature); }
  constexpr bool has(Feature feature) const { return (bits_ & bit(feature)) != 0; }
  /// Whether all of `needed` are among these.
  constexpr bool include(Features needed) const { return (needed.bits_ & ~bits_) == 0; }
  constexpr bool empty() const { return bits_ == 0; }
  friend constexpr bool operator==(Features, Features) = default;

 private:
  static constexpr uint32_t bit(Feature feature) { return uint32_t{1} << static_cast<unsigned>(feature); }
  uint32_t bits_ = 0;
};

}  // namespace onnxc
