// Which kernels to measure for a model, and what follows from their times.
//
// Nodes that are alike (select/signature.h) are one kind and get one decision. Each kind has finalists: the
// candidates whose predicted cost is less than three times that of the cheapest. Round r builds the whole model with
// the r-th finalist of every kind. So as many rounds as the longest list has measure all finalists, each in its
// place: with the caches as earlier steps leave them, and with the copies that a candidate needs.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compiler/select/tuning.h"

namespace onnxc {

/// Nodes that are alike, with at least two candidates that are worth measuring.
struct Kind {
  std::string signature;
  std::vector<std::string> finalists;  ///< labels of candidates, the lowest predicted cost first
  std::size_t nodes = 0;               ///< the number of such nodes in the model
};

inline constexpr double kFinalistFactor = 3;  ///< relative to the lowest predicted cost
inline constexpr std::size_t kMostFinalists = 5;
inline constexpr double kHysteresis = 0.03;  ///< how much slower the predicted winner may be and still stay

/// The kinds of a model's choices, in the order of their first occurrence. `most_growth`: the bytes by which all
/// weights together may exceed the model's. A candidate that needs more alone is no finalist. The default choice
/// always is one.
std::vector<Kind> kinds_of(const std::vector<Choice>& choices, int64_t most_growth);

/// Whether all finalists were measured.
bool is_known(const Tuning& tuning, const Kind& kind);

/// Makes the model use finalist `round` of each kind; the first one for kinds with fewer.
Tuning picks_of_round(const std::vector<Kind>& kinds, std::size_t round);

/// Times by signature and label, one for each node and build.
using Timings = std::map<std::string, std::map<std::string, std::vector<double>>>;

/// The medians of a kind's samples, and the pick: the fastest finalist, or the first one unless another is faster by
/// more than kHysteresis.
Measured decide(const Kind& kind, const Timings& samples);

double median_of(std::vector<double> values);  ///< of at least one

}  // namespace onnxc
