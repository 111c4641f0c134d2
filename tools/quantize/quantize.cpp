// The stages: prepare the network in floats; run the samples through it once, for the ranges of its values and the moments of its layers' inputs; round weights;
// choose what becomes bytes; write. With --keep-accuracy the last two are repeated with fewer layers. What is measured of the result is measured by running it.
#include "tools/quantize/quantize.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "compiler/support/error_codes.h"
#include "tools/calibration/goal.h"
#include "tools/calibration/progress.h"
#include "tools/calibration/signal_to_noise.h"
#include "tools/driver/files.h"
#include "tools/driver/json_text.h"
#include "tools/driver/temporary_folder.h"
#include "tools/model/prepare.h"
#include "tools/quantize/equalise.h"
#include "tools/quantize/layer_report.h"
#include "tools/quantize/round_layers.h"

namespace onnxc {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kOpsetOfAxes = 13;           ///< that has scales along an axis
constexpr int64_t kOpsetOfScaledNibbles = 21;  ///< that has weights of 4 bits with scales of blocks
constexpr std::size_t kJudgedSamples = 8;      ///< that signal to noise is measured on

class Quantizer {
 public:
  explicit Quantizer(const QuantizeOptions& options)
      : options_(options), float_path_(folder_.path() / "float.onnx"), result_path_(folder_.path() / "quantised.onnx") {}

  int run() {
    check_options();
    prepare();
    std::vector<Moments> moments;
    if (options_.goal.calibration) {
      read_samples();
      runner_.emplace(float_path_, options_.compile, values_to_watch(network_, *index_));
      if (options_.goal.is_stated()) goal_.emplace(options_.goal, *runner_, *samples_);
      moments = calibrate(network_, *runner_, *samples_);
      drop_degenerate_layers();
    }
    RoundingOptions others{8, options_.per_channel, 0}, products = others;
    if (options_.form == QuantizedForm::Weights4) products = {4, true, options_.block};
    round_layers(network_, *index_, moments, products, others);
    moments.clear();
    if (std::ranges::none_of(network_.layers, &Layer::has_weights)) refuse();
    write({});
    std::vector<LayerRow> rows = judge();
    if (options_.goal.is_stated() && take_back(rows)) rows = judge();
    report(rows);
    return 0;
  }

 private:
  void check_options() const {
    check_folder_of(options_.output);  // long work shall not end with that error
    if (options_.form == QuantizedForm::Qdq && !options_.goal.calibration)
      throw Error(
          ErrorCode::MissingOption, "--calibration is missing",
          "give samples of the model's inputs: a folder, an .npz or an .npy file; or choose --format dynamic or weights8, which need none");
    check(options_.goal);
  }

  /// Into `network_` and its file. Cross-layer equalisation is for one scale for all channels: with a scale for each there is nothing to gain in weights, and
  /// activations would get worse.
  void prepare() {
    PreparedModel prepared =
        prepare_model(options_.model, options_.form == QuantizedForm::Weights4 ? kOpsetOfScaledNibbles : kOpsetOfAxes, options_.compile);
    folded_ = prepared.folded;
    network_.model = std::move(prepared.model);
    onnx::ModelProto& model = network_.model;
    write_model(model, float_path_);
    network_.types = infer_types(float_path_, options_.compile);
    if (!options_.per_channel && options_.form != QuantizedForm::Weights4) {
      equalised_ = equalise_layers(*model.mutable_graph(), network_.types);
      if (equalised_ > 0) write_model(model, float_path_);
    }
    index_.emplace(model.graph());
    network_.layers = find_layers(model.graph(), *index_, network_.types);
    if (std::ranges::none_of(network_.layers, &Layer::has_weights)) refuse();
  }

  [[noreturn]] void refuse() const {
    std::string why = "it has no Conv, Gemm, MatMul or table with constant weights";
    for (const Layer& layer : network_.layers) why = fmt::format("{}: {}", layer.name, layer.kept);
    throw Error(ErrorCode::NothingToRewrite, fmt::format("no layer can be quantised; {}", why));
  }

  void read_samples() {
    summary_ = summarize_model(float_path_);
    samples_ = Samples::read(*options_.goal.calibration, summary_, read_model(float_path_, options_.compile).graph);
    say(fmt::format("{} samples from {}", samples_->size(), options_.goal.calibration->string()));
  }

  void drop_degenerate_layers() {
    for (Layer& layer : network_.layers) {
      const auto seen = network_.seen.find(layer.output);
      if (!layer.multiplies() || seen == network_.seen.end()) continue;
      if (!seen->second.is_finite()) layer.kept = "its output holds NaN or infinity on the calibration data";
      else if (seen->second.low() == seen->second.high())
        layer.kept = fmt::format("its output is always {:g} on the calibration data", seen->second.low());
    }
  }

  void write(const std::map<std::size_t, std::string>& floats) {
    const bool is_qdq = options_.form == QuantizedForm::Qdq;
    plan_ = is_qdq ? plan_bytes(network_, *index_, {options_.method, options_.percentile}, floats) : plan_weights(network_, floats);
    switch (options_.form) {
      case QuantizedForm::Qdq: write_model(write_qdq(network_, plan_), result_path_); break;
      case QuantizedForm::Dynamic: write_model(write_dynamic(network_, plan_), result_path_); break;
      case QuantizedForm::Weights8:
      case QuantizedForm::Weights4: write_model(write_weights(network_, plan_), result_path_); break;
    }
  }

  /// Layers go back to float, in the order of how much of the noise at their output is their own: 1, 2, 4, … of them until the goal is reached, then as few as
  /// will do. Whether any went back.
  bool take_back(const std::vector<LayerRow>& rows) {
    std::vector<std::size_t> worst;
    for (std::size_t l = 0; l < plan_.layers.size(); ++l) {
      if (plan_.layers[l].has_weights()) worst.push_back(l);
    }
    std::ranges::stable_sort(worst, {},
                             [&](std::size_t l) { return rows[l].own_decibels - (std::isnan(rows[l].decibels) ? 0 : rows[l].decibels); });
    const auto holds = [&](std::size_t count) {
      std::map<std::size_t, std::string> floats;
      for (std::size_t i = 0; i < count; ++i) floats[worst[i]] = fmt::format("it adds noise: number {} of those taken back", i + 1);
      write(floats);
      reached_ = goal_->measure(ModelRunner(result_path_, options_.compile));
      say(fmt::format("{:.4g} {} with {} layer{} back in float; {:.4g} will do", *reached_, goal_->unit(), count, count == 1 ? "" : "s",
                      goal_->least()));
      return goal_->holds(*reached_);
    };
    std::size_t too_few = 0, enough = 0, written = 0;
    while (written = enough, !holds(enough)) {
      if (enough == worst.size()) break;  // all in float: nothing is left to take back
      too_few = enough + 1;
      enough = std::min(worst.size(), std::max<std::size_t>(1, 2 * enough));
    }
    while (too_few < enough) {
      written = (too_few + enough) / 2;
      if (holds(written)) enough = written;
      else too_few = written + 1;
    }
    if (written != enough) holds(enough);
    return enough > 0;
  }

  std::vector<LayerRow> judge() const {
    std::vector<SignalToNoise> ratios(plan_.layers.size());
    if (samples_) {
      std::set<std::string> outputs;
      for (const Layer& layer : plan_.layers) {
        if (layer.multiplies()) outputs.insert(layer.output);
      }
      const ModelRunner quantised(result_path_, options_.compile, outputs);
      const std::size_t count = std::min(samples_->size(), kJudgedSamples);
      Progress progress("signal to noise", count);
      for (std::size_t k = 0; k < count; ++k, progress.step()) {
        const ModelRunner::Values exact = runner_->run(*samples_, k), rounded = quantised.run(*samples_, k);
        for (std::size_t l = 0; l < plan_.layers.size(); ++l) {
          const auto e = exact.find(plan_.layers[l].output), r = rounded.find(plan_.layers[l].output);
          if (e == exact.end() || r == rounded.end() || e->second.bytes.size() != r->second.bytes.size()) continue;
          const auto a = e->second.as<float>(), b = r->second.as<float>();
          for (std::size_t i = 0; i < a.size(); ++i) ratios[l].add(static_cast<double>(a[i]), static_cast<double>(b[i]));
        }
      }
    }
    std::vector<LayerRow> rows;
    for (std::size_t l = 0; l < plan_.layers.size(); ++l) {
      const Layer& layer = plan_.layers[l];
      LayerRow row{layer.name, {}, "float", std::nan(""), std::nan(""), layer.kept};
      if (const onnx::TensorProto* weight = layer.weight.empty() ? nullptr : index_->initialiser(layer.weight))
        row.weights = fmt::format("{}", fmt::join(weight->dims(), "x"));
      if (layer.has_weights()) {
        row.form = network_.weights[l]->weights.block != 0 ? "4 bits" : "8 bits";
        row.own_decibels = own_decibels(network_, plan_, l);
        if (ratios[l].signal > 0) row.decibels = ratios[l].decibels();
      }
      rows.push_back(std::move(row));
    }
    return rows;
  }

  void report(const std::vector<LayerRow>& rows) {
    const auto before = fs::file_size(options_.model), after = fs::file_size(result_path_);
    NewFiles files;
    files.add(options_.output, read_file(result_path_));
    if (options_.report) files.add(*options_.report, json_text(report_json(rows, before, after)));
    print_layers(rows);
    const auto quantised = std::ranges::count_if(plan_.layers, &Layer::has_weights);
    std::string line =
        fmt::format("{}: {} of {} layers quantised, {} bytes instead of {} ({:.1f} % less)", options_.output.string(), quantised,
                    rows.size(), after, before, 100 * (1 - static_cast<double>(after) / static_cast<double>(before)));
    if (folded_ > 0) line += fmt::format(", {} BatchNormalization folded", folded_);
    if (equalised_ > 0) line += fmt::format(", {} pairs of layers equalised", equalised_);
    if (reached_) line += ", " + goal_->text(*reached_);
    files.commit();
    fmt::print("{}\n", line);
  }

  nlohmann::ordered_json report_json(const std::vector<LayerRow>& rows, uintmax_t before, uintmax_t after) const {
    nlohmann::ordered_json json{
        {"model", options_.model.string()}, {"output", options_.output.string()}, {"bytes_before", before}, {"bytes", after}};
    if (reached_) json[goal_->key()] = {{"float", goal_->before()}, {"quantised", *reached_}};
    json["layers"] = json_of(rows);
    return json;
  }

  const QuantizeOptions& options_;
  TemporaryFolder folder_;
  fs::path float_path_, result_path_;
  Network network_;
  std::optional<GraphIndex> index_;
  int folded_ = 0, equalised_ = 0;
  ModelSummary summary_;
  std::optional<Samples> samples_;
  std::optional<ModelRunner> runner_;
  QuantisedPlan plan_;
  std::optional<Goal> goal_;
  std::optional<double> reached_;  ///< what it measures of the result
};

}  // namespace

int quantize_command(const QuantizeOptions& options) { return Quantizer(options).run(); }

}  // namespace onnxc
