#include "tools/calibration/model_runner.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/calibration/progress.h"

namespace onnxc {
namespace {

CompileOptions with_taps(CompileOptions options, const std::set<std::string>& watched) {
  options.taps.assign(watched.begin(), watched.end());
  return options;
}

}  // namespace

ModelRunner::ModelRunner(const std::filesystem::path& model, const CompileOptions& options, const std::set<std::string>& watched)
    : model_(model),
      options_(with_taps(options, watched)),
      compiled_(compile_and_load(model, options_)),
      summary_(summarize_model(model)),
      team_(options_.threads) {}

void ModelRunner::run(const Samples& samples, const std::string& what, const std::function<void(std::size_t, const Values&)>& see) const {
  run(samples, samples.size(), what, see);
}

void ModelRunner::run(const Samples& samples, std::size_t most, const std::string& what,
                      const std::function<void(std::size_t, const Values&)>& see) const {
  const onnxc_model& unit = *compiled_.model;
  const std::size_t count = std::min(most, samples.size());
  Progress progress(what, count);
  for (std::size_t k = 0; k < count; ++k) {
    const DataSet data = samples.at(k);
    Values values;
    try {
      ModelCall call(unit, feeds(unit, summary_, data), team_.executor());
      if (call.run() != 0) throw Error(ErrorKind::Invalid, call.message());
      for (int32_t i = 0; i < unit.output_count; ++i) {
        HostValue value = call.output(i);
        if (value.kind == ValueKind::Tensor) values.emplace(unit.outputs[i].name, std::move(value.tensor));
      }
    } catch (const Error& error) {
      throw Error(error.kind(), fmt::format("{}: {}", samples.name(k), error.diagnostics().front().text()));
    }
    see(k, values);
    progress.step();
  }
}

std::string ModelRunner::first_output() const {
  ONNXC_CHECK(compiled_.model->output_count > 0, "a model has an output");
  return compiled_.model->outputs[0].name;
}

}  // namespace onnxc
