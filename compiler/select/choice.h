// What the lowering chose from: the candidates of one node.
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
  std::string value;  ///< as in Step::value
  struct Candidate {
    std::string kernel;
    double cost_ns;      ///< as predicted by the catalogue, or as measured; see tuning.h
    int64_t growth;      ///< bytes by which its weights exceed the model's
    std::string note{};  ///< what tells it from other candidates with the same kernel: `weights as f16`
    /// The last candidate before this one that is not narrow, with its weights stored in a narrower type. Both give
    /// the same results.
    bool narrow = false;
    std::optional<double> predicted_ns{};  ///< set where cost_ns was measured
    /// `gemv, weights as f16`
    std::string label() const { return note.empty() ? kernel : kernel + ", " + note; }
  };
  std::vector<Candidate> candidates;
  std::size_t winner = 0;
  std::string signature{};  ///< equal for nodes that are alike; see signature.h
};

/// The index of the cheapest candidate, the first of equally cheap ones. By predicted costs only candidates that
/// store weights as floats are compared, so that the storage of weights never changes the kernel, and with it the
/// results. Measured costs are compared as they are.
inline std::size_t cheapest(const Choice& choice) {
  const auto rank = [](const Choice::Candidate& c) { return std::pair(c.narrow && !c.predicted_ns, c.cost_ns); };
  return static_cast<std::size_t>(std::ranges::min_element(choice.candidates, {}, rank) - choice.candidates.begin());
}

/// The index of the form of candidate `pick` whose weights are cheapest to read. With `narrow_all` it is the cheapest
/// narrow form, where there is one. A pick that is narrow already stays.
inline std::size_t with_storage(const Choice& choice, std::size_t pick, bool narrow_all) {
  if (choice.candidates[pick].narrow) return pick;
  std::size_t best = pick;
  for (std::size_t i = pick + 1; i < choice.candidates.size() && choice.candidates[i].narrow; ++i) {
    if ((narrow_all && best == pick) || choice.candidates[i].cost_ns < choice.candidates[best].cost_ns) best = i;
  }
  return best;
}

}  // namespace onnxc
