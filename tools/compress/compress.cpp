// The stages: prepare the network in floats; find which channels belong together; run the samples through it once, for the moments of its layers' inputs and outputs;
// plan the order in which parameters go; rebuild the network after so many steps as the budget asks for, or, with --keep-accuracy, as the goal allows. What is measured
// of the result is measured by running it.
#include "tools/compress/compress.h"
#include "compiler/support/error_codes.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "tools/calibration/progress.h"
#include "tools/calibration/signal_to_noise.h"
#include "tools/compress/cluster.h"
#include "tools/compress/parameter_count.h"
#include "tools/compress/rebuild.h"
#include "tools/compress/size_report.h"
#include "tools/driver/files.h"
#include "tools/driver/json_text.h"
#include "tools/driver/temporary_folder.h"
#include "tools/model/prepare.h"

namespace onnxc {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kOpset = 13, kOpsetOfNibbles = 21;  ///< whose Squeeze, Split and so on have one form; that has integers of 4 bits
constexpr double kUsual = 50, kLeastWithGoal = 2;     ///< percent of parameters
constexpr int64_t kPartOfChoice = 4;                  ///< of the parameters are left where plans are compared for a goal
constexpr double kFineness = 0.01;                    ///< of the parameters: how near to the least that a goal allows the search gets
constexpr std::size_t kJudged = 64;                   ///< samples that signal to noise is measured on
constexpr int kTimedRounds = 9, kCalls = 5;           ///< of measuring time
constexpr auto kLongest = std::chrono::seconds(3);    ///< that measuring goes on
constexpr int64_t kLeastClustered = 256;              ///< weights: below, a table saves nothing

class Compressor {
 public:
  explicit Compressor(const CompressOptions& options)
      : options_(options), float_path_(folder_.path() / "float.onnx"), result_path_(folder_.path() / "compressed.onnx") {}

  int run() {
    check_options();
    prepare();
    read_samples();
    runner_.emplace(float_path_, options_.compile, values_to_observe(network_));
    if (options_.goal.is_stated()) goal_.emplace(options_.goal, *runner_, *samples_);
    observe(network_, *index_, *runner_, *samples_);
    const double percent = options_.parameters.value_or(options_.goal.is_stated() ? kLeastWithGoal : kUsual);
    const auto wanted = static_cast<int64_t>(percent / 100 * static_cast<double>(parameters_before_));
    choose(plan_compression(network_, *index_, {options_.channels, options_.low_rank}, wanted),
           goal_ ? std::max(wanted, parameters_before_ / kPartOfChoice) : wanted);
    if (goal_) search();
    else meet(wanted);
    report();
    return 0;
  }

 private:
  void check_options() const {
    check_folder_of(options_.output);  // long work shall not end with that error
    if (!options_.goal.calibration)
      throw Error(ErrorCode::MissingOption, "--calibration is missing",
                  "give samples of the model's inputs: a folder, an .npz or an .npy file");
    if (!options_.channels && !options_.low_rank && options_.cluster == 0)
      throw Error(ErrorCode::OptionConflict, "--no-channels and --no-low-rank leave nothing to do",
                  "leave one of them out, or give --cluster");
    check(options_.goal);
  }

  void prepare() {
    PreparedModel prepared =
        prepare_model(options_.model, options_.cluster > 0 && options_.cluster <= 16 ? kOpsetOfNibbles : kOpset, options_.compile);
    folded_ = prepared.folded;
    parameters_before_ = count_parameters(read_editable_model(options_.model));
    network_.model = std::move(prepared.model);
    write_model(network_.model, float_path_);
    network_.types = infer_types(float_path_, options_.compile);
    index_.emplace(network_.model.graph());
    network_.layers = find_layers(network_.model.graph(), *index_, network_.types);
    if (std::ranges::none_of(network_.layers, &Layer::multiplies)) {
      std::string why = "it has no Conv, Gemm or MatMul with constant weights";
      for (const Layer& layer : network_.layers) {
        if (!layer.kept.empty()) why = fmt::format("{}: {}", layer.name, layer.kept);
      }
      throw Error(ErrorCode::NothingToRewrite, fmt::format("no layer can be compressed; {}", why));
    }
    network_.channels = find_channel_sets(network_.model.graph(), *index_, network_.types, network_.layers);
  }

  void read_samples() {
    summary_ = summarize_model(float_path_);
    samples_ = Samples::read(*options_.goal.calibration, summary_, read_model(float_path_, options_.compile).graph);
    say(fmt::format("{} samples from {}", samples_->size(), options_.goal.calibration->string()));
  }

  /// Writes the network after so many steps of the plan.
  void write(std::size_t steps) {
    decisions_ = decisions_of(plan_, steps, network_);
    onnx::ModelProto model = rebuild(network_, *index_, decisions_);
    parameters_ = count_parameters(model);
    write_model(model, result_path_);
    if (options_.cluster > 0) cluster_all(std::move(model));
  }

  /// The weights of each layer become few values. What reads a weight often, or large inputs with it, makes it important.
  void cluster_all(onnx::ModelProto model) {
    FloatNetwork small;
    small.model = std::move(model);
    small.types = infer_types(result_path_, options_.compile);
    onnx::GraphProto& graph = *small.model.mutable_graph();
    const GraphIndex index(graph);
    GraphIndex names(graph);
    small.layers = find_layers(graph, index, small.types);
    small.channels.rows.resize(small.layers.size());
    const ModelRunner runner(result_path_, options_.compile, values_to_observe(small));
    observe(small, index, runner, *samples_);
    std::vector<std::pair<std::string, Clusters>> clustered;
    for (std::size_t l = 0; l < small.layers.size(); ++l) {
      const Layer& layer = small.layers[l];
      if (!layer.multiplies() || !index.has_one_reader(layer.weight) ||
          to_tensor(*index.initialiser(layer.weight)).count() < kLeastClustered)
        continue;
      const WeightMatrix weights = weight_matrix(layer, small.node(l), to_tensor(*index.initialiser(layer.weight)));
      std::vector<float> importance(weights.values.size(), 1.0f);
      for (int64_t r = 0; r < weights.rows && small.is_known(l); ++r) {
        for (int64_t c = 0; c < weights.columns; ++c)
          importance[static_cast<std::size_t>(r * weights.columns + c)] =
              static_cast<float>(small.inputs[l].power(weights.group_of(r), c) + 1e-12);
      }
      Clusters clusters = cluster(weights.values, importance, options_.cluster);
      clusters.indices = in_order_of_weights(clusters.indices, weights.rows, row_axis(layer, small.node(l)));
      clustered.emplace_back(layer.weight, std::move(clusters));
    }
    clustered_ = clustered.size();
    for (const auto& [weight, clusters] : clustered) write_clusters(graph, names, weight, clusters, options_.cluster <= 16);
    write_model(small.model, result_path_);
  }

  /// The plan that, with so many parameters left, leaves the output most like it was.
  void choose(std::vector<Plan> plans, int64_t left) {
    double most = -HUGE_VAL;
    std::size_t best = 0;
    for (std::size_t i = 0; i < plans.size() && plans.size() > 1; ++i) {
      plan_ = plans[i];
      write(steps_for(left));
      const double found = decibels(*runner_, ModelRunner(result_path_, options_.compile));
      if (found > most) most = found, best = i;
    }
    plan_ = std::move(plans[best]);
  }

  /// As few steps as leave so many parameters.
  void meet(int64_t wanted) {
    for (int64_t left = wanted;;) {
      const std::size_t steps = steps_for(left);
      if (planned(steps) > left && (options_.channels || options_.low_rank))
        throw Error(ErrorCode::GoalOutOfReach,
                    fmt::format("{:.4g} % of {} parameters are asked for, and {:.4g} % is the least that can be reached", share(wanted),
                                parameters_before_, share(planned(steps))),
                    remedy());
      write(steps);
      if (parameters_ <= wanted || steps == plan_.size()) return;
      left -= parameters_ - wanted;  // new biases, for example, which the plan does not count
    }
  }
  /// Names what keeps most channels.
  std::string remedy() const {
    std::map<std::string, int> reasons;
    for (const std::string& why : network_.channels.kept) {
      if (!why.empty()) ++reasons[why];
    }
    const auto most = std::ranges::max_element(reasons, {}, [](const auto& entry) { return entry.second; });
    const std::string larger = "give a larger --parameters";
    return most == reasons.end() ? larger : fmt::format("{}; {} channels stay since {}", larger, most->second, most->first);
  }
  /// The fewest that leave at most so many parameters; all, if none do.
  std::size_t steps_for(int64_t left) const {
    std::size_t steps = 0;
    while (steps < plan_.size() && planned(steps) > left) ++steps;
    return steps;
  }
  int64_t planned(std::size_t steps) const { return steps == 0 ? count_parameters(network_.model) : plan_[steps - 1].parameters; }
  double share(int64_t parameters) const {
    return 100 * static_cast<double>(parameters) / static_cast<double>(std::max<int64_t>(1, parameters_before_));
  }

  /// As many steps as the goal allows, by halving the parameters that are in question.
  void search() {
    const auto holds = [&](std::size_t steps) {
      write(steps);
      reached_ = goal_->measure(ModelRunner(result_path_, options_.compile));
      say(fmt::format("{:.4g} {} with {:.3g} % of the parameters; {:.4g} will do", *reached_, goal_->unit(), share(parameters_),
                      goal_->least()));
      return goal_->holds(*reached_);
    };
    if (holds(plan_.size())) return;
    std::size_t good = 0, written = plan_.size();
    int64_t enough = planned(0), too_few = planned(plan_.size());
    while (enough - too_few > static_cast<int64_t>(kFineness * static_cast<double>(parameters_before_))) {
      const int64_t middle = too_few + (enough - too_few) / 2;
      const std::size_t steps = steps_for(middle);
      if (steps == good) break;
      written = steps;
      if (holds(steps)) good = steps, enough = planned(steps);
      else too_few = middle;
    }
    if (written == good || holds(good)) return;
    throw Error(ErrorCode::GoalOutOfReach,
                fmt::format("{:.4g} {} with all parameters{}, and {:.4g} is asked for", *reached_, goal_->unit(),
                            options_.cluster > 0 ? fmt::format(" in {} distinct values", options_.cluster) : "", goal_->least()),
                options_.cluster > 0 ? "give a larger --cluster" : "");
  }

  /// Signal to noise of the first output against the network in floats, in dB; NaN where it has none.
  double decibels(const ModelRunner& before, const ModelRunner& after) const {
    SignalToNoise ratio;
    for (std::size_t k = 0; k < std::min(samples_->size(), kJudged); ++k) {
      const ModelRunner::Values exact = before.run(*samples_, k), found = after.run(*samples_, k);
      const auto e = exact.find(before.first_output()), f = found.find(before.first_output());
      if (e == exact.end() || f == found.end() || !is_float(e->second.type) || e->second.shape != f->second.shape) return std::nan("");
      const std::vector<double> x = to_doubles(e->second), y = to_doubles(f->second);
      for (std::size_t i = 0; i < x.size(); ++i) ratio.add(x[i], y[i]);
    }
    return ratio.decibels();
  }

  void report() {
    const ModelRunner before(float_path_, options_.compile), after(result_path_, options_.compile);
    const double signal_to_noise = decibels(before, after);
    double time_before = HUGE_VAL, time = HUGE_VAL;
    const auto start = std::chrono::steady_clock::now();
    for (int round = 0; round < kTimedRounds && std::chrono::steady_clock::now() - start < kLongest;
         ++round) {  // in turn, so that a disturbance of the machine meets both
      time_before = std::min(time_before, before.nanoseconds(*samples_, 0, kCalls));
      time = std::min(time, after.nanoseconds(*samples_, 0, kCalls));
    }
    const auto bytes_before = fs::file_size(options_.model), bytes = fs::file_size(result_path_);
    NewFiles files;
    files.add(options_.output, read_file(result_path_));
    const std::vector<LayerSize> rows = layer_sizes(network_, *index_, decisions_);
    int64_t macs_before = 0, macs = 0;
    for (const LayerSize& row : rows) macs_before += row.multiply_adds_before, macs += row.multiply_adds;
    if (options_.report) {
      nlohmann::ordered_json json{
          {"model", options_.model.string()},
          {"output", options_.output.string()},
          {"bytes_before", bytes_before},
          {"bytes", bytes},
          {"parameters_before", parameters_before_},
          {"parameters", parameters_},
          {"multiply_adds_before", macs_before},
          {"multiply_adds", macs},
          {"microseconds_before", time_before / 1e3},
          {"microseconds", time / 1e3},
          {"decibels", std::isfinite(signal_to_noise) ? nlohmann::ordered_json(signal_to_noise) : nlohmann::ordered_json()}};
      if (reached_) json[goal_->key()] = {{"before", goal_->before()}, {"after", *reached_}};
      json["layers"] = json_of(rows);
      files.add(*options_.report, json_text(json));
    }
    print_sizes(rows);
    const auto less = [](auto now, auto then) {
      return fmt::format("{:.1f} % less", 100 * (1 - static_cast<double>(now) / std::max(1.0, static_cast<double>(then))));
    };
    fmt::print("{}: {} parameters instead of {} ({}), {} multiply-adds instead of {} ({}), {} bytes instead of {} ({})\n",
               options_.output.string(), parameters_, parameters_before_, less(parameters_, parameters_before_), macs, macs_before,
               less(macs, macs_before), bytes, bytes_before, less(bytes, bytes_before));
    std::string line = fmt::format("  {:.3g} us a call instead of {:.3g}, compiled by onnxc", time / 1e3, time_before / 1e3);
    if (!std::isnan(signal_to_noise)) line += fmt::format("; signal to noise of the first output {:.1f} dB", signal_to_noise);
    if (reached_) line += "; " + goal_->text(*reached_);
    if (folded_ > 0) line += fmt::format("; {} BatchNormalization folded", folded_);
    if (clustered_ > 0) line += fmt::format("; the weights of {} layers have at most {} values each", clustered_, options_.cluster);
    files.commit();
    fmt::print("{}\n", line);
  }

  const CompressOptions& options_;
  TemporaryFolder folder_;
  fs::path float_path_, result_path_;
  FloatNetwork network_;
  std::optional<GraphIndex> index_;
  int folded_ = 0;
  std::size_t clustered_ = 0;
  int64_t parameters_before_ = 0, parameters_ = 0;
  ModelSummary summary_;
  std::optional<Samples> samples_;
  std::optional<ModelRunner> runner_;
  Plan plan_;
  Decisions decisions_;
  std::optional<Goal> goal_;
  std::optional<double> reached_;  ///< what it measures of the result
};

}  // namespace

int compress_command(const CompressOptions& options) { return Compressor(options).run(); }

}  // namespace onnxc
