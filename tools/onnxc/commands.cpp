#include "tools/onnxc/commands.h"

#include <fmt/format.h>

#include <memory>

#include "tools/onnxc/model_options.h"
#include "tools/onnxc/info.h"
#include "tools/onnxc/report.h"
#include "tools/onnxc/run.h"

namespace onnxc {
namespace {

/// Options of one subcommand, alive until it runs.
template <class T>
struct Held {
  T options;
  ModelOptions model;
  std::string data, output, json;
};

std::optional<std::filesystem::path> path_or_nothing(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional<std::filesystem::path>(text);
}

void add_run(CLI::App& app, std::function<int()>& command) {
  CLI::App& run = *app.add_subcommand(
      "run", "Compile, run on data and compare with expected outputs; exit status 0 only when all are within the tolerance");
  auto held = std::make_shared<Held<RunOptions>>();
  run.add_option("model", held->options.model, "ONNX model")->required();
  run.add_option("--data", held->data,
                 "Folder with test_data_set_*, or one data set; default: what lies beside the model, else made-up inputs");
  run.add_option("--rtol", held->options.rtol, "Relative tolerance of each element; default: case.json beside the model, else 1e-3");
  run.add_option("--atol", held->options.atol, "Absolute tolerance of each element; default: case.json beside the model, else 1e-5");
  run.add_option("--rel-l2", held->options.rel_l2, "Judge each output as a whole, by its relative L2 error");
  run.add_option("--output", held->output, "Write output_K.pb to this folder");
  held->model.add_to(run);
  run.callback([held, &command] {
    command = [held] {
      held->options.compile = held->model.options();
      held->options.data = path_or_nothing(held->data);
      held->options.output = path_or_nothing(held->output);
      return run_command(held->options);
    };
  });
}

void add_bench(CLI::App& app, std::function<int()>& command) {
  CLI::App& bench = *app.add_subcommand("bench", "Measure the latency of one call");
  auto held = std::make_shared<Held<BenchOptions>>();
  bench.add_option("model", held->options.model, "ONNX model")->required();
  bench.add_option("--data", held->data, "Folder with test_data_set_*, or one data set; the first is used");
  bench.add_option("--seconds", held->options.seconds, "How long to measure")->capture_default_str();
  bench.add_option("--json", held->json, "Write the figures to this file");
  held->model.add_to(bench);
  bench.callback([held, &command] {
    command = [held] {
      held->options.compile = held->model.options();
      held->options.data = path_or_nothing(held->data);
      held->options.json = path_or_nothing(held->json);
      return bench_command(held->options);
    };
  });
}

void add_info(CLI::App& app, std::function<int()>& command) {
  struct Info {
    std::string model;
    bool json = false;
  };
  CLI::App& info = *app.add_subcommand("info", "Say what is inside a model: opsets, inputs, outputs, operators, parameters, multiply-adds");
  auto held = std::make_shared<Held<Info>>();
  info.add_option("model", held->options.model, "ONNX model")->required();
  info.add_flag("--json", held->options.json, "As JSON");
  held->model.add_to(info);
  info.callback([held, &command] { command = [held] { return info_command(held->options.model, held->options.json, held->model.options()); }; });
}

void add_report(CLI::App& app, std::function<int()>& command) {
  struct Report {
    ReportOptions options;
    ModelOptions model;
    std::string other, output, json, profile;
    bool difference = false;
  };
  CLI::App& report = *app.add_subcommand("report", "Show what a model became: a page with its graphs, passes, memory plan, steps and weights");
  auto held = std::make_shared<Report>();
  report.add_option("model", held->options.model, "ONNX model; with --diff also a description that --json wrote")->required();
  CLI::Option* other = report.add_option("other", held->other, "With --diff: the model or description to compare with");
  CLI::Option* difference = report.add_flag("--diff", held->difference, "Compare two models, or one compiled in two ways, step by step");
  other->needs(difference);
  difference->needs(other);
  report.add_option("-o,--output", held->output, "The page, one HTML file that loads nothing");
  report.add_option("--json", held->json, "What the page is made from");
  report.add_option("--profile", held->profile, "Measured times of steps, as onnxc profile --json writes them");
  held->model.add_to(report);
  report.callback([held, &command] {
    command = [held] {
      held->options.compile = held->model.options();
      held->options.other = path_or_nothing(held->other);
      held->options.output = path_or_nothing(held->output);
      held->options.json = path_or_nothing(held->json);
      held->options.profile = path_or_nothing(held->profile);
      return report_command(held->options);
    };
  });
}

}  // namespace

void add_commands(CLI::App& app, std::function<int()>& command) {
  add_run(app, command);
  add_bench(app, command);
  add_info(app, command);
  add_report(app, command);
}

}  // namespace onnxc
