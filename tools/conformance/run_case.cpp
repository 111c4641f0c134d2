#include "tools/conformance/run_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>

#include "tools/conformance/answer.h"
#include "tools/driver/data_set.h"
#include "tools/driver/model_call.h"
#include "tools/driver/thread_each.h"
#include "tools/driver/thread_team.h"
#include "tools/driver/unit_library.h"

namespace onnxc {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

/// The values of these operators are random by ONNX's rules. The outputs in its tests are one outcome of many.
bool is_random(const ModelSummary& model) {
  for (const char* op : {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"}) {
    if (model.operators.contains(op)) return true;
  }
  return false;
}

/// In training, Dropout makes random elements zero, as those of the tests' expected outputs. Elements that are zero
/// on either side are not compared.
HostValue with_zeros_of(HostValue value, const HostValue& got, const ModelSummary& model) {
  if (!model.operators.contains("Dropout") || got.kind != ValueKind::Tensor) return value;
  TensorData& expected = value.tensor;
  const TensorData& actual = got.tensor;
  if (expected.type != actual.type || expected.shape != actual.shape) return value;
  const auto width = static_cast<std::size_t>(info(expected.type).bits) / 8;
  if (width == 0) return value;
  const auto is_zero = [&](const TensorData& t, std::size_t at) {  // of either sign
    std::vector<std::byte> element(t.bytes.begin() + static_cast<std::ptrdiff_t>(at),
                                   t.bytes.begin() + static_cast<std::ptrdiff_t>(at + width));
    if (is_float(t.type)) element.back() &= std::byte{0x7f};
    return std::all_of(element.begin(), element.end(), [](std::byte b) { return b == std::byte{0}; });
  };
  const TensorData given = expected;
  bool any = false;
  for (std::size_t at = 0; at + width <= given.bytes.size(); at += width) {
    any = any || is_zero(given, at);
    if (is_zero(given, at) != is_zero(actual, at)) std::memcpy(expected.bytes.data() + at, actual.bytes.data() + at, width);
  }
  if (!any) expected = given;
  return value;
}

/// Describes how the run differs from the data set's expectation; empty if it does not.
std::string find_fault(const onnxc_model& unit, const ModelSummary& model, const DataSet& data, const Tolerance& tolerance,
                       const onnxc_executor* executor) {
  ModelCall call(unit, feeds(unit, model, data), executor);
  const auto begin = std::chrono::steady_clock::now();
  if (call.run() != 0) return fmt::format("run: {}", call.message());
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  if (std::string stray = call.find_stray_write(); !stray.empty()) return stray;
  std::vector<HostValue> first;
  for (std::size_t k = 0; k < data.outputs.size(); ++k) {
    if (static_cast<int32_t>(k) >= unit.output_count)
      return fmt::format("the unit has {} outputs, the model {}", unit.output_count, data.outputs.size());
    first.push_back(call.output(static_cast<int32_t>(k)));
    if (!data.outputs[k]) continue;
    const HostValue& expected = *data.outputs[k];
    if (is_random(model)) {
      if (describe(first[k]) != describe(expected))
        return fmt::format("output '{}' is {}, expected {}", model.outputs[k].name, describe(first[k]), describe(expected));
      continue;
    }
    const Comparison comparison =
        compare(first[k], expected.kind == ValueKind::Tensor ? with_zeros_of(expected, first[k], model) : expected, tolerance);
    if (!comparison.within) return fmt::format("output '{}': {}", model.outputs[k].name, comparison.reason);
  }
  // All state is in the arena, so a second run with the used arena must give the same bytes.
  if (took.count() > 1) return "";
  if (call.run() != 0) return fmt::format("second run: {}", call.message());
  for (std::size_t k = 0; k < first.size(); ++k) {
    if (!(call.output(static_cast<int32_t>(k)) == first[k]))
      return fmt::format("output '{}' of a second run differs", model.outputs[k].name);
  }
  return "";
}

/// A library stays loaded while successive cases are of the same group.
const UnitLibrary& load(const std::string& path) {
  static std::string loaded;
  static std::unique_ptr<UnitLibrary> library;
  if (loaded != path) {
    library = std::make_unique<UnitLibrary>(path);
    loaded = path;
  }
  return *library;
}

}  // namespace

json run_case(const json& request) {
  const fs::path folder = request["case"].get<std::string>();
  try {
    const ModelSummary model = summarize_model(folder / "model.onnx");
    const onnxc_model& unit = load(request["library"]).model(request["namespace"].get<std::string>() + "_model");
    const Tolerance tolerance = read_tolerance(folder, {});
    const ThreadTeam team(request["threads"]);
    std::vector<const onnxc_executor*> executors = {team.executor()};
#if defined(__SANITIZE_THREAD__)
    const ThreadEach apart(request["threads"]);
    executors.push_back(apart.executor());
#endif
    const std::vector<fs::path> sets = find_data_sets(folder);
    if (sets.empty()) return verdict("failed", "the case has no data");
    for (const fs::path& set : sets) {
      const DataSet data = read_data_set(set, model);
      for (const onnxc_executor* executor : executors) {
        const std::string fault = find_fault(unit, model, data, tolerance, executor);
        if (!fault.empty()) return verdict("failed", sets.size() > 1 ? fmt::format("{}: {}", set.filename().string(), fault) : fault);
      }
    }
    return verdict("passed", "");
  } catch (const Error& error) {
    return verdict_of(error);
  }
}

}  // namespace onnxc
