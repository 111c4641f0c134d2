#include "tools/tune/regret.h"

#include <algorithm>

namespace onnxc {

Regret regret_of(const std::vector<Choice>& choices, const Tuning& tuning) {
  Regret regret;
  for (const Choice& choice : choices) {
    const auto known = tuning.find(choice.signature);
    if (known == tuning.end()) continue;
    RegretRow row{choice.node, choice.value, choice.signature, {}, {}, {}};
    for (std::size_t i = 0; i < choice.candidates.size(); ++i) {
      const Choice::Candidate& candidate = choice.candidates[i];
      const auto time = known->second.ns.find(candidate.label());
      if (time == known->second.ns.end() || time->second <= 0) continue;
      row.measured.push_back({candidate.label(), candidate.predicted_ns.value_or(candidate.cost_ns), time->second});
      if (i == choice.winner) row.chosen = row.measured.back();
    }
    if (row.measured.size() < 2 || row.chosen.label.empty()) continue;
    row.best = *std::ranges::min_element(row.measured, {}, &RegretRow::Candidate::measured_ns);
    regret.chosen_ns += row.chosen.measured_ns;
    regret.best_ns += row.best.measured_ns;
    regret.rows.push_back(std::move(row));
  }
  return regret;
}

}  // namespace onnxc
