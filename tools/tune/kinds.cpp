#include "tools/tune/kinds.h"

#include <algorithm>

namespace onnxc {
namespace {

double predicted(const Choice::Candidate& candidate) { return candidate.predicted_ns.value_or(candidate.cost_ns); }

std::vector<std::string> finalists_of(const Choice& choice, int64_t most_growth) {
  double least = predicted(choice.candidates.front());
  for (const Choice::Candidate& candidate : choice.candidates) least = std::min(least, predicted(candidate));
  std::vector<const Choice::Candidate*> finalists;
  for (std::size_t i = 0; i < choice.candidates.size(); ++i) {
    const Choice::Candidate& candidate = choice.candidates[i];
    if (i == choice.winner || (predicted(candidate) <= kFinalistFactor * least && candidate.growth <= most_growth))
      finalists.push_back(&candidate);
  }
  std::ranges::stable_sort(finalists, {}, [](const Choice::Candidate* candidate) { return predicted(*candidate); });
  std::vector<std::string> labels;
  for (const Choice::Candidate* candidate : finalists) {
    const bool is_winner = candidate == &choice.candidates[choice.winner];
    if ((is_winner || labels.size() < kMostFinalists) && std::ranges::find(labels, candidate->label()) == labels.end())
      labels.push_back(candidate->label());
  }
  return labels;
}

}  // namespace

std::vector<Kind> kinds_of(const std::vector<Choice>& choices, int64_t most_growth) {
  std::vector<Kind> kinds;
  std::map<std::string, std::size_t> numbers;
  for (const Choice& choice : choices) {
    const auto [at, is_new] = numbers.try_emplace(choice.signature, kinds.size());
    if (is_new) kinds.push_back({choice.signature, {}, 0});
    Kind& kind = kinds[at->second];
    ++kind.nodes;
    // Nodes of the same time may differ in how weights can be stored: narrower types are exact only for some.
    for (std::string& label : finalists_of(choice, most_growth)) {
      if (std::ranges::find(kind.finalists, label) == kind.finalists.end()) kind.finalists.push_back(std::move(label));
    }
  }
  std::erase_if(kinds, [](const Kind& kind) { return kind.finalists.size() < 2; });
  return kinds;
}

bool is_known(const Tuning& tuning, const Kind& kind) {
  const auto known = tuning.find(kind.signature);
  return known != tuning.end() &&
         std::ranges::all_of(kind.finalists, [&](const std::string& label) { return known->second.ns.contains(label); });
}

Tuning picks_of_round(const std::vector<Kind>& kinds, std::size_t round) {
  Tuning tuning;
  for (const Kind& kind : kinds) tuning[kind.signature].pick = kind.finalists[round < kind.finalists.size() ? round : 0];
  return tuning;
}

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

Measured decide(const Kind& kind, const Timings& samples) {
  Measured measured;
  measured.pick = kind.finalists.front();
  const auto found = samples.find(kind.signature);
  if (found == samples.end()) return measured;
  for (const auto& [label, times] : found->second) {
    std::vector<double> of_runs = times;
    std::erase_if(of_runs, [](double time) { return time <= 0; });  // of a node in a branch that was not taken
    measured.ns[label] = of_runs.empty() ? 0 : median_of(std::move(of_runs));
  }
  const auto time_of = [&](const std::string& label) {
    const auto time = measured.ns.find(label);
    return time != measured.ns.end() ? time->second : 0;
  };
  double most = (1 - kHysteresis) * time_of(measured.pick);
  for (const std::string& label : kind.finalists) {
    if (const double time = time_of(label); time > 0 && time < most) {
      measured.pick = label;
      most = time;
    }
  }
  return measured;
}

}  // namespace onnxc
