#include "tools/onnxc/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "codegen/variants.h"
#include "tools/driver/files.h"
#include "tools/driver/json_text.h"
#include "tools/driver/machine_peak.h"
#include "tools/driver/session.h"
#include "tools/emulator/emulated_machine.h"
#include "tools/onnxc/csv.h"
#include "tools/onnxc/describe.h"
#include "tools/onnxc/emulated_profile.h"
#include "tools/onnxc/step_times.h"
#include "tools/onnxc/terminal.h"
#include "tools/onnxc/trace.h"

namespace onnxc {
namespace {

using nlohmann::ordered_json;

/// A step as a row of the table.
struct Row {
  StepTime time;
  double share = 0;                    ///< of the time of all steps
  std::optional<double> macs, bytes;   ///< for one call; bytes include the weights
  std::optional<double> predicted_ns;  ///< for one call on one thread
  std::string kernel, what, nodes;
  double calls_a_run = 0;

  /// `amount` for one call as a rate per nanosecond, which is giga per second.
  std::optional<double> rate(std::optional<double> amount) const {
    if (!amount || *amount == 0 || time.run_ns <= 0) return std::nullopt;
    return *amount * calls_a_run / time.run_ns;
  }
};

struct Profiled {
  std::vector<Row> rows;  ///< slowest first
  StepTimes times;
  double steps_ns = 0;  ///< in a run, for all steps together
  double peak_gmacs = 0;
  Sizes variant{};  ///< of the variant that ran; empty: the general program
};

std::string nodes_of(const ordered_json& step) {
  std::string text;
  for (const ordered_json& origin : step.at("origins"))
    text += fmt::format("{}{} {}", text.empty() ? "" : "; ", origin.at("op").get<std::string>(), label_of(origin));
  return text;
}

std::vector<Row> make_rows(const StepTimes& times, const ordered_json& description, const Sizes& dimensions) {
  std::vector<Row> rows;
  const double total =
      std::accumulate(times.steps.begin(), times.steps.end(), 0.0, [](double sum, const StepTime& time) { return sum + time.run_ns; });
  const auto number = [&](const ordered_json& size) { return size_at(size, dimensions); };
  for (const StepTime& time : times.steps) {
    const ordered_json& step = description.at("steps").at(static_cast<std::size_t>(time.number - 1));
    Row& row = rows.emplace_back();
    row.time = time;
    row.share = total > 0 ? time.run_ns / total : 0;
    row.calls_a_run = static_cast<double>(time.calls) / static_cast<double>(times.runs);
    row.macs = number(step.at("macs"));
    const auto bytes = number(step.at("bytes")), weight_bytes = number(step.at("weight_bytes"));
    if (bytes && weight_bytes) row.bytes = static_cast<double>(*bytes + *weight_bytes);
    const bool sizes_known =
        step.at("macs").is_number() && step.at("bytes").is_number();  // else the cost is that of sizes that the compiler assumes
    if (const double cost = step.at("cost_ns"); cost > 0 && sizes_known) row.predicted_ns = cost;
    row.kernel = step.at("label");
    row.what = step.at("what");
    row.nodes = nodes_of(step);
  }
  std::ranges::stable_sort(rows, [](const Row& a, const Row& b) { return a.time.run_ns > b.time.run_ns; });
  return rows;
}

std::string cell(std::optional<double> value, const char* format = "{:.1f}") {
  return value ? fmt::format(fmt::runtime(format), *value) : std::string("-");
}

std::string peak_share(std::optional<double> gmacs, double peak_gmacs) {
  return gmacs ? fmt::format("{:.0f} %", 100 * *gmacs / peak_gmacs) : std::string("-");
}

void print_table(const Profiled& profiled, std::size_t top, bool shared) {
  const auto line = [&](const std::string& share, const std::string& time, const std::string& best, const std::string& number,
                        const std::string& kernel, const std::string& flops, const std::string& bytes, const std::string& peak,
                        const std::string& predicted, const std::string& busy, const std::string& what) {
    return fmt::format("{:>7} {:>11} {:>11} {:>5}  {:<24} {:>8} {:>7} {:>6} {:>11}{}  {}", share, time, best, number, kernel, flops, bytes,
                       peak, predicted, shared ? fmt::format(" {:>6}", busy) : "", what);
  };
  fmt::print("{}\n", styled(Style::Bold, line("share", "time us", "best us", "step", "kernel", "GFLOP/s", "GB/s", "peak", "predict us",
                                              "busy", "what")));
  const std::size_t shown = top == 0 ? profiled.rows.size() : std::min(top, profiled.rows.size());
  double best = 0, macs = 0, bytes = 0, rest = 0, predicted = 0;
  bool all_predicted = true;  // of all steps that multiply
  for (std::size_t i = 0; i < profiled.rows.size(); ++i) {
    const Row& row = profiled.rows[i];
    best += row.time.best_ns * row.calls_a_run;
    macs += row.macs.value_or(0) * row.calls_a_run;
    bytes += row.bytes.value_or(0) * row.calls_a_run;
    predicted += row.predicted_ns.value_or(0) * row.calls_a_run;
    all_predicted = all_predicted && (row.predicted_ns || row.macs.value_or(0) == 0 || row.time.calls == 0);
    if (i >= shown) {
      rest += row.share;
      continue;
    }
    const auto gmacs = row.rate(row.macs);
    const auto gflops = gmacs ? std::optional(2 * *gmacs) : std::nullopt;
    const auto predicted_us = row.predicted_ns ? std::optional(*row.predicted_ns * row.calls_a_run / 1e3) : std::nullopt;
    const std::string repeated = row.calls_a_run == 1 || row.time.calls == 0 ? "" : fmt::format("{:.4g} times: ", row.calls_a_run);
    const std::string text =
        line(fmt::format("{:.1f} %", 100 * row.share), cell(row.time.run_ns / 1e3, "{:.2f}"),
             cell(row.time.best_ns * row.calls_a_run / 1e3, "{:.2f}"), std::to_string(row.time.number), row.kernel, cell(gflops),
             cell(row.rate(row.bytes)), peak_share(gmacs, profiled.peak_gmacs), cell(predicted_us, "{:.2f}"),
             row.time.busy ? fmt::format("{:.0f} %", 100 * *row.time.busy) : std::string("-"),
             repeated + one_line(row.what) + (row.nodes.empty() ? "" : "  [" + one_line(row.nodes) + "]"));
    fmt::print("{}\n", styled(row.share >= 0.2    ? Style::Red
                              : row.share >= 0.05 ? Style::Yellow
                              : row.share < 0.005 ? Style::Faint
                                                  : Style::Plain,
                              text));
  }
  if (shown < profiled.rows.size()) fmt::print("{:>6.1f} % in {} more steps\n", 100 * rest, profiled.rows.size() - shown);
  const double ns = std::max(profiled.steps_ns, 1e-9);
  fmt::print("{}\n", styled(Style::Bold, line("100 %", cell(profiled.steps_ns / 1e3, "{:.2f}"), cell(best / 1e3, "{:.2f}"), "", "total",
                                              cell(2 * macs / ns), cell(bytes / ns), peak_share(macs / ns, profiled.peak_gmacs),
                                              all_predicted && predicted > 0 ? cell(predicted / 1e3, "{:.2f}") : "-", "",
                                              fmt::format("{:.2f} us a run, {:.2f} us of it between steps", profiled.times.run_ns / 1e3,
                                                          profiled.times.between_ns / 1e3))));
}

ordered_json figures(const Profiled& profiled, const ProfileOptions& options, const ordered_json& description, const std::string& data) {
  std::vector<const Row*> in_order;
  for (const Row& row : profiled.rows) in_order.push_back(&row);
  std::ranges::sort(in_order, {}, [](const Row* row) { return row->time.number; });
  ordered_json steps = ordered_json::array();
  for (const Row* row : in_order)
    steps.push_back({{"number", row->time.number},
                     {"kernel", row->kernel},
                     {"calls", row->time.calls},
                     {"mean_ns", row->time.mean_ns},
                     {"best_ns", row->time.best_ns},
                     {"run_ns", row->time.run_ns}});
  return {{"model", options.model.string()},    {"data", data},
          {"target", description.at("target")}, {"threads", options.compile.threads},
          {"variant", profiled.variant},        {"calls", profiled.times.runs},
          {"run_ns", profiled.times.run_ns},    {"tick_ns", profiled.times.tick_ns},
          {"peak_gmacs", profiled.peak_gmacs},  {"steps", std::move(steps)}};
}

std::string csv_text(const Profiled& profiled) {
  std::string text = csv_line({"step", "share", "calls_a_run", "run_ns", "mean_ns", "best_ns", "predicted_ns", "kernel", "macs", "bytes",
                               "gflops", "gbytes_per_second", "what", "nodes", "variant"});
  const auto number = [](std::optional<double> value) { return value ? ordered_json(*value) : ordered_json(); };
  for (const Row& row : profiled.rows) {
    const auto gmacs = row.rate(row.macs);
    text += csv_line({row.time.number, row.share, row.calls_a_run, row.time.run_ns, row.time.mean_ns, row.time.best_ns,
                      number(row.predicted_ns), row.kernel, number(row.macs), number(row.bytes),
                      number(gmacs ? std::optional(2 * *gmacs) : std::nullopt), number(row.rate(row.bytes)), row.what, row.nodes,
                      sizes_text(profiled.variant)});
  }
  return text;
}

/// Names the program that ran, if there are several. Null: the general one.
std::string program_text(const Variant* variant, const Sizes& dimensions) {
  return one_line(variant == nullptr ? " of the general program, as no variant is for " + sizes_text(dimensions)
                                     : " of the variant " + condition_text(*variant));
}

}  // namespace

int profile_command(const ProfileOptions& options) {
  if (runs_elsewhere(options.compile.target)) return emulated_profile_command(options);
  CompileOptions compile = options.compile;
  compile.profile = true;
  const Described described = compile_described(options.model, compile);
  const CompiledModel compiled = build_and_load(described.compilation, compile);
  const Feed feed = find_feed(options.model, options.data, compiled);
  const ThreadTeam team(compile.threads);
  ModelCall call(*compiled.model, feed.inputs, team.executor());
  Sizes dimensions;
  for (std::size_t i = 0; i < call.symbols().size(); ++i) dimensions[compiled.model->symbols[i].name] = call.symbols()[i];
  const std::vector<Variant>& variants = described.compilation.variants;
  const std::size_t ran = variant_at(variants, dimensions);
  const bool is_variant = ran < variants.size();
  const ordered_json description = describe(described, compile, is_variant ? &variants[ran] : nullptr);

  Profiled profiled;
  if (is_variant) profiled.variant = variants[ran].dims;
  profiled.peak_gmacs = measure_fma_peak(compile.threads) / 1e9;
  profiled.times = measure_steps(*compiled.profile, call, options.seconds, compile.threads, is_variant ? variant_names(variants)[ran] : "");
  profiled.rows = make_rows(profiled.times, description, dimensions);
  for (const Row& row : profiled.rows) profiled.steps_ns += row.time.run_ns;

  fmt::print("{}: {} runs{}, {} thread{}, target {}, data {}; the machine's peak is {:.1f} GMAC/s\n", options.model.string(),
             profiled.times.runs, variants.empty() ? "" : program_text(is_variant ? &variants[ran] : nullptr, dimensions), compile.threads,
             compile.threads == 1 ? "" : "s", compiled.model->target, feed.source(), profiled.peak_gmacs);
  print_table(profiled, options.top, compile.threads > 1);
  NewFiles files;
  if (options.json) files.add(*options.json, json_text(figures(profiled, options, description, feed.source())));
  if (options.csv) files.add(*options.csv, csv_text(profiled));
  if (options.trace)
    files.add(*options.trace,
              json_text(trace_run(*compiled.profile, call, profiled.times.tick_ns, description, sizes_text(profiled.variant))));
  files.commit();
  return 0;
}

}  // namespace onnxc
