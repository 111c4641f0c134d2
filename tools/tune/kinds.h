// Which kernels to measure for a model, and what follows from their times.
//
// Nodes that are alike (select/signature.h) are one kind and get one decision. Each kind has finalists: the candidates that the cost model takes for less than three
// times as slow as the cheapest. Round r builds the whole model with the r-th finalist of every kind, so that as many rounds as the longest list measure all of them, each in its
// place: with the caches as the steps before leave them, and with the copies that a candidate needs.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compiler/select/tuning.h"

namespace onnxc {

/// Nodes that are alike, with two candidates or more that are worth measuring.
struct Kind {
  std::string signature;
  std::vector<std::string> finalists;  ///< labels of candidates, the least predicted cost first
  std::size_t nodes = 0;               ///< so many in the model
};

inline constexpr double kFinalistFactor = 3;  ///< of the least predicted cost
inline constexpr std::size_t kMostFinalists = 5;
inline constexpr double kHysteresis = 0.03;  ///< what the predicted winner may be slower by and stay

/// The kinds of a model's choices, in the order in which it first has them. `most_growth`: bytes by which all weights together may exceed the model's; a candidate that takes more
/// by itself is no finalist. What is chosen is one in any case.
std::vector<Kind> kinds_of(const std::vector<Choice>& choices, int64_t most_growth);

/// Whether all finalists were measured.
bool is_known(const Tuning& tuning, const Kind& kind);

/// What makes the model use the finalist of that number of each kind, of kinds that have fewer their first.
Tuning picks_of_round(const std::vector<Kind>& kinds, std::size_t round);

/// Times by signature and label, one for each node and build.
using Samples = std::map<std::string, std::map<std::string, std::vector<double>>>;

/// The medians of a kind's samples, and the pick: the quickest, but the first finalist unless another is quicker by more than kHysteresis.
Measured decide(const Kind& kind, const Samples& samples);

double median_of(std::vector<double> values);  ///< of at least one

}  // namespace onnxc
