#include "tools/onnxc/emulated_profile.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/outline.h"
#include "compiler/support/error_codes.h"
#include "tools/driver/files.h"
#include "tools/driver/json_text.h"
#include "tools/emulator/count_steps.h"
#include "tools/onnxc/csv.h"
#include "tools/onnxc/describe.h"
#include "tools/onnxc/terminal.h"

namespace onnxc {
namespace {

using nlohmann::ordered_json;

/// A step with its counts.
struct Row {
  StepCount count;
  const ordered_json* step = nullptr;
  std::optional<int64_t> macs{};  ///< of one call
  /// What steps are ordered by: cycles where they are known.
  int64_t cost() const { return count.cycles.value_or(count.instructions); }
};

/// An amount for each multiply-add.
std::string per_mac(std::optional<int64_t> amount, std::optional<int64_t> macs) {
  return amount && macs && *macs > 0 ? fmt::format("{:.2f}", static_cast<double>(*amount) / static_cast<double>(*macs)) : "-";
}

std::string cell(std::optional<int64_t> amount) { return amount ? thousands(*amount) : "-"; }

std::string line(const std::string& share, const StepCount& count, std::optional<int64_t> macs, const std::string& step,
                 const std::string& kernel, const std::string& what) {
  return fmt::format("{:>7} {:>15} {:>15} {:>8} {:>8} {:>5}  {:<24} {}", share, thousands(count.instructions), cell(count.cycles),
                     per_mac(count.instructions, macs), per_mac(count.cycles, macs), step, kernel, what);
}

std::string share_of(double part, double whole) { return fmt::format("{:.1f} %", whole > 0 ? 100 * part / whole : 0.0); }

ordered_json figures(std::vector<Row> rows, const EmulatedRun& run, const ProfileOptions& options) {
  std::ranges::sort(rows, {}, [](const Row& row) { return row.count.number; });
  ordered_json steps = ordered_json::array();
  for (const Row& row : rows)
    steps.push_back({{"number", row.count.number},
                     {"kernel", row.step->at("label")},
                     {"calls", row.count.calls},
                     {"instructions", row.count.instructions},
                     {"cycles", row.count.cycles ? ordered_json(*row.count.cycles) : ordered_json()}});
  return {{"model", options.model.string()}, {"data", run.data},     {"target", options.compile.target}, {"emulator", run.emulator},
          {"compiler", run.compiler},        {"passed", run.passed}, {"steps", std::move(steps)}};
}

std::string csv_text(const std::vector<Row>& rows) {
  std::string text = csv_line({"step", "calls", "instructions", "cycles", "kernel", "macs", "what"});
  for (const Row& row : rows)
    text += csv_line({row.count.number, row.count.calls, row.count.instructions,
                      row.count.cycles ? ordered_json(*row.count.cycles) : ordered_json(), row.step->at("label"),
                      row.macs ? ordered_json(*row.macs) : ordered_json(), row.step->at("what")});
  return text;
}

}  // namespace

int emulated_profile_command(const ProfileOptions& options) {
  if (options.trace)
    throw Error(ErrorCode::OptionConflict, "--trace needs the time of each step, and an emulator counts instructions", "leave --trace out");
  if (!options.compile.specialize.empty())
    throw Error(ErrorCode::OptionConflict, "an emulator counts the steps of one program, and --specialize makes several",
                "give the sizes with --dim");
  CompileOptions compile = options.compile;
  compile.profile = true;
  const Described described = compile_described(options.model, compile);
  const ordered_json description = describe(described, compile);
  const EmulatedRun run = count_steps(options.model, described.compilation, compile, options.data);
  std::vector<Row> rows;
  StepCount total;
  int64_t macs = 0;
  if (!run.steps.empty() && run.steps.front().cycles) total.cycles = 0;
  for (const StepCount& count : run.steps) {
    const ordered_json& step = description.at("steps").at(static_cast<std::size_t>(count.number - 1));
    rows.push_back({count, &step, size_at(step.at("macs"), run.dims)});
    total.instructions += count.instructions;
    if (total.cycles) *total.cycles += count.cycles.value_or(0);
    macs += rows.back().macs.value_or(0) * count.calls;
  }
  std::ranges::stable_sort(rows, std::ranges::greater{}, &Row::cost);

  fmt::print("{}: one run, target {}, data {}\n  {}, {}{}\n", options.model.string(), options.compile.target, run.data, run.emulator,
             run.compiler, run.passed ? "" : "\n  THE OUTPUTS ARE NOT THOSE THAT WERE EXPECTED");
  fmt::print("{}\n", styled(Style::Bold, fmt::format("{:>7} {:>15} {:>15} {:>8} {:>8} {:>5}  {:<24} {}", "share", "instructions", "cycles",
                                                     "per MAC", "per MAC", "step", "kernel", "what")));
  const auto whole = static_cast<double>(total.cycles.value_or(total.instructions));
  const std::size_t shown = options.top == 0 ? rows.size() : std::min(options.top, rows.size());
  double rest = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Row& row = rows[i];
    if (i >= shown) {
      rest += static_cast<double>(row.cost());
      continue;
    }
    const std::optional<int64_t> work = row.macs ? std::optional(*row.macs * row.count.calls) : std::nullopt;
    fmt::print("{}\n", line(share_of(static_cast<double>(row.cost()), whole), row.count, work, std::to_string(row.count.number),
                            row.step->at("label").get<std::string>(), line_of(row.step->at("what"))));
  }
  if (shown < rows.size()) fmt::print("{:>7} in {} more steps\n", share_of(rest, whole), rows.size() - shown);
  fmt::print("{}\n", styled(Style::Bold,
                            line("100 %", total, macs, "", "total",
                                 total.cycles ? "cycles from memory without wait states" : "no table of this core's cycles is known")));
  NewFiles files;
  if (options.json) files.add(*options.json, json_text(figures(rows, run, options)));
  if (options.csv) files.add(*options.csv, csv_text(rows));
  files.commit();
  return run.passed ? 0 : 1;
}

}  // namespace onnxc
