// The features as functions of C, for train.py: c++ -std=c++20 -O2 -fPIC -shared features.cpp -o features.so
#include "features.hpp"

extern "C" {
/// The frames at the end of each of `clips` clips of one second (16,000 samples), each after silence: [clips, 49, 10].
void features_of_clips(const std::int16_t* samples, std::size_t clips, float* frames) {
  features::Listener listener;
  for (std::size_t clip = 0; clip < clips; ++clip) {
    listener.forget();
    for (std::size_t at = 0; at < features::kRate; at += features::kHop)
      listener.hear(std::span<const std::int16_t, features::kHop>(samples + clip * features::kRate + at, features::kHop));
    const auto result = listener.frames();
    std::copy(result.begin(), result.end(), frames + clip * result.size());
  }
}
}
