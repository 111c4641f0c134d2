// Measured times in the place of predicted ones: the data behind --tune.
//
// Costs of the catalogue come from other machines and few shapes. What was measured here of nodes that are alike (signature.h) is better, so it becomes the
// cost of their candidates, before the cheapest is taken; budgets of weights and goals of memory then work on it as on any cost.
//
//   candidate      predicted   measured   cost
//   winograd_4_3        1000       3000   3000
//   conv                2500       2600   2600, less a trifle: the pick
//   winograd_2_3        4000          -   12000: three times too good a prediction, as the worst that was measured
#pragma once
#include <functional>
#include <map>
#include <span>
#include <string>

#include "compiler/select/choice.h"

namespace onnxc {

/// What runs have shown of nodes that are alike.
struct Measured {
  std::map<std::string, double> ns;  ///< what one such node takes of a run, by its candidate's label; 0: the node did not run
  std::string pick;                  ///< label of the candidate to take, which may be as good as the quickest without being it
};

/// By signature.
using Tuning = std::map<std::string, Measured, std::less<>>;

/// Makes what was measured the costs of a node's candidates, so that the pick is the cheapest. Those that were not measured keep their distance: their
/// costs grow as that of the most underrated candidate did. A pick that is no candidate changes nothing.
void apply_measured(std::span<Choice::Candidate> candidates, const Measured& measured);

}  // namespace onnxc
