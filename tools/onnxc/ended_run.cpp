#include "tools/onnxc/ended_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/variants.h"
#include "compiler/support/error_codes.h"
#include "tools/driver/model_call.h"
#include "tools/driver/thread_team.h"
#include "tools/onnxc/describe.h"

namespace onnxc {
namespace {

using nlohmann::ordered_json;

/// The step of the unit that ended last, or null if none began.
const onnxc_profiled_step* last_step(const onnxc_profile& profile) {
  const onnxc_profiled_step* last = nullptr;
  uint64_t latest = 0;
  for (int32_t k = 0; k < profile.step_count; ++k) {
    onnxc_step_ticks ticks{};
    profile.read(k, &ticks);
    if (ticks.calls == 0 || (last != nullptr && ticks.end < latest)) continue;
    last = &profile.steps[k];
    latest = ticks.end;
  }
  return last;
}

Diagnostic diagnostic(const std::string& said, const onnxc_profiled_step* last, const Described& described, const CompileOptions& options) {
  if (last == nullptr) return {"", "", said + "; no step had begun"};
  const std::vector<Variant>& variants = described.compilation.variants;
  const std::vector<std::string> names = variant_names(variants);
  const auto at = static_cast<std::size_t>(std::ranges::find(names, last->variant) - names.begin());
  const ordered_json description = describe(described, options, at < variants.size() ? &variants[at] : nullptr);
  const ordered_json& steps = description.at("steps");
  const ordered_json& step = steps.at(static_cast<std::size_t>(last->number - 1));
  Diagnostic result;
  // The last of several fused nodes gives the step its value.
  if (const ordered_json& origins = step.at("origins"); !origins.empty()) {
    result.op = origins.back().at("op");
    result.node = label_of(origins.back());
  }
  result.found = fmt::format("{}; the run ended in step {} of {}, {}", said, last->number, steps.size(), line_of(step.at("label")));
  return result;
}

}  // namespace

Error ended_run(const std::string& message, const std::filesystem::path& model, const CompileOptions& options,
                const std::vector<const HostValue*>& inputs) {
  CompileOptions measured = options;
  measured.profile = true;
  // Kernels on a GPU tell of data when all are done. A unit for the processor ends where it finds the same.
  if (const auto target = find_target(options.target); target && target->gpu != nullptr) {
    measured.target = "native";
    measured.devices = Devices::Auto;
    measured.gpu_memory.reset();
    measured.runs_in = RunsIn::Either;
  }
  const Described described = compile_described(model, measured);
  const CompiledModel compiled = build_and_load(described.compilation, measured, {"-O1"});
  const ThreadTeam team(options.threads);
  ModelCall call(*compiled.model, inputs, team.executor());
  const std::string said = fmt::format("run: {}", message);
  if (call.run() == 0) return {ErrorCode::RunRefused, said};  // an allocator may have been exhausted before
  return {ErrorCode::RunRefused, {diagnostic(said, last_step(*compiled.profile), described, measured)}};
}

}  // namespace onnxc
