#include "tools/onnxc/commands.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "tools/compress/compress.h"
#include "tools/onnxc/bisect.h"
#include "tools/onnxc/explain.h"
#include "tools/onnxc/info.h"
#include "tools/onnxc/model_options.h"
#include "tools/onnxc/profile.h"
#include "tools/onnxc/report.h"
#include "tools/onnxc/run.h"
#include "tools/onnxc/tune.h"
#include "tools/quantize/quantize.h"

namespace onnxc {
namespace {

/// The options of one subcommand, which live until it runs.
template <class T>
struct Held {
  T options;
  ModelOptions model;
  std::string data, output, json;
};

std::optional<std::filesystem::path> path_or_nothing(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional<std::filesystem::path>(text);
}

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
  CLI::App& explain = *app.add_subcommand(
      "explain", "Say what became of a model: for each step its nodes, its kernel and why that one, and where its values lie");
  auto held = std::make_shared<Held<Explain>>();
  explain.add_option("model", held->options.model, "ONNX model")->required();
  explain.add_option("node", held->options.node, "Only this node, by its name or an output's, or this step, by its number");
  held->model.add_to(explain);
  held->model.add_tune_to(explain);
  explain.callback([held, &command] {
    command = [held] { return explain_command(held->options.model, held->options.node, held->model.options_for(held->options.model)); };
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

/// An option that takes one of these names; without it, `value` stays.
template <class E>
void add_choice(CLI::App& command, const char* option, E& value, const std::vector<std::pair<std::string, E>>& names, const char* help) {
  std::vector<std::string> list;
  std::string usual;
  for (const auto& [name, choice] : names) {
    list.push_back(name);
    if (choice == value) usual = name;
  }
  command.add_option(option, value, help)
      ->transform(CLI::CheckedTransformer(names, CLI::ignore_case).description(""))
      ->type_name(fmt::format("{{{}}}", fmt::join(list, ",")))
      ->default_str(usual);
}

/// Files of a goal, until the command runs.
struct GoalTexts {
  std::string calibration, labels;
  void give(GoalOptions& goal) const {
    goal.calibration = path_or_nothing(calibration);
    goal.labels = path_or_nothing(labels);
  }
};

void add_samples(CLI::App& command, GoalTexts& texts, const std::string& use) {
  command.add_option("--calibration", texts.calibration,
                     "Samples of what the model will see, a hundred or so: a folder with test_data_set_N or with .pb files, FILE.npz with "
                     "an array for each input, or FILE.npy for a model of one input. " +
                         use);
}

/// `what`: what is done until the goal is reached.
void add_goal(CLI::App& command, GoalOptions& goal, GoalTexts& texts, const std::string& what) {
  command
      .add_option("--keep-accuracy", goal.keep_accuracy,
                  what + " at most so many points of accuracy, in percent, are lost; measured on the samples, with --labels")
      ->type_name("PERCENT")
      ->check(CLI::Range(0.0, 100.0));
  command
      .add_option("--keep-cosine", goal.keep_cosine,
                  "The same, until the first output of each sample has this cosine with that of the model as it was: 0.99 for example. "
                  "Needs no labels")
      ->check(CLI::Range(0.0, 1.0));
  command
      .add_option("--labels", texts.labels, "The right class of each sample: integers in an .npy or .npz file, or in a text, one on a line")
      ->type_name("FILE");
}

void add_quantize(CLI::App& app, std::function<int()>& command) {
  struct Quantize {
    QuantizeOptions options;
    ModelOptions model;
    GoalTexts goal;
    std::string report;
  };
  CLI::App& quantize = *app.add_subcommand("quantize",
                                           "Turn a model in floats into one of integers, in standard ONNX that other engines run too; says "
                                           "of each layer how exact it is. See docs/quantising.md");
  auto held = std::make_shared<Quantize>();
  QuantizeOptions& options = held->options;
  quantize.add_option("model", options.model, "ONNX model in f32")->required();
  quantize.add_option("-o,--output", options.output, "The quantised model")->required();
  add_samples(quantize, held->goal, "Required by --format qdq, and makes the others more exact");
  add_choice<QuantizedForm>(
      quantize, "--format", options.form,
      {{"qdq", QuantizedForm::Qdq},
       {"dynamic", QuantizedForm::Dynamic},
       {"weights8", QuantizedForm::Weights8},
       {"weights4", QuantizedForm::Weights4}},
      "qdq (integers throughout, scales from the samples: fastest), dynamic (inputs of layers are quantised as they come: for "
      "transformers), weights8 or "
      "weights4 (smaller weights, arithmetic in floats)");
  add_choice<RangeMethod>(
      quantize, "--method", options.method,
      {{"minmax", RangeMethod::MinMax},
       {"percentile", RangeMethod::Percentile},
       {"entropy", RangeMethod::Entropy},
       {"mse", RangeMethod::Mse}},
      "What of a value's range is kept: minmax (all), percentile (all but the outermost, see --percentile), entropy (where "
      "codes keep most information) or mse "
      "(where the squared error is least)");
  quantize.add_option("--percentile", options.percentile, "How many percent of the numbers --method percentile keeps")
      ->capture_default_str()
      ->check(CLI::Range(50.0, 100.0));
  quantize.add_flag("--per-channel,!--per-tensor", options.per_channel,
                    "A scale of weights for each output channel (the default), or one for each tensor, after equalising layers");
  quantize.add_option("--block-size", options.block, "Weights that share a scale with --format weights4")
      ->capture_default_str()
      ->check(CLI::IsMember({16, 32, 64, 128, 256}));
  add_goal(quantize, options.goal, held->goal, "Put the layers that add most noise back to float until");
  quantize.add_option("--report", held->report, "Write the table of the layers to this file, as JSON")->type_name("FILE");
  held->model.add_to(quantize);
  quantize.callback([held, &command] {
    command = [held] {
      held->options.compile = held->model.options();
      held->goal.give(held->options.goal);
      held->options.report = path_or_nothing(held->report);
      return quantize_command(held->options);
    };
  });
}

void add_compress(CLI::App& app, std::function<int()>& command) {
  struct Compress {
    CompressOptions options;
    ModelOptions model;
    GoalTexts goal;
    std::string report;
  };
  CLI::App& compress = *app.add_subcommand(
      "compress",
      "Turn a model in floats into one with fewer parameters, in standard ONNX: channels are removed throughout, so that shapes shrink, "
      "weights get low ranks, and what is "
      "left is solved anew on samples; nothing is trained. Says of each layer what became of it. See docs/compressing.md");
  auto held = std::make_shared<Compress>();
  CompressOptions& options = held->options;
  compress.add_option("model", options.model, "ONNX model in f32")->required();
  compress.add_option("-o,--output", options.output, "The compressed model")->required();
  add_samples(compress, held->goal, "Required; the more there are, the better: some hundreds for small models");
  compress
      .add_option(
          "--parameters", options.parameters,
          "How many percent of the parameters are left, at most: 50 without a goal. With --keep-accuracy or --keep-cosine: at least, "
          "as few as the goal allows")
      ->type_name("PERCENT")
      ->check(CLI::Range(0.0, 100.0));
  add_goal(compress, options.goal, held->goal, "Remove as many parameters as possible, so that");
  compress.add_flag("!--no-channels", options.channels, "Leave all channels where they are");
  compress.add_flag("!--no-low-rank", options.low_rank, "Do not make two layers of one with two smaller matrices");
  compress
      .add_option("--cluster", options.cluster,
                  "Give the weights of each layer at most so many distinct values, which are stored once: a file of a quarter of the size, "
                  "and with 16 or fewer of an eighth. The compiled code computes with the same floats")
      ->type_name("N")
      ->check(CLI::Range(int64_t{2}, int64_t{256}));
  compress.add_option("--report", held->report, "Write the table of the layers to this file, as JSON")->type_name("FILE");
  compress.footer(
      "Examples:\n"
      "  onnxc compress model.onnx --calibration samples.npz --parameters 50 -o small.onnx          half of the parameters\n"
      "  onnxc compress model.onnx --calibration images.npy --keep-accuracy 1 --labels labels.txt -o small.onnx\n"
      "                                                                                             as few as lose a point of accuracy\n"
      "  onnxc compress model.onnx --calibration DIR --no-channels --no-low-rank --cluster 16 -o small.onnx\n"
      "                                                                                             a file of an eighth");
  held->model.add_to(compress);
  compress.callback([held, &command] {
    command = [held] {
      held->options.compile = held->model.options();
      held->goal.give(held->options.goal);
      held->options.report = path_or_nothing(held->report);
      return compress_command(held->options);
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

}  // namespace

void add_commands(CLI::App& app, std::function<int()>& command) {
  add_run(app, command);
  add_bench(app, command);
  add_profile(app, command);
  add_tune(app, command);
  add_info(app, command);
  add_explain(app, command);
  add_bisect(app, command);
  add_report(app, command);
  add_quantize(app, command);
  add_compress(app, command);
}

}  // namespace onnxc
