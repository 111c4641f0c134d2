#include "tools/onnxc/commands.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "tools/onnxc/bisect.h"
#include "tools/onnxc/explain.h"
#include "tools/onnxc/info.h"
#include "tools/onnxc/model_options.h"
#include "tools/onnxc/profile.h"
#include "tools/onnxc/refusals.h"
#include "tools/onnxc/report.h"
#include "tools/onnxc/rewriting_commands.h"
#include "tools/onnxc/run.h"
#include "tools/onnxc/serve.h"
#include "tools/onnxc/tune.h"
#include "tools/onnxc/verify.h"
#include "tools/package/package.h"

namespace onnxc {

std::optional<std::filesystem::path> path_or_nothing(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional<std::filesystem::path>(text);
}

namespace {

/// The options of one subcommand, which live until it runs.
template <class T>
struct Held {
  T options;
  ModelOptions model;
  std::string data, output, json;
};

void add_tolerance(CLI::App& app, RunOptions& options) {
  app.add_option("--rtol", options.rtol, "Relative tolerance of each element; default: case.json beside the model, else 1e-3");
  app.add_option("--atol", options.atol, "Absolute tolerance of each element; default: case.json beside the model, else 1e-5");
  app.add_option("--rel-l2", options.rel_l2, "Judge each output as a whole, by its relative L2 error");
}

void add_run(CLI::App& app, std::function<int()>& command) {
  CLI::App& run = *app.add_subcommand(
      "run", "Compile, run on data and compare with expected outputs; exit status 0 only when all are within the tolerance");
  auto held = std::make_shared<Held<RunOptions>>();
  run.add_option("model", held->options.model, "ONNX model")->required();
  run.add_option("--data", held->data,
                 "Folder with test_data_set_*, or one data set; default: what lies beside the model, else made-up inputs");
  add_tolerance(run, held->options);
  run.add_option("--output", held->output, "Write output_K.pb to this folder, and NAME.pb for what is tapped");
  run.add_option("--tap", held->options.taps,
                 "Give this value of the model, by its ONNX name, as one more output. Fusion leaves it. May be repeated")
      ->allow_extra_args(false);
  held->model.add_to(run);
  held->model.add_tune_to(run);
  run.callback([held, &command] {
    command = [held] {
      CompileOptions tapped;
      tapped.taps = held->options.taps;
      held->options.compile = held->model.options_for(held->options.model, tapped, held->data);
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
  held->model.add_tune_to(bench);
  bench.callback([held, &command] {
    command = [held] {
      held->options.compile = held->model.options_for(held->options.model, {}, held->data);
      held->options.data = path_or_nothing(held->data);
      held->options.json = path_or_nothing(held->json);
      return bench_command(held->options);
    };
  });
}

void add_profile(CLI::App& app, std::function<int()>& command) {
  struct Files {
    Held<ProfileOptions> held;
    std::string csv, trace;
  };
  CLI::App& profile =
      *app.add_subcommand("profile", "Measure each step: a table of where the time goes, the slowest first; see docs/profiling.md");
  auto files = std::make_shared<Files>();
  auto& [options, model, data, output, json] = files->held;
  profile.add_option("model", options.model, "ONNX model")->required();
  profile.add_option("--data", data, "Folder with test_data_set_*, or one data set; the first is used");
  profile.add_option("--seconds", options.seconds, "How long to measure")->capture_default_str();
  profile.add_option("--top", options.top, "Only so many steps in the table");
  profile.add_option("--json", json, "Write the figures to this file; onnxc report --profile reads it");
  profile.add_option("--trace", files->trace,
                     "Write one run to this file as Chrome's trace events, which ui.perfetto.dev and chrome://tracing show");
  profile.add_option("--csv", files->csv, "Write a line for each step to this file");
  model.add_to(profile);
  model.add_tune_to(profile);
  profile.callback([files, &command] {
    command = [files] {
      ProfileOptions& all = files->held.options;
      all.compile = files->held.model.options_for(all.model, {}, files->held.data);
      all.data = path_or_nothing(files->held.data);
      all.json = path_or_nothing(files->held.json);
      all.trace = path_or_nothing(files->trace);
      all.csv = path_or_nothing(files->csv);
      return profile_command(all);
    };
  });
}

void add_info(CLI::App& app, std::function<int()>& command) {
  struct Info {
    std::string model;
    bool json = false, csv = false;
  };
  CLI::App& info = *app.add_subcommand(
      "info", "Say what is inside a model: opsets, inputs, outputs, operators, parameters, multiply-adds, memory, the work of each step");
  auto held = std::make_shared<Held<Info>>();
  info.add_option("model", held->options.model, "ONNX model")->required();
  auto* const json = info.add_flag("--json", held->options.json, "As JSON");
  info.add_flag("--csv", held->options.csv, "The work of each step, one on a line, as comma-separated values")->excludes(json);
  held->model.add_to(info);
  held->model.add_tune_to(info);
  info.callback([held, &command] {
    command = [held] {
      return info_command(held->options.model,
                          held->options.json  ? InfoForm::Json
                          : held->options.csv ? InfoForm::Csv
                                              : InfoForm::Text,
                          held->model.options_for(held->options.model));
    };
  });
}

void add_explain(CLI::App& app, std::function<int()>& command) {
  struct Explain {
    std::string model, node;
  };
  CLI::App& explain =
      *app.add_subcommand("explain",
                          "Say what became of a model: for each step its nodes, its kernel and why that one, and where its values lie. "
                          "Or what an error means: explain E0204; alone, it lists all errors");
  auto held = std::make_shared<Held<Explain>>();
  explain.add_option("model", held->options.model, "ONNX model, or the code of an error");
  explain.add_option("node", held->options.node, "Only this node, by its name or an output's, or this step, by its number");
  held->model.add_to(explain);
  held->model.add_tune_to(explain);
  explain.callback([held, &command] {
    command = [held] {
      const std::string& model = held->options.model;
      if (model.empty()) return list_codes();
      if (looks_like_code(model)) return explain_code(model);
      return explain_command(model, held->options.node, held->model.options_for(model));
    };
  });
}

void add_bisect(CLI::App& app, std::function<int()>& command) {
  CLI::App& bisect = *app.add_subcommand("bisect",
                                         "Find the first value inside of a model that departs from a reference: files NAME.pb of the data "
                                         "set, else the model built at -O0; exit status 0 when none does");
  auto held = std::make_shared<Held<RunOptions>>();
  bisect.add_option("model", held->options.model, "ONNX model")->required();
  bisect.add_option(
      "--data", held->data,
      "Folder with test_data_set_*, or one data set; the first is used. Default: what lies beside the model, else made-up inputs");
  add_tolerance(bisect, held->options);
  held->model.add_to(bisect);
  held->model.add_tune_to(bisect);
  bisect.callback([held, &command] {
    command = [held] {
      held->options.compile = held->model.options_for(held->options.model, {}, held->data);
      held->options.data = path_or_nothing(held->data);
      return bisect_command(held->options);
    };
  });
}

void add_verify(CLI::App& app, std::function<int()>& command) {
  CLI::App& verify = *app.add_subcommand(
      "verify",
      "Is this unit what the model says? Runs it on data sets and on made-up inputs, with NaN, infinities, subnormal numbers, extremes, "
      "sizes of 0 "
      "and 1, and compares with an evaluation of the imported graph; exit status 0 when nothing departs; see docs/verifying.md");
  auto held = std::make_shared<Held<VerifyOptions>>();
  VerifyOptions& options = held->options;
  verify.add_option("model", options.run.model, "ONNX model")->required();
  verify.add_option(
      "--data", held->data,
      "Folder with test_data_set_*, or one data set; default: what lies beside the model. Expected outputs are compared, too");
  verify.add_flag("!--no-made", options.made, "Only data sets, where there are some: no made-up inputs");
  verify.add_flag("--each-pass", options.each_pass,
                  "Evaluate the graph after every pass on the same inputs, and name the first pass whose graph departs");
  verify.add_flag("--quiet", options.quiet, "Leave out lines about what is right");
  verify.add_flag("!--no-code", options.code, "Leave out the rules for emitted code, which the program check_emitted checks");
  add_tolerance(verify, options.run);
  held->model.add_to(verify);
  held->model.add_tune_to(verify);
  verify.callback([held, &command] {
    command = [held] {
      RunOptions& run = held->options.run;
      run.compile = held->model.options_for(run.model, {}, held->data);
      run.data = path_or_nothing(held->data);
      return verify_command(held->options);
    };
  });
}

void add_tune(CLI::App& app, std::function<int()>& command) {
  CLI::App& tune = *app.add_subcommand(
      "tune", "Measure the candidates of each node in the model, keep their times for --tune, and say what changes; see docs/tuning.md");
  auto held = std::make_shared<Held<TuneCommandOptions>>();
  TuneOptions& options = held->options.tune;
  tune.add_option("model", options.model, "ONNX model")->required();
  tune.add_option("--data", held->data, "Folder with test_data_set_*, or one data set; the first is used");
  tune.add_option("--seconds", options.seconds, "How long to measure each build")->capture_default_str();
  tune.add_flag("--fresh", options.fresh, "Measure what is known already, too");
  tune.add_flag("--regret", held->options.regret,
                "A line for each node that has a choice: what predicted costs chose against the best that was measured");
  tune.add_option("--json", held->json, "Write the figures to this file");
  held->model.add_to(tune);
  held->model.add_tune_cache_to(tune);
  tune.callback([held, &command] {
    command = [held] {
      held->options.tune.compile = held->model.options();
      held->options.tune.cache = held->model.tune_cache();
      held->options.tune.data = path_or_nothing(held->data);
      held->options.json = path_or_nothing(held->json);
      return tune_command(held->options);
    };
  });
}

void add_report(CLI::App& app, std::function<int()>& command) {
  struct Report {
    ReportOptions options;
    ModelOptions model;
    std::string other, output, json, profile;
    bool difference = false;
  };
  CLI::App& report =
      *app.add_subcommand("report", "Show what a model became: a page with its graphs, passes, memory plan, steps and weights");
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
  held->model.add_tune_to(report);
  report.callback([held, &command] {
    command = [held] {
      held->options.compile = held->model.options_for(held->options.model);
      held->options.other = path_or_nothing(held->other);
      held->options.output = path_or_nothing(held->output);
      held->options.json = path_or_nothing(held->json);
      held->options.profile = path_or_nothing(held->profile);
      return report_command(held->options);
    };
  });
}

void add_package(CLI::App& app, std::function<int()>& command) {
  const auto held = std::make_shared<Held<PackageOptions>>();
  CLI::App& package = *app.add_subcommand(
      "package",
      "Make a library of an ecosystem: the unit, a header for C, an example and what its tools want to know; see docs/firmware.md");
  package.add_option("model", held->options.model, "ONNX model")->required();
  package
      .add_option("--as", held->options.form,
                  "What it is for: arduino (compiled for one core), platformio, zephyr, esp-idf, cmsis-pack or files")
      ->required()
      ->check(CLI::IsMember(std::vector<std::string>(package_forms().begin(), package_forms().end())));
  package.add_option("-o,--output", held->options.output, "The folder, whose name gives the library's")->required();
  package.add_option("--package-version", held->options.version, "Version of the library")->capture_default_str();
  package.add_option("--maintainer", held->options.maintainer, "Who looks after it, as in 'Ada <ada@example.com>'")->capture_default_str();
  held->model.add_to(package);
  package.callback([held, &command] {
    command = [held] {
      held->options.compile = held->model.options();
      return package_command(held->options);
    };
  });
}

}  // namespace

void add_commands(CLI::App& app, std::function<int()>& command) {
  add_run(app, command);
  add_bench(app, command);
  add_profile(app, command);
  add_tune(app, command);
  add_info(app, command);
  add_explain(app, command);
  add_bisect(app, command);
  add_verify(app, command);
  add_report(app, command);
  add_package(app, command);
  add_quantize(app, command);
  add_compress(app, command);
  add_reduce(app, command);
  add_serve(app, command);
}

}  // namespace onnxc
