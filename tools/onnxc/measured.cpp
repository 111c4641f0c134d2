#include "tools/onnxc/measured.h"

#include "compiler/lowering/memory/plan_memory.h"
#include "tools/driver/compile_unit.h"
#include "tools/driver/footprint.h"
#include "tools/emulator/count_steps.h"

namespace onnxc {
namespace {

using nlohmann::ordered_json;

ordered_json json_of(const Footprint& f) {
  const bool has_arena = f.arena < kEndless;
  ordered_json json = {{"flash", f.flash()},
                       {"ram", f.stack.bytes && has_arena ? ordered_json(f.ram()) : ordered_json()},
                       {"code", f.code},
                       {"constants", f.constants},
                       {"weights", f.weights},
                       {"data", f.data},
                       {"zeroed", f.zeroed},
                       {"arena", has_arena ? ordered_json(f.arena) : ordered_json()},
                       {"copied_constants", f.copied_constants()},
                       {"stack", f.stack.bytes ? ordered_json(*f.stack.bytes) : ordered_json()}};
  if (f.stack.bytes) json["stack_path"] = stack_path(f.stack);
  else json["stack_why"] = f.stack.why;
  json["compiler"] = f.compiler;
  return json;
}

}  // namespace

void add_measurements(ordered_json& description, const std::filesystem::path& model, const Compilation& compilation,
                      const CompileOptions& options) {
  description["footprint"] = json_of(measure_footprint(compilation, options));
  if (!compilation.target.bare) return;
  try {
    const EmulatedRun run = count_steps(model, compilation, options, std::nullopt);
    description["emulated"] = {{"emulator", run.emulator}, {"data", run.data}, {"passed", run.passed}};
    for (const StepCount& count : run.steps) {
      ordered_json& step = description.at("steps").at(static_cast<std::size_t>(count.number - 1));
      step["instructions"] = count.instructions;
      step["cycles"] = count.cycles ? ordered_json(*count.cycles) : ordered_json();
    }
  } catch (const Error& error) {
    description["emulated"] = {{"why", error.diagnostics().front().text()}};
  }
}

}  // namespace onnxc
