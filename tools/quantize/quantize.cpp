// The stages: prepare the network in floats; run the samples through it once, for the ranges of its values and the moments of its layers' inputs; round weights;
// choose what becomes bytes; write. With --keep-accuracy the last two are repeated with fewer layers. What is measured of the result is measured by running it.
#include "tools/quantize/quantize.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "tools/calibration/accuracy.h"
#include "tools/calibration/progress.h"
#include "tools/driver/files.h"
#include "tools/driver/temporary_folder.h"
#include "tools/quantize/layer_report.h"
#include "tools/quantize/prepare.h"
#include "tools/quantize/round_layers.h"

namespace onnxc {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kOpset = 13, kOpsetOfNibbles = 21;  ///< that have scales along an axis, and weights of 4 bits with scales of blocks
constexpr std::size_t kJudged = 8, kCompared = 64;    ///< samples that signal to noise is measured on, and cosines

Types infer_types(const fs::path& model, CompileOptions options) {
  Types types;
  options.stop_after = "infer_shapes";
  options.watch = [&](const std::string& pass, const Graph& graph) {
    if (pass != "infer_shapes") return;
    for (const Value& value : graph.values) types.emplace(value.name, value.type);
  };
  compile_model(model, options);
  return types;
}

double cosine(const TensorData& a, const TensorData& b) {
  const auto x = to_doubles(a), y = to_doubles(b);
  double xy = 0, xx = 0, yy = 0;
  for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
    xy += x[i] * y[i];
    xx += x[i] * x[i];
    yy += y[i] * y[i];
  }
  return xx == yy && xx == 0 ? 1 : xy / std::sqrt(std::max(xx * yy, 1e-300));
}

class Quantizer {
 public:
  explicit Quantizer(const QuantizeOptions& options)
      : options_(options), float_path_(folder_.path() / "float.onnx"), result_path_(folder_.path() / "quantised.onnx") {}

  int run() {
    check_options();
    prepare();
    std::vector<Moments> moments;
    if (options_.calibration) {
      read_samples();
      runner_.emplace(float_path_, options_.compile, values_to_watch(network_, *index_));
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
    if ((options_.keep_accuracy || options_.keep_cosine) && take_back(rows)) rows = judge();
    report(rows);
    return 0;
  }

 private:
  void check_options() const {
    const fs::path folder = options_.output.parent_path();  // long work shall not end with that error
    if (!folder.empty() && !fs::is_directory(folder))
      throw Error(ErrorKind::Io,
                  fmt::format("{} cannot be written: the folder {} does not exist", options_.output.string(), folder.string()));
    if (options_.form == QuantizedForm::Qdq && !options_.calibration)
      throw Error(
          ErrorKind::Usage, "--calibration is missing",
          "give samples of the model's inputs: a folder, an .npz or an .npy file; or choose --format dynamic or weights8, which need none");
    if (options_.keep_accuracy.has_value() != options_.labels.has_value())
      throw Error(ErrorKind::Usage, "--keep-accuracy and --labels need each other");
    if (options_.keep_accuracy && options_.keep_cosine) throw Error(ErrorKind::Usage, "--keep-accuracy or --keep-cosine, not both");
    if ((options_.keep_accuracy || options_.keep_cosine) && !options_.calibration)
      throw Error(ErrorKind::Usage, "--keep-accuracy and --keep-cosine need --calibration: they are measured on its samples");
  }

  /// Into `network_` and its file. Cross-layer equalisation is for one scale for all channels: with a scale for each there is nothing to gain in weights, and
  /// activations would get worse.
  void prepare() {
    infer_types(options_.model, options_.compile);  // the compiler checks the model before anything of it is believed
    onnx::ModelProto& model = network_.model;
    model = read_editable_model(options_.model);
    refuse_quantised(model.graph());
    const bool is_early = model.ir_version() < 4;
    raise_opset(model, options_.form == QuantizedForm::Weights4 ? kOpsetOfNibbles : kOpset);
    drop_default_inputs(is_early);
    move_constants(*model.mutable_graph());
    folded_ = fold_batch_norms(*model.mutable_graph());
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

  /// Before IR version 4 every initialiser is listed as an input, and means a constant all the same.
  void drop_default_inputs(bool is_early) {
    onnx::GraphProto& graph = *network_.model.mutable_graph();
    std::set<std::string> initial;
    for (const auto& tensor : graph.initializer()) initial.insert(tensor.name());
    for (int i = graph.input_size(); i-- > 0;) {
      if (!initial.contains(graph.input(i).name())) continue;
      if (!is_early) say(fmt::format("input '{}' has an initialiser: it is a constant of the result", one_line(graph.input(i).name())));
      graph.mutable_input()->DeleteSubrange(i, 1);
    }
  }

  [[noreturn]] void refuse() const {
    std::string why = "it has no Conv, Gemm, MatMul or table with constant weights";
    for (const Layer& layer : network_.layers) why = fmt::format("{}: {}", layer.name, layer.kept);
    throw Error(ErrorKind::Unsupported, fmt::format("no layer can be quantised; {}", why));
  }

  void read_samples() {
    summary_ = summarize_model(float_path_);
    samples_ = Samples::read(*options_.calibration, summary_, read_model(float_path_, options_.compile).graph);
    if (options_.labels) labels_ = read_labels(*options_.labels);
    say(fmt::format("{} samples from {}", samples_->size(), options_.calibration->string()));
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

  /// What --keep-accuracy or --keep-cosine asks for, measured on the samples: of a model, the least that will do, and in words.
  struct Goal {
    std::function<double(const fs::path& model)> measure;
    double least;
    std::string unit;
  };

  Goal accuracy_goal() {
    const auto measure = [this](const fs::path& model) {
      return measure_accuracy(ModelRunner(model, options_.compile), *samples_, labels_, "accuracy").percent();
    };
    in_floats_ = measure(float_path_);
    return {measure, in_floats_ - *options_.keep_accuracy - 1e-9, "% right"};
  }

  Goal cosine_goal() {
    std::vector<TensorData> exact;
    const std::string output = runner_->first_output();
    const std::size_t count = std::min(samples_->size(), kCompared);
    for (std::size_t k = 0; k < count; ++k) {
      const ModelRunner::Values values = runner_->run(*samples_, k);
      if (!values.contains(output) || !is_float(values.at(output).type))
        throw Error(ErrorKind::Unsupported, fmt::format("--keep-cosine: the first output, '{}', is no tensor of floats", output));
      exact.push_back(values.at(output));
    }
    const auto measure = [this, exact = std::move(exact), output](const fs::path& model) {
      const ModelRunner runner(model, options_.compile);
      double least = 1;
      for (std::size_t k = 0; k < exact.size(); ++k) least = std::min(least, cosine(exact[k], runner.run(*samples_, k).at(output)));
      return least;
    };
    in_floats_ = 1;
    return {measure, *options_.keep_cosine, "is the least cosine"};
  }

  /// Layers go back to float, in the order of how much of the noise at their output is their own: 1, 2, 4, … of them until the goal is reached, then as few as
  /// will do. Whether any went back.
  bool take_back(const std::vector<LayerRow>& rows) {
    const Goal goal = options_.keep_accuracy ? accuracy_goal() : cosine_goal();
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
      reached_ = goal.measure(result_path_);
      say(fmt::format("{:.4g} {} with {} layer{} back in float; {:.4g} will do", *reached_, goal.unit, count, count == 1 ? "" : "s",
                      goal.least));
      return *reached_ >= goal.least;
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
    std::vector<double> signal(plan_.layers.size()), noise(plan_.layers.size());
    if (samples_) {
      std::set<std::string> outputs;
      for (const Layer& layer : plan_.layers) {
        if (layer.multiplies()) outputs.insert(layer.output);
      }
      const ModelRunner quantised(result_path_, options_.compile, outputs);
      const std::size_t count = std::min(samples_->size(), kJudged);
      Progress progress("signal to noise", count);
      for (std::size_t k = 0; k < count; ++k, progress.step()) {
        const ModelRunner::Values exact = runner_->run(*samples_, k), rounded = quantised.run(*samples_, k);
        for (std::size_t l = 0; l < plan_.layers.size(); ++l) {
          const auto e = exact.find(plan_.layers[l].output), r = rounded.find(plan_.layers[l].output);
          if (e == exact.end() || r == rounded.end() || e->second.bytes.size() != r->second.bytes.size()) continue;
          const auto a = e->second.as<float>(), b = r->second.as<float>();
          for (std::size_t i = 0; i < a.size(); ++i) {
            const double x = static_cast<double>(a[i]), d = x - static_cast<double>(b[i]);
            signal[l] += x * x;
            noise[l] += d * d;
          }
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
        if (signal[l] > 0) row.decibels = noise[l] > 0 ? 10 * std::log10(signal[l] / noise[l]) : HUGE_VAL;
      }
      rows.push_back(std::move(row));
    }
    return rows;
  }

  void report(const std::vector<LayerRow>& rows) {
    const auto before = fs::file_size(options_.model), after = fs::file_size(result_path_);
    write_file(options_.output, read_file(result_path_));
    print_layers(rows);
    const auto quantised = std::ranges::count_if(plan_.layers, &Layer::has_weights);
    std::string line =
        fmt::format("{}: {} of {} layers quantised, {} bytes instead of {} ({:.1f} % less)", options_.output.string(), quantised,
                    rows.size(), after, before, 100 * (1 - static_cast<double>(after) / static_cast<double>(before)));
    if (folded_ > 0) line += fmt::format(", {} BatchNormalization folded", folded_);
    if (equalised_ > 0) line += fmt::format(", {} pairs of layers equalised", equalised_);
    if (reached_ && options_.keep_accuracy) line += fmt::format(", accuracy {:.2f} % instead of {:.2f} %", *reached_, in_floats_);
    if (reached_ && options_.keep_cosine) line += fmt::format(", least cosine {:.4f}", *reached_);
    fmt::print("{}\n", line);
    if (!options_.report) return;
    nlohmann::ordered_json json{
        {"model", options_.model.string()}, {"output", options_.output.string()}, {"bytes_before", before}, {"bytes", after}};
    if (reached_) json[options_.keep_accuracy ? "accuracy" : "least_cosine"] = {{"float", in_floats_}, {"quantised", *reached_}};
    json["layers"] = json_of(rows);
    write_file(*options_.report, json.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n');
  }

  const QuantizeOptions& options_;
  TemporaryFolder folder_;
  fs::path float_path_, result_path_;
  Network network_;
  std::optional<GraphIndex> index_;
  int folded_ = 0, equalised_ = 0;
  ModelSummary summary_;
  std::optional<Samples> samples_;
  std::vector<int64_t> labels_;
  std::optional<ModelRunner> runner_;
  Plan plan_;
  double in_floats_ = 0;           ///< what the goal measures of the model in floats
  std::optional<double> reached_;  ///< and of the result
};

}  // namespace

int quantize_command(const QuantizeOptions& options) { return Quantizer(options).run(); }

}  // namespace onnxc
