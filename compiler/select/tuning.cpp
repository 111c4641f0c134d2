#include "compiler/select/tuning.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace onnxc {

void apply_measured(std::span<Choice::Candidate> candidates, const Measured& measured) {
  const auto time_of = [&](const Choice::Candidate& candidate) {
    const auto found = measured.ns.find(candidate.label());
    return found != measured.ns.end() ? found->second : 0.0;
  };
  // the largest ratio of measured to predicted time
  double worst = 0;
  for (const Choice::Candidate& candidate : candidates) worst = std::max(worst, time_of(candidate) / std::max(candidate.cost_ns, 1e-9));
  double least = std::numeric_limits<double>::infinity();
  for (Choice::Candidate& candidate : candidates) {
    if (worst > 0) {
      const double predicted = candidate.cost_ns, time = time_of(candidate);
      candidate.cost_ns = time > 0 ? time : predicted * worst;
      candidate.predicted_ns = predicted;
    }
    least = std::min(least, candidate.cost_ns);
  }
  const auto pick =
      std::ranges::find_if(candidates, [&](const Choice::Candidate& candidate) { return candidate.label() == measured.pick; });
  if (pick != candidates.end()) pick->cost_ns = std::nextafter(least, 0.0);
}

}  // namespace onnxc
