// The choice of candidates when the cheapest ones together would make the weights too large. All weights count as
// floats, however they are stored, so that storage does not influence the choice of kernels.
#pragma once
#include <cstdint>
#include <vector>

#include "compiler/ir/program.h"
#include "compiler/select/choice.h"

namespace onnxc {

/// The chosen candidate in its form with weights stored as floats.
const Choice::Candidate& chosen_kernel(const Choice& choice);

/// The bytes by which the chosen candidates' weights exceed the model's.
int64_t weights_growth(const std::vector<Choice>& choices);

/// The bytes by which packed weights may exceed the model's if they may be `most_times` as large, for a program and
/// the choices it was built from.
int64_t growth_limit(const Program& program, const std::vector<Choice>& choices, double most_times);

/// The index of a candidate for each choice, with a total growth of at most `most_bytes` if the candidates allow it.
/// Starting from the cheapest candidates, it makes the exchange that costs least time for each byte saved until the
/// weights fit; then it undoes what still fits, the largest gain first.
std::vector<std::size_t> picks_within(const std::vector<Choice>& choices, int64_t most_bytes);

}  // namespace onnxc
