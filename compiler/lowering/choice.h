// What lowering chose from: the candidates of one node.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace onnxc {

/// The candidates of one node, for --explain, for budgets and for --tune.
struct Choice {
  std::string node;
  std::string value;  ///< as Step::value
  struct Candidate {
    std::string kernel;
    double cost_ns;      ///< as the catalogue predicts it, or as it was measured; see tuning.h
    int64_t growth;      ///< bytes by which its weights exceed the model's
    std::string note{};  ///< what sets it apart from others of its kernel: `weights as f16`
    std::optional<double> predicted_ns{};  ///< where cost_ns was measured
    /// `gemv, weights as f16`
    std::string label() const { return note.empty() ? kernel : kernel + ", " + note; }
  };
  std::vector<Candidate> candidates;
  std::size_t winner = 0;
  std::string signature{};  ///< the same for nodes that are alike; see signature.h
};

/// The number of the candidate whose cost is least; of several, the first.
inline std::size_t cheapest(const Choice& choice) {
  return static_cast<std::size_t>(std::ranges::min_element(choice.candidates, {}, &Choice::Candidate::cost_ns) - choice.candidates.begin());
}

}  // namespace onnxc
