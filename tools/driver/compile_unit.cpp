#include "tools/driver/compile_unit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <optional>
#include <sstream>

#include "compiler/budgets.h"
#include "compiler/lowering/memory/plan_memory.h"
#include "compiler/support/error_codes.h"
#include "targets/target.h"
#include "tools/driver/code_budget.h"
#include "tools/driver/files.h"
#include "tools/driver/gpu.h"
#include "tools/emulator/emulated_machine.h"

namespace onnxc {
namespace {

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

std::vector<std::string> target_flags(const std::string& target) {
  const std::optional<Target> known = find_target(target);
  std::vector<std::string> flags;
  if (!known) return flags;
  for (std::istringstream words{std::string(known->flags)}; words;) {
    if (std::string word; words >> word) flags.push_back(std::move(word));
  }
  return flags;
}

std::string target_compiler(const std::string& target) {
  const std::optional<Target> known = find_target(target);
  return !known || is_of_this_machine(*known) ? system_compiler() : cross_compiler(known->triple);
}

std::string link_options(const std::vector<std::string>& libraries) {
  std::string text;
  for (const std::string& name : libraries) text += "-l" + name + "\n";
  return text;
}

BuildRequest build_request(Unit unit, const std::string& header_name) {
  BuildRequest request;
  request.libraries = unit.libraries;
  request.includes_others = unit.includes_others;
  const std::string source = unit.name_space + (unit.gpu ? ".cu" : ".cpp");
  request.files.push_back({source, std::move(unit.source)});
  request.files.push_back({header_name, Text(std::move(unit.header))});
  request.to_compile.push_back(source);
  for (SideFile& file : unit.side_files) {
    if (file.name.ends_with(".o")) request.objects.push_back(file.name);
    request.files.push_back(std::move(file));
  }
  return request;
}

namespace {

struct Compiled {
  std::string name_space;
  BuildRequest request;
  std::vector<std::filesystem::path> files;
  bool uses_heap;
};

/// `linked`: into a library, else it becomes an object. `here`: it runs on this machine.
Compiled emit(const Compilation& compilation, CompileOptions options, const std::vector<std::string>& flags, bool linked, bool here) {
  if (options.name_space.empty()) options.name_space = "unit";
  if (options.header_name.empty()) options.header_name = options.name_space + ".h";
  // A unit that is linked at once need not be one file. Large weights then bypass the assembler, which is slow for
  // them.
  if (constexpr int64_t kLarge = 16 << 20; linked && options.weights == "auto" && weight_bytes(compilation.program) > kLarge)
    options.weights = "object";
  Unit unit = emit_compilation(compilation, options);
  Compiled compiled{unit.name_space, {}, compilation.info.files, compilation.program.uses_heap};
  compiled.request = build_request(std::move(unit), options.header_name);
  compiled.request.architecture = nvcc_architecture(options.target, options.runs_in, here);
  compiled.request.flags = target_flags(options.target);
  compiled.request.compiler = options.compiler.empty() ? target_compiler(options.target) : options.compiler;
  compiled.request.position_independent = !compilation.target.bare;
  if (flags.empty()) compiled.request.flags.push_back(options.small ? "-Os" : "-O3");
  compiled.request.flags.insert(compiled.request.flags.end(), flags.begin(), flags.end());
  if (compiled.request.includes_others) {
    for (const std::filesystem::path& folder : options.include_folders)
      compiled.request.flags.push_back("-I" + std::filesystem::absolute(folder).string());
    compiled.request.flags.push_back("-I" + std::filesystem::current_path().string());
  }
  return compiled;
}

/// The first error in the output of the compiler and the linker, or else its first line.
std::string first_error(const std::string& output) {
  std::istringstream lines(output);
  std::string first;
  for (std::string line; std::getline(lines, line);) {
    if (first.empty()) first = line;
    const auto says = [&](const char* words) { return line.find(words) != line.npos; };
    if (!line.starts_with("collect2:") && (says("error: ") || says("cannot find ") || says("undefined reference "))) return line;
  }
  return first;
}

/// Refuses a build whose failure is not our bug: a compiler without its library, headers of others that do not compile, or libraries that
/// are missing.
[[noreturn]] void refuse_build(const BuildRequest& request, const BuildError& error) {
  const std::string said = one_line(first_error(error.what()));
  const auto has = [&](const char* words) { return said.find(words) != said.npos; };
  if (has("No space left on device") || has("Disk quota exceeded") || has("File too large"))
    throw Error(ErrorCode::CompilerHasNoRoom, fmt::format("{} has no room for what it writes: {}", request.compiler, said),
                "$TMPDIR names another folder for its temporary files, $ONNXC_CACHE for what it makes");
  const bool in_unit = has("undefined reference ") || (has("error: ") && (has(".cpp:") || has(".hpp:") || has(".h:")));
  const bool plain = request.libraries.empty() && !request.includes_others && request.architecture.empty();
  if (plain && (!in_unit || has("error: bad value")))  // what is wrong is not the unit, but who compiles it
    throw Error(ErrorCode::CompilerRefuses, fmt::format("{} does not compile the unit: {}", request.compiler, said),
                "it has to be a compiler of C++20 for the target; $ONNXC_CXX names another, with options if need be");
  if (has("fatal error: ") && (has("No such file") || has("file not found")) && !request.includes_others)
    throw Error(ErrorCode::HeadersMissing,
                fmt::format("{} has not all headers of C++: {}", request.compiler, said.substr(said.find("fatal error: ") + 13)),
                "name another in ONNXC_CXX, or the same with the options that it needs, as in ONNXC_CXX='clang++ --sysroot=DIR'");
  if (request.includes_others)
    throw Error(ErrorCode::CustomOperatorBuild, "the C++ does not build with the custom operators: " + said,
                "see docs/custom-operators.md; -I says where headers are");
  if (request.libraries.empty()) throw error;
  throw Error(ErrorCode::LibraryMissing, fmt::format("the C++ does not build with {}: {}", fmt::join(request.libraries, ", "), said),
              "install these libraries; see docs/emitted-interface.md");
}

}  // namespace

BuildRequest object_request(const Compilation& compilation, const CompileOptions& options) {
  BuildRequest request = emit(compilation, options, {}, false, false).request;
  request.shared = false;
  return request;
}

std::filesystem::path build_unit(const BuildRequest& request) {
  try {
    return build_library(request);
  } catch (const BuildError& error) {
    refuse_build(request, error);
  }
}

CompiledModel compile_and_load(const std::filesystem::path& model, const CompileOptions& options, const std::vector<std::string>& flags) {
  const auto begin = std::chrono::steady_clock::now();
  Compilation compilation = compile_model(model, options);
  compilation.graph = {};  // its weights are as large as the program's
  const double seconds = seconds_since(begin);
  CompiledModel result = build_and_load(compilation, options, flags);
  result.compile_seconds += seconds;
  return result;
}

CompiledModel build_and_load(const Compilation& compilation, const CompileOptions& options, const std::vector<std::string>& flags) {
  if (!is_of_this_machine(compilation.target))
    throw Error(ErrorCode::NotOnThisMachine, fmt::format("a unit for {} does not run on this machine", options.target),
                runs_elsewhere(options.target)
                    ? "onnxc profile counts what it takes in an emulator, and --self-test makes it compare its results where it runs"
                    : "--self-test makes it compare its results where it runs");
  CompiledModel result;
  const auto begin = std::chrono::steady_clock::now();
  const Compiled compiled = emit(compilation, options, flags, true, true);
  result.compile_seconds = seconds_since(begin);
  const auto build_begin = std::chrono::steady_clock::now();
  const std::filesystem::path library = build_unit(compiled.request);
  result.build_seconds = seconds_since(build_begin);
  if (options.max_code) check_code_budget(read_file(library), compilation.program, *options.max_code);
  result.library = std::make_unique<UnitLibrary>(library);
  result.model = &result.library->model(compiled.name_space + "_model");
  for (const State& state : compilation.program.states) {
    if (state.axis == 0) continue;
    result.outermost[result.model->inputs[state.past].name] = state.axis;
    result.outermost[result.model->outputs[state.present].name] = state.axis;
  }
  if (options.huge_pages) {
    void* const use = result.library->symbol(compiled.name_space + "_use_huge_pages");
    ONNXC_CHECK(use != nullptr, "a unit made with --huge-pages can use them");
    result.huge_pages = reinterpret_cast<int (*)()>(use)() != 0;
  }
  if (options.profile) {
    void* const profile = result.library->symbol(compiled.name_space + "_profile");
    ONNXC_CHECK(profile != nullptr, "a unit made with --profile tells its profile");
    result.profile = reinterpret_cast<const onnxc_profile* (*)()>(profile)();
  }
  return result;
}

Footprint measure_footprint(const Compilation& compilation, const CompileOptions& options) {
  CompileOptions plain = options;
  if (plain.weights == "object" || plain.weights == "file") plain.weights = "auto";  // which would lie in another file
  BuildRequest request = object_request(compilation, plain);
  const std::string& compiler = request.compiler;
  request.call_graph = request.architecture.empty() && compiler_name(compiler).find("clang") == std::string::npos;
  const std::filesystem::path object = build_unit(request);
  const std::filesystem::path graph = std::filesystem::path(object).replace_extension(".ci");
  const std::string file = read_file(object);
  if (options.max_code) check_code_budget(file, compilation.program, *options.max_code);
  Footprint footprint = footprint_of(file, request.call_graph ? read_file(graph) : "");
  footprint.weights = weight_bytes(compilation.program);
  footprint.constants -= std::min(footprint.constants, footprint.weights);
  footprint.arena = most_arena_bytes(compilation.program);
  footprint.regions = compilation.program.regions;
  footprint.compiler = fmt::format("{} {}", compiler_name(compiler), fmt::join(request.flags, " "));
  check_footprint(footprint, {options.max_flash, options.max_ram, options.max_stack});
  return footprint;
}

bool wants_footprint(const CompileOptions& options) {
  return options.measure || options.max_code || options.max_flash || options.max_ram || options.max_stack;
}

BuiltBinary build_binary(const std::filesystem::path& model, bool shared, const CompileOptions& options,
                         const std::vector<std::string>& flags) {
  const Compilation compilation = compile_model(model, options);
  if (options.max_flash || options.max_ram || options.max_stack) measure_footprint(compilation, options);
  Compiled compiled = emit(compilation, options, flags, shared, false);
  compiled.request.shared = shared;
  const auto export_beside = [&](const std::string& name) {
    compiled.request.files.push_back({name + ".cpp", Text("#include <onnxc/shared_" + name + ".hpp>\n")});
    compiled.request.to_compile.push_back(name + ".cpp");
  };
  if (shared && options.threads > 1) export_beside("executor");
  if (shared && compiled.uses_heap) export_beside("memory");
  std::string binary = read_file(build_unit(compiled.request));
  if (options.max_code) check_code_budget(binary, compilation.program, *options.max_code);
  const std::vector<std::filesystem::path> headers = other_headers(compiled.request);
  compiled.files.insert(compiled.files.end(), headers.begin(), headers.end());
  return {std::move(binary), compilation.info, compilation.target, compiled.files, compiled.request.libraries};
}

}  // namespace onnxc
