#include "compiler/select/weights_budget.h"

#include <algorithm>
#include <utility>

#include "compiler/budgets.h"

namespace onnxc {

const Choice::Candidate& chosen_kernel(const Choice& choice) {
  std::size_t kernel = choice.winner;
  while (choice.candidates[kernel].narrow) --kernel;
  return choice.candidates[kernel];
}

int64_t weights_growth(const std::vector<Choice>& choices) {
  int64_t bytes = 0;
  for (const Choice& choice : choices) bytes += chosen_kernel(choice).growth;
  return bytes;
}

int64_t growth_limit(const Program& program, const std::vector<Choice>& choices, double most_times) {
  return static_cast<int64_t>((most_times - 1) *
                              static_cast<double>(weight_bytes(program) + weight_bytes_saved(program) - weights_growth(choices)));
}

std::vector<std::size_t> picks_within(const std::vector<Choice>& choices, int64_t most_bytes) {
  std::vector<std::size_t> picks;
  for (const Choice& choice : choices) picks.push_back(cheapest(choice));
  const auto candidate = [&](std::size_t i) -> const Choice::Candidate& { return choices[i].candidates[picks[i]]; };
  int64_t growth = 0;
  for (std::size_t i = 0; i < choices.size(); ++i) growth += candidate(i).growth;
  while (growth > most_bytes) {
    std::size_t best_choice = choices.size(), best_pick = 0;
    double least = 0;
    for (std::size_t i = 0; i < choices.size(); ++i) {
      for (std::size_t k = 0; k < choices[i].candidates.size(); ++k) {
        const Choice::Candidate &from = candidate(i), &to = choices[i].candidates[k];
        if (to.narrow || to.growth >= from.growth) continue;
        const double price = (to.cost_ns - from.cost_ns) / static_cast<double>(from.growth - to.growth);
        if (best_choice < choices.size() && price >= least) continue;
        best_choice = i;
        best_pick = k;
        least = price;
      }
    }
    if (best_choice == choices.size()) break;
    growth += choices[best_choice].candidates[best_pick].growth - candidate(best_choice).growth;
    picks[best_choice] = best_pick;
  }
  // The last exchange may have saved more than was necessary.
  for (bool changed = true; changed;) {
    changed = false;
    std::size_t best_choice = 0, best_pick = 0;
    double most = 0;
    for (std::size_t i = 0; i < choices.size(); ++i) {
      for (std::size_t k = 0; k < choices[i].candidates.size(); ++k) {
        const Choice::Candidate& to = choices[i].candidates[k];
        const double gain = candidate(i).cost_ns - to.cost_ns;
        if (to.narrow || gain <= most || growth - candidate(i).growth + to.growth > most_bytes) continue;
        best_choice = i;
        best_pick = k;
        most = gain;
        changed = true;
      }
    }
    if (!changed) break;
    growth += choices[best_choice].candidates[best_pick].growth - candidate(best_choice).growth;
    picks[best_choice] = best_pick;
  }
  return picks;
}

}  // namespace onnxc
