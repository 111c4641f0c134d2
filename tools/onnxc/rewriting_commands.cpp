#include "tools/onnxc/rewriting_commands.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "tools/compress/compress.h"
#include "tools/onnxc/at_least.h"
#include "tools/onnxc/commands.h"
#include "tools/onnxc/model_options.h"
#include "tools/quantize/quantize.h"
#include "tools/reduce/reduce.h"

namespace onnxc {
namespace {

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

}  // namespace

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

void add_reduce(CLI::App& app, std::function<int()>& command) {
  CLI::App& reduce = *app.add_subcommand(
      "reduce",
      "Make the smallest model that still shows something: a wrong answer, a refusal, a crash, a slow step. See docs/reducing.md");
  auto options = std::make_shared<ReduceOptions>();
  reduce.add_option("model", options->model, "ONNX model")->required();
  reduce.add_option("-o,--output", options->output, "The smallest model so far; it is replaced whenever a smaller one is found")
      ->required();
  reduce
      .add_option(
          "--check", options->check,
          "A command of the shell whose exit status is 0 as long as a model is of interest. {} in it stands for the model's path, which "
          "otherwise comes at the end")
      ->type_name("COMMAND")
      ->required();
  reduce
      .add_option("--seconds", options->seconds,
                  "End after so many seconds, with the smallest model so far; 0: when nothing is left to try")
      ->capture_default_str()
      ->check(at_least(0));
  reduce.add_option("--check-seconds", options->check_seconds, "How long the command may take for one model")
      ->capture_default_str()
      ->check(above_zero());
  reduce.add_option("--jobs", options->jobs, "Models that are checked at once; the result is the same")
      ->capture_default_str()
      ->check(CLI::Range(1, 256));
  reduce.footer(
      "Examples:\n"
      "  onnxc reduce model.onnx --check '! onnxc run {}' -o small.onnx                                 a wrong answer\n"
      "  onnxc reduce model.onnx --check 'onnxc {} -o /tmp/x.cpp 2>&1 | grep -q \"has no rank\"' -o small.onnx   a refusal, by its text");
  reduce.callback([options, &command] { command = [options] { return reduce_command(*options); }; });
}

}  // namespace onnxc
