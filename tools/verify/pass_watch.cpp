#include "tools/verify/pass_watch.h"

#include <fmt/format.h>

#include <algorithm>

namespace onnxc {
namespace {

/// The constants of the graph and its regions, in the order of their values, which are without them then.
std::vector<Constant> take_constants(Graph& graph) {
  std::vector<Constant> constants;
  for_each_graph(graph, [&](Graph& g) {
    for (Value& value : g.values) {
      constants.push_back(std::move(value.constant));
      value.constant = nullptr;
    }
  });
  return constants;
}

}  // namespace

bool same_graph(const Graph& a, const Graph& b) {
  Graph one = clone(a), other = clone(b);
  const std::vector<Constant> x = take_constants(one), y = take_constants(other);
  const bool same_constants =
      std::ranges::equal(x, y, [](const Constant& c, const Constant& d) { return c == d || (c != nullptr && d != nullptr && *c == *d); });
  return same_constants && print_graph(one) == print_graph(other);
}

const PassWatch::Finding* PassWatch::guilty() const {
  const auto found = std::ranges::find(findings_, Finding::Kind::Wrong, &Finding::kind);
  return found == findings_.end() ? nullptr : &*found;
}

PassWatch::Finding PassWatch::judge_graph(const std::string& pass, const Graph& graph) const {
  Finding finding{pass, Finding::Kind::Right};
  for (const Trial& trial : trials_) {
    if (trial.expected.kind == Answer::Kind::Unknown) continue;
    const Verdict verdict = judge(ask_evaluator(graph, trial.inputs, mode_), trial.expected, trial.terms);
    if (verdict.kind == Verdict::Kind::Wrong) return {pass, Finding::Kind::Wrong, fmt::format("{}: {}", trial.name, verdict.text)};
    if (verdict.kind == Verdict::Kind::Right) ++finding.judged;
    else if (finding.text.empty()) finding.text = fmt::format("{}: {}", trial.name, verdict.text);
    finding.largest_error = std::max(finding.largest_error, verdict.largest_error);
  }
  if (finding.judged == 0) finding.kind = Finding::Kind::Unjudged;
  return finding;
}

const PassWatch::Finding& PassWatch::see(const std::string& pass, const Graph& graph) {
  const bool first = findings_.empty();
  Finding finding{pass};
  if (!first && guilty() == nullptr && !same_graph(before_, graph)) finding = judge_graph(pass, graph);
  before_ = clone(graph);
  return findings_.emplace_back(std::move(finding));
}

}  // namespace onnxc
