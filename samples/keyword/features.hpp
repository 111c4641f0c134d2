// What a model hears of speech: mel-frequency cepstral coefficients, as the samples come in. No heap, no library, 6 KB of tables in flash.
//
// Every 20 ms the last 30 ms of samples become ten numbers: how loud it is at 40 pitches that lie apart as ears tell them (a Fourier
// transform, whose power is summed in bands), in logarithms, and of these the ten coarsest cosine waves (a cosine transform), which tell
// vowels and consonants apart and leave the voice's own pitch out. A model sees those of the last second.
//
// train.py calls this same code, by features.cpp, so a model is trained with what the device computes.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace features {

inline constexpr std::size_t kRate = 16'000;  // samples a second
inline constexpr std::size_t kHop = 320;      // samples between windows
inline constexpr std::size_t kWindow = 480;   // samples in one
inline constexpr std::size_t kFrames = 49, kCoefficients = 10;

namespace detail {

inline constexpr std::size_t kTransform = 512, kHalf = kTransform / 2;  // the window, with zeros behind it
inline constexpr std::size_t kBands = 40;
inline constexpr double kLowest = 60, kHighest = 7'800;  // Hz: where bands begin and end
inline constexpr double kPi = 3.14159265358979323846;

// ---- Functions for tables, which compilers evaluate: those of <cmath> are not constexpr in C++20. ----

/// cos(2 pi turns) for turns in [0, 1], by its series.
constexpr double cosine(double turns) {
  const double x = 2 * kPi * (turns > 0.5 ? 1 - turns : turns);
  double term = 1, sum = 1;
  for (int n = 2; n <= 40; n += 2) term *= -x * x / (n * (n - 1)), sum += term;
  return sum;
}

/// The natural logarithm of x >= 1, by the series of 2 artanh((x - 1) / (x + 1)).
constexpr double logarithm(double x) {
  double halvings = 0;
  for (; x > 1.5; x /= 2) ++halvings;
  const auto series = [](double y) {
    const double s = (y - 1) / (y + 1);
    double power = s, sum = 0;
    for (int n = 1; n <= 41; n += 2) sum += power / n, power *= s * s;
    return 2 * sum;
  };
  return series(x) + halvings * series(2);
}

/// The pitch of a frequency in mel.
constexpr double mel(double hertz) { return 1'127 * logarithm(1 + hertz / 700); }

/// The first half of Hann's window; the second is its mirror image.
inline constexpr auto kHann = [] {
  std::array<float, kWindow / 2> table{};
  for (std::size_t i = 0; i < table.size(); ++i)
    table[i] = static_cast<float>(0.5 - 0.5 * cosine((static_cast<double>(i) + 0.5) / kWindow));
  return table;
}();

struct Complex {
  float re, im;
};
constexpr Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
constexpr Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
constexpr Complex operator*(Complex a, Complex b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }

/// e^(-2 pi i k / 512) for k < 384: what radix 4 needs of 256 points, and what parts a real transform from a complex one.
inline constexpr auto kRoots = [] {
  std::array<Complex, 3 * kTransform / 4> table{};
  for (std::size_t k = 0; k < table.size(); ++k) {
    const double turns = static_cast<double>(k) / kTransform, sine_turns = turns + 0.25;
    table[k] = {static_cast<float>(cosine(turns)), static_cast<float>(cosine(sine_turns > 1 ? sine_turns - 1 : sine_turns))};
  }
  return table;
}();

/// Where the frequency of each point of the transform lies between the middles of bands: 2.25 is a quarter of the way from the second band
/// to the third (the first is number 1). Bands are triangles, so the point counts by 0.75 in the one and 0.25 in the other. -1: in none.
inline constexpr auto kPlaces = [] {
  std::array<float, kHalf> table{};
  const double width = (mel(kHighest) - mel(kLowest)) / (kBands + 1);
  for (std::size_t k = 0; k < table.size(); ++k) {
    const double place = (mel(static_cast<double>(k * kRate) / kTransform) - mel(kLowest)) / width;
    table[k] = static_cast<float>(place < 0 || place > kBands + 1 ? -1 : place);
  }
  return table;
}();

/// cos(2 pi k / 160): the cosine transform of 40 numbers.
inline constexpr auto kCosines = [] {
  std::array<float, 4 * kBands> table{};
  for (std::size_t k = 0; k < table.size(); ++k) table[k] = static_cast<float>(cosine(static_cast<double>(k) / (4 * kBands)));
  return table;
}();

/// The natural logarithm of a positive normal x; within 4e-7 of it or of its relative error, whichever is larger.
inline float log(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const auto above = bits - 0x3F40'0000;  // of 0.75, so that the mantissa is from 0.75 to 1.5
  const auto exponent = static_cast<std::int32_t>(above) >> 23;
  const float m = std::bit_cast<float>((above & 0x7F'FFFF) + 0x3F40'0000);
  const float s = (m - 1) / (m + 1), t = s * s;
  return static_cast<float>(exponent) * 0.69314718F + 2 * s * (1 + t * (1 / 3.0F + t * (1 / 5.0F + t * (1 / 7.0F))));
}

/// Fourier's transform of 256 complex numbers, in place: radix 4, decimation in time.
inline void transform(std::array<Complex, kHalf>& z) {
  for (std::size_t i = 0; i < kHalf; ++i) {  // digits of base 4 in reverse
    const std::size_t reverse = (i & 3) << 6 | (i & 12) << 2 | (i & 48) >> 2 | i >> 6;
    if (i < reverse) std::swap(z[i], z[reverse]);
  }
  for (std::size_t quarter = 1; quarter < kHalf; quarter *= 4) {
    const std::size_t step = kTransform / (4 * quarter);
    for (std::size_t k = 0; k < quarter; ++k) {
      const Complex w1 = kRoots[k * step], w2 = kRoots[2 * k * step], w3 = kRoots[3 * k * step];
      for (std::size_t at = k; at < kHalf; at += 4 * quarter) {
        const Complex a = z[at], b = w1 * z[at + quarter], c = w2 * z[at + 2 * quarter], d = w3 * z[at + 3 * quarter];
        const Complex even = a + c, odd = a - c, sum = b + d, difference = b - d, turned{difference.im, -difference.re};
        z[at] = even + sum;
        z[at + quarter] = odd + turned;
        z[at + 2 * quarter] = even - sum;
        z[at + 3 * quarter] = odd - turned;
      }
    }
  }
}

/// The energies in bands of a window of samples in [-1, 1). `z`: the room for the transform.
inline void energies(std::span<const std::int16_t, kWindow> samples, std::array<Complex, kHalf>& z, std::array<float, kBands>& bands) {
  constexpr float kScale = 1 / 32'768.0F;
  for (std::size_t i = 0; i < kWindow / 2; i += 2) {  // samples at even places are real parts, the others imaginary
    const std::size_t last = kWindow - 2 - i;
    z[i / 2] = {static_cast<float>(samples[i]) * (kScale * kHann[i]), static_cast<float>(samples[i + 1]) * (kScale * kHann[i + 1])};
    z[last / 2] = {static_cast<float>(samples[last]) * (kScale * kHann[i + 1]),
                   static_cast<float>(samples[last + 1]) * (kScale * kHann[i])};
  }
  std::fill(z.begin() + kWindow / 2, z.end(), Complex{});
  transform(z);

  bands.fill(0);
  for (std::size_t k = 1; k < kHalf; ++k) {
    const float place = kPlaces[k];
    if (place < 0) continue;
    // The even samples' transform is the part of z that a conjugate mirror keeps, the odd ones' that which it turns.
    const Complex a = z[k], b{z[kHalf - k].re, -z[kHalf - k].im}, sum = a + b, difference = a - b;
    const Complex point = sum + kRoots[k] * Complex{difference.im, -difference.re};  // twice the transform
    const float power = 0.25F * (point.re * point.re + point.im * point.im);
    const auto band = static_cast<std::size_t>(place);
    const float upper = power * (place - static_cast<float>(band));
    if (band > 0) bands[band - 1] += power - upper;
    if (band < kBands) bands[band] += upper;
  }
}

/// The coefficients from the energies. Finer waves are weaker, and the first number, the loudness, is larger than all: weights make them
/// alike, so that one scale serves when a model's input is rounded to a byte.
inline void cepstrum(const std::array<float, kBands>& bands, std::span<float, kCoefficients> coefficients) {
  constexpr float kFloor = 1e-5F, kMiddle = 5;  // silence, in energy; what the logarithm is counted from
  for (float& sum : coefficients) sum = 0;
  for (std::size_t n = 0; n < kBands; ++n) {
    const float level = log(bands[n] + kFloor) + kMiddle;
    for (std::size_t k = 0; k < kCoefficients; ++k) coefficients[k] += level * kCosines[k * (2 * n + 1) % (4 * kBands)];
  }
  coefficients[0] *= 0.25F / kBands;
  for (std::size_t k = 1; k < kCoefficients; ++k) coefficients[k] *= (1 + 0.5F * static_cast<float>(k)) / kBands;
}

}  // namespace detail

/// The last second of sound, 5 KB. Has no constructor to run, as firmware likes it: forget() comes first.
class Listener {
 public:
  /// As if it had been silent so far.
  void forget() {
    samples_ = {};
    hear(std::array<std::int16_t, kHop>{});
    const auto silence = std::span(frames_).last<kCoefficients>();
    for (std::size_t i = 0; i + 1 < kFrames; ++i) std::copy(silence.begin(), silence.end(), frames_.begin() + i * kCoefficients);
  }

  /// The next 20 ms.
  void hear(std::span<const std::int16_t, kHop> samples) {
    std::copy(samples_.begin() + kHop, samples_.end(), samples_.begin());
    std::copy(samples.begin(), samples.end(), samples_.end() - kHop);
    std::copy(frames_.begin() + kCoefficients, frames_.end(), frames_.begin());
    std::array<float, detail::kBands> bands;
    detail::energies(samples_, transform_, bands);
    detail::cepstrum(bands, std::span(frames_).last<kCoefficients>());
  }

  /// 49 frames of 10 coefficients, the latest last.
  std::span<const float, kFrames * kCoefficients> frames() const { return frames_; }

 private:
  std::array<std::int16_t, kWindow> samples_{};
  std::array<float, kFrames * kCoefficients> frames_{};
  std::array<detail::Complex, detail::kHalf> transform_{};
};

}  // namespace features
