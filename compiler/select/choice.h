// What lowering chose from: the candidates of one node.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace onnxc {

/// The candidates of one node, for --explain, for budgets and for --tune.
struct Choice {
  std::string node;
  std::string value;  ///< as Step::value
  struct Candidate {
    std::string kernel;
    double cost_ns;       ///< as the catalogue predicts it, or as it was measured; see tuning.h
    int64_t growth;       ///< bytes by which its weights exceed the model's
    std::string note{};   ///< what sets it apart from others of its kernel: `weights as f16`
    bool narrow = false;  ///< the candidate before it that is none of these, with its weights stored narrower: the same results
    std::optional<double> predicted_ns{};  ///< where cost_ns was measured
    /// `gemv, weights as f16`
    std::string label() const { return note.empty() ? kernel : kernel + ", " + note; }
  };
  std::vector<Candidate> candidates;
  std::size_t winner = 0;
  std::string signature{};  ///< the same for nodes that are alike; see signature.h
};

/// The number of the candidate whose cost is least; of several, the first. As predicted, kernels are compared with their weights as floats, so that how these are stored
/// changes no result; what was measured stands as it is.
inline std::size_t cheapest(const Choice& choice) {
  const auto rank = [](const Choice::Candidate& c) { return std::pair(c.narrow && !c.predicted_ns, c.cost_ns); };
  return static_cast<std::size_t>(std::ranges::min_element(choice.candidates, {}, rank) - choice.candidates.begin());
}

/// The form of kernel `pick` in which its weights are read cheapest; of the narrow ones, `narrow_all`, where it has any. A pick that is narrow itself stays.
inline std::size_t with_storage(const Choice& choice, std::size_t pick, bool narrow_all) {
  if (choice.candidates[pick].narrow) return pick;
  std::size_t best = pick;
  for (std::size_t i = pick + 1; i < choice.candidates.size() && choice.candidates[i].narrow; ++i) {
    if ((narrow_all && best == pick) || choice.candidates[i].cost_ns < choice.candidates[best].cost_ns) best = i;
  }
  return best;
}

}  // namespace onnxc
