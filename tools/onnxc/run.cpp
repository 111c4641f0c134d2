#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tools/driver/files.h"
#include "tools/driver/session.h"
#include "tools/onnxc/ended_run.h"
#include "tools/onnxc/run.h"

namespace onnxc {
namespace {

namespace fs = std::filesystem;

/// `min -1.5, max 2, mean 0.1, 3 NaN`
std::string statistics(const HostValue& value) {
  if (value.kind != ValueKind::Tensor) return fmt::format("{} items", value.items.size());
  const TensorData& tensor = value.tensor;
  if (tensor.type == ElementType::String) return fmt::format("{} strings", tensor.strings.size());
  if (tensor.count() == 0) return "no elements";
  double low = std::numeric_limits<double>::infinity(), high = -low, sum = 0;
  int64_t not_numbers = 0, numbers = 0;
  for (double x : to_doubles(tensor)) {
    if (std::isnan(x)) {
      ++not_numbers;
      continue;
    }
    low = std::min(low, x);
    high = std::max(high, x);
    sum += x;
    ++numbers;
  }
  std::string text =
      numbers == 0 ? "no numbers" : fmt::format("min {:.6g}, max {:.6g}, mean {:.6g}", low, high, sum / static_cast<double>(numbers));
  if (not_numbers > 0) text += fmt::format(", {} NaN", not_numbers);
  return text;
}

std::string described_inputs(const onnxc_model& unit, const std::vector<const HostValue*>& inputs) {
  std::vector<std::string> texts;
  for (std::size_t k = 0; k < inputs.size(); ++k) texts.push_back(fmt::format("{} {}", unit.inputs[k].name, describe(*inputs[k])));
  return fmt::format("{}", fmt::join(texts, ", "));
}

/// Runs once and prints each output with its error or its statistics. Returns the number of wrong outputs. Those
/// after the model's own are tapped.
int run_and_judge(const RunOptions& options, const CompiledModel& compiled, int32_t own_outputs,
                  const std::vector<const HostValue*>& inputs, const DataSet* data, const Tolerance& tolerance,
                  const onnxc_executor* executor, const std::optional<fs::path>& output) {
  const onnxc_model& unit = *compiled.model;
  ModelCall call(unit, inputs, executor);
  if (call.run() != 0) throw ended_run(call.message(), options.model, options.compile, inputs);
  if (const std::string stray = call.find_stray_write(); !stray.empty()) throw Error(ErrorKind::Internal, stray);
  if (output) make_folder(*output);
  std::set<std::string> files;
  NewFiles results;
  int wrong = 0;
  for (int32_t k = 0; k < unit.output_count; ++k) {
    const HostValue actual = call.output(k);
    const char* name = unit.outputs[k].name;
    if (output) {
      const std::string own_file = fmt::format("output_{}.pb", k);
      if (k < own_outputs) files.insert(own_file);
      results.add(*output / (k < own_outputs ? own_file : tap_file(name, files)), serialize_value(actual, name));
    }
    const auto at = static_cast<std::size_t>(k);
    const HostValue* expected = data != nullptr && at < data->outputs.size() && data->outputs[at] ? &*data->outputs[at] : nullptr;
    if (expected == nullptr) {
      fmt::print("  {} {}: {}\n", name, describe(actual), statistics(actual));
      continue;
    }
    const Comparison comparison = compare(actual, *expected, tolerance);
    fmt::print("  {} {}: largest error {:.3g}, relative L2 {:.3g}, {} {}\n", name, describe(actual), comparison.largest_error,
               comparison.relative_l2, comparison.within ? "within" : "NOT within", limits(tolerance));
    if (!comparison.within) {
      fmt::print("    {}\n", comparison.reason);
      ++wrong;
    }
  }
  results.commit();
  return wrong;
}

}  // namespace

Tolerance tolerance_for(const RunOptions& options) {
  Tolerance tolerance = read_tolerance(options.model.parent_path(), {.rtol = 1e-3, .atol = 1e-5});
  if (options.rtol || options.atol) tolerance.rel_l2.reset();
  tolerance.rtol = options.rtol.value_or(tolerance.rtol);
  tolerance.atol = options.atol.value_or(tolerance.atol);
  if (options.rel_l2) tolerance.rel_l2 = options.rel_l2;
  return tolerance;
}

std::string limits(const Tolerance& tolerance) {
  if (tolerance.rel_l2) return fmt::format("{:g} in relative L2", *tolerance.rel_l2);
  return fmt::format("{:g} + {:g} |expected|", tolerance.atol, tolerance.rtol);
}

std::string tap_file(const std::string& name, std::set<std::string>& taken) {
  std::string stem = name.substr(0, 200);
  for (char& c : stem) {
    const bool allowed = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' || c == '-' || c == '.';
    if (!allowed) c = '_';
  }
  if (stem.empty() || stem.front() == '.') stem.insert(0, 1, '_');
  std::string file = stem + ".pb";
  for (int i = 2; !taken.insert(file).second; ++i) file = fmt::format("{}_{}.pb", stem, i);
  return file;
}

int run_command(const RunOptions& options) {
  const ModelSummary model = summarize_model(options.model);
  const std::vector<fs::path> sets = data_sets_for(options.model, options.data);
  const CompiledModel compiled = compile_and_load(options.model, options.compile);
  const ThreadTeam team(options.compile.threads);
  const Tolerance tolerance = tolerance_for(options);
  const auto own_outputs = static_cast<int32_t>(model.outputs.size());
  fmt::print("{}: compiled in {:.2f} s, built in {:.2f} s\n", options.model.string(), compiled.compile_seconds, compiled.build_seconds);

  if (sets.empty()) {
    const std::vector<HostValue> made_up = random_inputs(*compiled.model);
    std::vector<const HostValue*> inputs;
    for (const HostValue& value : made_up) inputs.push_back(&value);
    fmt::print("made-up inputs: {}\n", described_inputs(*compiled.model, inputs));
    run_and_judge(options, compiled, own_outputs, inputs, nullptr, tolerance, team.executor(), options.output);
    return 0;
  }
  int wrong = 0;
  for (const fs::path& set : sets) {
    const DataSet data = read_data_set(set, model, compiled.outermost);
    const std::vector<const HostValue*> inputs = feeds(*compiled.model, model, data);
    fmt::print("{}: {}\n", set.filename().string(), described_inputs(*compiled.model, inputs));
    const std::set<std::string> names = names_of_several_extents(*compiled.model, inputs);
    RunOptions own = options;
    std::optional<CompiledModel> apart;
    if (!names.empty()) {
      for (const std::string& name : names) own.compile.dims[name] = {0, INT64_MAX, false};
      fmt::print("  {} has several extents here, which ONNX does not allow: compiled anew with --dim NAME=*\n", fmt::join(names, ", "));
      apart = compile_and_load(options.model, own.compile);
    }
    std::optional<fs::path> output = options.output;
    if (output && sets.size() > 1) *output /= set.filename();
    wrong += run_and_judge(own, apart ? *apart : compiled, own_outputs, inputs, &data, tolerance, team.executor(), output);
  }
  if (wrong > 0) fmt::print("{} outputs are wrong\n", wrong);
  return wrong == 0 ? 0 : 1;
}

}  // namespace onnxc
