// Which candidates to take when the cheapest ones together would make the weights too large. Weights count as floats, however they are stored, so that the
// choice of kernels does not depend on that.
#pragma once
#include <cstdint>
#include <vector>

#include "compiler/ir/program.h"
#include "compiler/select/choice.h"

namespace onnxc {

/// The chosen candidate with its weights as floats.
const Choice::Candidate& chosen_kernel(const Choice& choice);

/// Bytes by which the chosen candidates' weights exceed the model's.
int64_t weights_growth(const std::vector<Choice>& choices);

/// Bytes by which weights may exceed the model's where they may be `most_times` as large, given a program and the choices it was made by.
int64_t growth_limit(const Program& program, const std::vector<Choice>& choices, double most_times);

/// For each choice the number of a candidate, so that growth in sum is at most `most_bytes` where the candidates allow it. From the cheapest of each, the
/// exchange that costs least time for each byte it saves is made until all fits; then what still fits is taken back, dearest first.
std::vector<std::size_t> picks_within(const std::vector<Choice>& choices, int64_t most_bytes);

}  // namespace onnxc
