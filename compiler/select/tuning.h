// Measured times instead of predicted ones: what --tune uses.
//
// The catalogue's costs come from other machines and few shapes. A time measured here, for nodes that are alike
// (signature.h), is better, so it becomes the cost of their candidates before the cheapest is chosen. Budgets of
// weights and memory goals then use it like any other cost.
//
//   candidate      predicted   measured   cost
//   winograd_4_3        1000       3000   3000
//   conv                2500       2600   2600, less a trifle, since it is the pick
//   winograd_2_3        4000          -   12000: its prediction may be three times too low, as the worst of the others was
#pragma once
#include <functional>
#include <map>
#include <span>
#include <string>

#include "compiler/select/choice.h"

namespace onnxc {

/// What runs have measured for nodes that are alike.
struct Measured {
  std::map<std::string, double> ns;  ///< the time of one such node in a run, by its candidate's label; 0: the node did not run
  std::string pick;                  ///< label of the candidate to choose; it may be as good as the fastest without being it
};

/// By signature.
using Tuning = std::map<std::string, Measured, std::less<>>;

/// Replaces the costs of a node's candidates by measured times, so that the pick is the cheapest. Costs of candidates
/// that were not measured grow by the same factor as that of the most underrated candidate. A pick that is no
/// candidate changes nothing.
void apply_measured(std::span<Choice::Candidate> candidates, const Measured& measured);

}  // namespace onnxc
