// How far the cost model's choices are from the best that was measured.
#pragma once
#include <string>
#include <vector>

#include "compiler/select/tuning.h"

namespace onnxc {

/// A node whose candidates were measured. Times are for a run.
struct RegretRow {
  struct Candidate {
    std::string label;
    double predicted_ns = 0, measured_ns = 0;
  };
  std::string node, value, signature;
  /// The choice of the cost model (within the budget of weights), and the best of the measured candidates.
  Candidate chosen, best;
  std::vector<Candidate> measured;

  double regret() const { return best.measured_ns > 0 ? chosen.measured_ns / best.measured_ns : 1; }
};

struct Regret {
  std::vector<RegretRow> rows;  ///< in the order of the nodes
  double chosen_ns = 0, best_ns = 0;

  double ratio() const { return best_ns > 0 ? chosen_ns / best_ns : 1; }
};

/// The regret of choices by predicted costs. Those of unknown kinds and those with one candidate are left out.
Regret regret_of(const std::vector<Choice>& choices, const Tuning& tuning);

}  // namespace onnxc
