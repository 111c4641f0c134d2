#include "tools/calibration/model_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>

#include "compiler/support/error_codes.h"
#include "tools/calibration/progress.h"

namespace onnxc {
namespace {

std::set<std::string> inputs_among(const std::set<std::string>& names, const ModelSummary& model) {
  std::set<std::string> inputs;
  for (const std::string& name : names) {
    if (model.find_input(name) >= 0) inputs.insert(name);
  }
  return inputs;
}

CompileOptions with_taps(CompileOptions options, const std::set<std::string>& watched, const std::set<std::string>& inputs) {
  options.taps.clear();
  std::ranges::set_difference(watched, inputs, std::back_inserter(options.taps));
  return options;
}

}  // namespace

ModelRunner::ModelRunner(const std::filesystem::path& model, const CompileOptions& options, const std::set<std::string>& watched)
    : model_(model),
      summary_(summarize_model(model)),
      watched_inputs_(inputs_among(watched, summary_)),
      options_(with_taps(options, watched, watched_inputs_)),
      compiled_(compile_and_load(model, options_)),
      team_(options_.threads) {}

ModelRunner::Values ModelRunner::run(const Samples& samples, std::size_t sample) const {
  const onnxc_model& unit = *compiled_.model;
  const DataSet data = samples.at(sample);
  Values values;
  for (const std::string& name : watched_inputs_) {
    const auto& given = data.inputs[static_cast<std::size_t>(summary_.find_input(name))];
    if (given && given->kind == ValueKind::Tensor) values.emplace(name, given->tensor);
  }
  try {
    ModelCall call(unit, feeds(unit, summary_, data), team_.executor());
    if (call.run() != 0) throw Error(ErrorCode::RunRefused, call.message());
    for (int32_t i = 0; i < unit.output_count; ++i) {
      HostValue value = call.output(i);
      if (value.kind == ValueKind::Tensor) values.emplace(unit.outputs[i].name, std::move(value.tensor));
    }
  } catch (const Error& error) {
    const Diagnostic& first = error.diagnostics().front();
    throw Error(first.code, fmt::format("{}: {}", samples.name(sample), first.text()));
  }
  return values;
}

void ModelRunner::run(const Samples& samples, const std::string& what, const std::function<void(std::size_t, const Values&)>& see) const {
  Progress progress(what, samples.size());
  for (std::size_t k = 0; k < samples.size(); ++k) {
    see(k, run(samples, k));
    progress.step();
  }
}

double ModelRunner::nanoseconds(const Samples& samples, std::size_t sample, int calls) const {
  const DataSet data = samples.at(sample);
  ModelCall call(*compiled_.model, feeds(*compiled_.model, summary_, data), team_.executor());
  double least = HUGE_VAL;
  for (int i = 0; i < calls; ++i) {
    const auto start = std::chrono::steady_clock::now();
    if (call.run() != 0) throw Error(ErrorCode::RunRefused, fmt::format("{}: {}", samples.name(sample), call.message()));
    least = std::min(least, std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count());
  }
  return least;
}

std::string ModelRunner::first_output() const {
  ONNXC_CHECK(compiled_.model->output_count > 0, "a model has an output");
  return compiled_.model->outputs[0].name;
}

}  // namespace onnxc
