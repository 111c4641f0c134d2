#include "tools/driver/self_test.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "compiler/support/error_codes.h"
#include "targets/target.h"
#include "tools/driver/session.h"

namespace onnxc {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostVectors = 4;

/// The same model for this machine.
CompileOptions native(CompileOptions options) {
  if (const auto there = find_target(options.target); there && !is_of_this_machine(*there))
    options.compiler = host_compiler();  // $ONNXC_CXX is for the other machine
  options.target = "native";
  options.name_space = options.header_name = "";
  options.weights = "auto";
  options.standalone = options.profile = false;
  options.regions.clear();
  options.measure_nothing();
  return options;
}

void add_vector(SelfTest& test, const ModelCall& call, const std::vector<const HostValue*>& inputs, std::vector<TensorData> outputs) {
  SelfTest::Vector& vector = test.vectors.emplace_back();
  vector.dims = call.symbols();
  for (const HostValue* input : inputs) vector.inputs.push_back(input->tensor);
  vector.outputs = std::move(outputs);
}

void run(ModelCall& call) {
  if (call.run() != 0) throw Error(ErrorCode::SelfTestFails, "the self-test does not run on this machine: " + call.message());
}

void add_made_up(SelfTest& test, const fs::path& model, CompileOptions options) {
  options.level = 0;
  options.small = false;
  const CompiledModel reference = compile_and_load(model, options);
  const std::vector<HostValue> made_up = random_inputs(*reference.model);
  std::vector<const HostValue*> inputs;
  for (const HostValue& value : made_up) inputs.push_back(&value);
  ModelCall call(*reference.model, inputs);
  run(call);
  std::vector<TensorData> outputs;
  for (int32_t k = 0; k < reference.model->output_count; ++k) outputs.push_back(call.output(k).tensor);
  add_vector(test, call, inputs, std::move(outputs));
  test.origin = "made-up inputs, computed by plain loops";
}

/// What the unit gives on this machine is within the tolerance.
void check_here(const onnxc_model& unit, const SelfTest::Vector& vector, const Tolerance& tolerance) {
  std::vector<HostValue> values;
  for (const TensorData& input : vector.inputs) values.push_back(HostValue::of(input));
  std::vector<const HostValue*> inputs;
  for (const HostValue& value : values) inputs.push_back(&value);
  ModelCall call(unit, inputs);
  run(call);
  for (int32_t k = 0; k < unit.output_count; ++k) {
    const Comparison comparison = compare(call.output(k), HostValue::of(vector.outputs.at(static_cast<std::size_t>(k))), tolerance);
    if (!comparison.within)
      throw Error(ErrorCode::SelfTestFails,
                  fmt::format("the self-test fails on this machine: output '{}': {}", unit.outputs[k].name, comparison.reason),
                  "`onnxc run --data` tells more");
  }
}

}  // namespace

std::shared_ptr<const SelfTest> make_self_test(const fs::path& model, const CompileOptions& options, const std::optional<fs::path>& data) {
  const CompileOptions here = native(options);
  const Compilation compilation = compile_model(model, here);
  if (const std::string problem = self_test_problem(Interface(compilation.program, false), compilation.program); !problem.empty())
    throw Error(ErrorCode::NoSelfTest, "a self-test of this model is not possible: " + problem, "leave --self-test out");
  const Tolerance tolerance = read_tolerance(model.parent_path(), {.rtol = 1e-3, .atol = 1e-5});
  SelfTest test;
  test.rtol = tolerance.rtol;
  test.atol = tolerance.atol;
  test.int_atol = tolerance.int_atol;
  test.rel_l2 = tolerance.rel_l2.value_or(-1);
  const CompiledModel compiled = build_and_load(compilation, here);
  const std::vector<fs::path> sets = data_sets_for(model, data);
  const ModelSummary summary = summarize_model(model);
  std::string misfit;
  for (std::size_t i = 0; i < sets.size() && test.vectors.size() < kMostVectors; ++i) {
    const DataSet set = read_data_set(sets[i], summary, compiled.outermost);
    const std::vector<const HostValue*> inputs = feeds(*compiled.model, summary, set);
    std::vector<TensorData> outputs;
    for (const std::optional<HostValue>& output : set.outputs) {
      if (!output) throw Error(ErrorCode::DataMissing, fmt::format("{} has no file for some output", sets[i].string()));
      outputs.push_back(output->tensor);
    }
    try {
      add_vector(test, ModelCall(*compiled.model, inputs), inputs, std::move(outputs));
    } catch (const Error& e) {  // sets may be for other sizes than --dim fixes
      misfit = fmt::format("{}: {}", sets[i].filename().string(), e.what());
      continue;
    }
    test.origin += fmt::format("{}{}", test.origin.empty() ? "" : ", ", sets[i].filename().string());
  }
  if (test.vectors.empty() && data) throw Error(ErrorCode::DataMisfit, "no data set fits the unit: " + misfit, "see --dim");
  if (test.vectors.empty()) add_made_up(test, model, here);
  for (const SelfTest::Vector& vector : test.vectors) check_here(*compiled.model, vector, tolerance);
  return std::make_shared<const SelfTest>(std::move(test));
}

}  // namespace onnxc
