#include "tools/conformance/compile_case.h"

#include <chrono>
#include <set>

#include "tools/conformance/answer.h"
#include "tools/driver/compile_unit.h"
#include "tools/driver/files.h"
#include "tools/driver/model_summary.h"

namespace onnxc {

namespace fs = std::filesystem;
using nlohmann::json;

json compile_case(const json& request) {
  const fs::path model = request["model"].get<std::string>(), out = request["out"].get<std::string>();
  json answer = verdict("passed", "");
  try {
    const ModelSummary summary = summarize_model(model);
    answer["operators"] = summary.operators;
    answer["opsets"] = summary.opsets;
    answer["elements"] = summary.elements;
    CompileOptions options;
    options.name_space = request["namespace"];
    options.target = request["target"];
    // The GPU does what it can, whether or not that pays.
    if (const auto target = find_target(options.target); target && target->gpu != nullptr) options.devices = Devices::GpuAndCpu;
    options.threads = request["threads"];
    options.subnormals = request["keeps_subnormals"] ? Subnormals::Keep : Subnormals::Flush;
    const auto begin = std::chrono::steady_clock::now();
    const Compilation compilation = compile_model(model, options);
    Unit unit = emit_compilation(compilation, options);
    answer["seconds"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    std::set<std::string> kernels;
    for_each_step(compilation.program.steps, [&](const Step& step, int) {
      if (const Call* const call = step.call()) kernels.insert(call->kernel.empty() ? call->function : call->kernel);
    });
    answer["kernels"] = kernels;
    if (compilation.target.gpu != nullptr) {
      std::set<std::string> reasons;
      for (const std::string& reason : host_reasons_of_steps(compilation.program)) {
        if (!reason.empty()) reasons.insert(reason);
      }
      answer["host_reasons"] = reasons;
    }
    answer["libraries"] = unit.libraries;
    answer["files"] = json::array();
    for (const SideFile& file : build_request(std::move(unit), options.name_space + ".h").files) {
      write_file(out / file.name, file.bytes);
      answer["files"].push_back(file.name);
    }
  } catch (const Error& error) {
    answer.update(verdict_of(error));
  }
  return answer;
}

}  // namespace onnxc
