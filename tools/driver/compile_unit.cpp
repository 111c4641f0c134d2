#include "tools/driver/compile_unit.h"

#include <chrono>

namespace onnxc {
namespace {

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

std::vector<std::string> target_flags(const std::string& target) {
  if (target == "native") return {"-march=native"};
  if (target.starts_with("x86-64")) return {"-march=" + target};
  return {};
}

BuildRequest build_request(Unit unit, const std::string& name) {
  BuildRequest request;
  request.files.push_back({name + ".cpp", std::move(unit.source)});
  request.files.push_back({name + ".h", std::move(unit.header)});
  request.to_compile.push_back(name + ".cpp");
  for (SideFile& file : unit.side_files) {
    if (file.name.ends_with(".o")) request.objects.push_back(file.name);
    request.files.push_back(std::move(file));
  }
  return request;
}

CompiledModel compile_and_load(const std::filesystem::path& model, CompileOptions options, const std::vector<std::string>& flags) {
  options.name_space = "unit";
  CompiledModel compiled;
  const auto begin = std::chrono::steady_clock::now();
  Unit unit = compile_file(model, options);
  compiled.compile_seconds = seconds_since(begin);
  compiled.source_bytes = unit.source.size();
  BuildRequest request = build_request(std::move(unit), options.name_space);
  request.flags = flags;
  for (std::string& flag : target_flags(options.target)) request.flags.push_back(std::move(flag));
  const auto build_begin = std::chrono::steady_clock::now();
  const std::filesystem::path library = build_library(request);
  compiled.build_seconds = seconds_since(build_begin);
  compiled.library = std::make_unique<UnitLibrary>(library);
  compiled.model = &compiled.library->model(options.name_space + "_model");
  return compiled;
}

}  // namespace onnxc
