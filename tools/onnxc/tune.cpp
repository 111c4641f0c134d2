#include "tools/onnxc/tune.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "tools/driver/files.h"
#include "tools/driver/json_text.h"
#include "tools/onnxc/terminal.h"
#include "tools/tune/regret.h"

namespace onnxc {
namespace {

using nlohmann::ordered_json;

std::string us(double ns) { return fmt::format("{:.2f}", ns / 1e3); }

/// The candidate that computes each value.
std::map<std::string, std::string> winners(const std::vector<Choice>& choices) {
  std::map<std::string, std::string> labels;
  for (const Choice& choice : choices) labels[choice.value] = choice.candidates[choice.winner].label();
  return labels;
}

/// `picks`: by value. Rows of one kind with the same candidates share a line.
void print_rows(const Regret& regret, const std::map<std::string, std::string>& picks, bool all) {
  const auto line = [](const auto&... cells) { return fmt::format("{:>11} {:>11} {:>11} {:>7}  {:<26} {:<26} {}", cells...); };
  bool is_first = true;
  for (const RegretRow& row : regret.rows) {
    const auto found = picks.find(row.value);
    const std::string pick = found != picks.end() ? found->second : row.chosen.label;
    if (!all && pick == row.chosen.label) continue;
    if (is_first)
      fmt::print("{}\n",
                 styled(Style::Bold, line("predict us", "default us", "best us", "regret", "default", all ? "best" : "now", "node")));
    is_first = false;
    const std::string text = line(us(row.chosen.predicted_ns), us(row.chosen.measured_ns), us(row.best.measured_ns),
                                  fmt::format("{:.2f}", row.regret()), row.chosen.label, all ? row.best.label : pick, one_line(row.node));
    fmt::print("{}\n", styled(row.regret() >= 1.25 ? Style::Red : row.regret() >= 1.05 ? Style::Yellow : Style::Plain, text));
  }
}

ordered_json json_of(const RegretRow::Candidate& candidate) {
  return {{"kernel", candidate.label}, {"predicted_ns", candidate.predicted_ns}, {"measured_ns", candidate.measured_ns}};
}

ordered_json figures(const TuneCommandOptions& options, const TunedModel& tuned, const Regret& regret, double tuned_ns,
                     const std::map<std::string, std::string>& picks) {
  ordered_json rows = ordered_json::array();
  for (const RegretRow& row : regret.rows) {
    ordered_json candidates = ordered_json::array();
    for (const RegretRow::Candidate& candidate : row.measured) candidates.push_back(json_of(candidate));
    const auto pick = picks.find(row.value);
    rows.push_back({{"node", row.node},
                    {"value", row.value},
                    {"signature", row.signature},
                    {"chosen", json_of(row.chosen)},
                    {"best", json_of(row.best)},
                    {"pick", pick != picks.end() ? ordered_json(pick->second) : ordered_json()},
                    {"candidates", std::move(candidates)}});
  }
  ordered_json json{{"model", options.tune.model.string()},
                    {"target", options.tune.compile.target},
                    {"threads", options.tune.compile.threads},
                    {"kinds", tuned.kinds},
                    {"measured", tuned.measured},
                    {"chosen_ns", regret.chosen_ns},
                    {"best_ns", regret.best_ns},
                    {"tuned_ns", tuned_ns},
                    {"regret", regret.ratio()},
                    {"rows", std::move(rows)}};
  if (tuned.comparison)
    json["run"] = {{"default_ns", tuned.comparison->default_ns},
                   {"tuned_ns", tuned.comparison->tuned_ns},
                   {"keeps_default", tuned.comparison->keeps_default()}};
  return json;
}

}  // namespace

int tune_command(const TuneCommandOptions& options) {
  const TunedModel tuned = tune(options.tune);
  const Regret regret = regret_of(tuned.choices, tuned.nodes);
  const double tuned_ns = regret_of(tuned.tuned_choices, tuned.nodes).chosen_ns;
  const auto picks = winners(tuned.tuned_choices);
  const CompileOptions& compile = options.tune.compile;

  fmt::print("{}: {} kinds of nodes with several candidates, {} measured now; target {}, {} thread{}\n",
             one_line(options.tune.model.string()), tuned.kinds, tuned.measured, compile.target, compile.threads,
             compile.threads == 1 ? "" : "s");
  print_rows(regret, picks, options.regret);
  if (regret.rows.empty()) {
    fmt::print("no node has a choice to tune\n");
  } else {
    fmt::print("{}\n",
               styled(Style::Bold,
                      fmt::format("nodes with a choice: {} us by predicted costs, {} us by the best of each, regret {:.3f}; {} us as tuned",
                                  us(regret.chosen_ns), us(regret.best_ns), regret.ratio(), us(tuned_ns))));
  }
  if (tuned.comparison) {
    const TunedRun& run = *tuned.comparison;
    fmt::print("{}\n", styled(Style::Bold, fmt::format("a run: {} us by default, {} us tuned, {:.3f} times as fast{}", us(run.default_ns),
                                                       us(run.tuned_ns), run.default_ns / run.tuned_ns,
                                                       run.keeps_default() ? "; --tune keeps the default" : "")));
  }
  if (options.json) write_file(*options.json, json_text(figures(options, tuned, regret, tuned_ns, picks)));
  return 0;
}

}  // namespace onnxc
