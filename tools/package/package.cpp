#include "tools/package/package.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include "codegen/names.h"
#include "codegen/standalone.h"
#include "compiler/budgets.h"
#include "compiler/support/error_codes.h"
#include "tools/driver/build_library.h"
#include "tools/driver/compile_unit.h"
#include "tools/driver/files.h"
#include "tools/driver/leftovers.h"
#include "tools/driver/process.h"
#include "tools/driver/temporary_folder.h"
#include "tools/driver/zip.h"
#include "tools/package/c_header.h"
#include "tools/package/forms.h"

namespace onnxc {
namespace {

namespace fs = std::filesystem;

using Values = std::map<std::string, std::string, std::less<>>;

constexpr std::string_view kForms[] = {"arduino", "platformio", "zephyr", "esp-idf", "cmsis-pack", "files"};

/// @KEY@ becomes its value, which may contain others. Words that are no keys stay.
std::string filled(std::string_view text, const Values& values) {
  std::string result;
  while (true) {
    const std::size_t begin = text.find('@');
    result += text.substr(0, begin);
    if (begin == text.npos) return result;
    text.remove_prefix(begin + 1);
    const std::size_t end = text.find('@');
    const auto value = end == text.npos ? values.end() : values.find(text.substr(0, end));
    if (value == values.end()) {
      result += '@';
      continue;
    }
    result += value->second;
    text.remove_prefix(end + 1);
  }
}

/// Files by their paths. A line `=== PATH` begins each in the form's text.
std::map<std::string, std::string> files_of(std::string_view form, const Values& values) {
  std::map<std::string, std::string> files;
  std::string_view text = package_form(std::string(form) + ".txt");
  constexpr std::string_view kBegin = "=== ";
  while (text.starts_with(kBegin)) {
    const std::size_t line = text.find('\n');
    const std::string path = filled(text.substr(kBegin.size(), line - kBegin.size()), values);
    const std::size_t next = text.find("\n=== ", line);
    files[path] = filled(text.substr(line + 1, next == text.npos ? text.npos : next - line), values);
    text.remove_prefix(next == text.npos ? text.size() : next + 1);
  }
  return files;
}

std::string xml(const std::string& text) {
  std::string result;
  for (const char c : text) result += c == '<' ? "&lt;" : c == '&' ? "&amp;" : std::string(1, c);
  return result;
}

std::string flag_value(const std::vector<std::string>& flags, std::string_view option) {
  for (const std::string& flag : flags) {
    if (flag.starts_with(option)) return flag.substr(option.size());
  }
  return "";
}

/// A static library with the unit, compiled with `more` flags.
std::string archive(const PackageOptions& options, CompileOptions compile, const std::vector<std::string>& more) {
  compile.standalone = false;
  std::vector<std::string> flags{compile.small ? "-Os" : "-O3"};
  flags.insert(flags.end(), more.begin(), more.end());
  const TemporaryFolder folder;
  const fs::path object = folder.path() / (compile.name_space + ".o"), library = folder.path() / ("lib" + compile.name_space + ".a");
  write_file(object, build_binary(options.model, false, compile, flags).bytes);
  std::vector<std::string> ask = compiler_words(target_compiler(compile.target));
  ask.emplace_back("-print-prog-name=ar");
  const std::string asked = run_process(ask).output;
  const ProcessResult made = run_process({asked.substr(0, asked.find('\n')), "rcsD", library.string(), object.string()});
  if (!made.ok()) throw Error(ErrorCode::ProgramNotStarted, "no static library can be made: " + one_line(made.output));
  return read_file(library);
}

void add_archives(Values& values, const PackageOptions& options, const CompileOptions& compile) {
  const std::vector<std::string> flags = target_flags(compile.target);
  const std::string cpu = flag_value(flags, "-mcpu="), fpu = flag_value(flags, "-mfpu=");
  if (cpu.empty())
    throw Error(ErrorCode::NotForTarget, "a library for Arduino is compiled for one core",
                "say --target=cortex-m4, or another one that has an Arduino");
  values["MCU"] = cpu;
  values["FPU"] = fpu;
  if (fpu.empty()) {
    values["ARCHIVE"] = archive(options, compile, {});
  } else {
    values["ARCHIVE_HARD"] = archive(options, compile, {});
    values["ARCHIVE_SOFTFP"] = archive(options, compile, {"-mfloat-abi=softfp"});
  }
}

std::string example(const std::string& name, const CUse& use) {
  return fmt::format(
      "/* Runs the model once, on zeros. */\n#include <stdio.h>\n\n#include \"{0}_c.h\"\n\n#ifndef EXAMPLE_MAIN\n#define EXAMPLE_MAIN int "
      "main(void)\n#define "
      "EXAMPLE_END(code) return (code)\n#endif\n\n{1}\nEXAMPLE_MAIN {{\n  const int32_t code = {0}_run({2});\n  printf(\"{0}: %s\\n\", "
      "code == 0 ? \"ok\" : "
      "\"failed\");\n{3}  EXAMPLE_END((int)code);\n}}\n",
      name, use.arrays, use.arguments, use.print);
}

std::string readme(const std::string& name, const Compilation& c, const PackageOptions& options, const Interface& interface) {
  std::string text = fmt::format(
      "# {}\n\nThe model `{}`, compiled by onnxc {} for {} ({}).\n\n| | |\n|---|---|\n| weights | {} bytes |\n| arena | {} bytes, aligned "
      "to {} |\n",
      name, c.info.files.front().filename().string(), ONNXC_VERSION, full_name(c.target), level_name(options.compile),
      weight_bytes(c.program), c.program.arena.bytes.value(), c.program.arena.alignment);
  for (const auto* list : {&interface.inputs, &interface.outputs}) {
    for (const Member& m : *list)
      text += fmt::format("| {} `{}` | {} {} |\n", list == &interface.inputs ? "input" : "output", m.name, onnxc::name(m.buffer->element),
                          onnxc::text(m.buffer->extents));
  }
  return text + "\nThe arena is scratch memory of the caller. A run takes no heap and keeps nothing.\n";
}

/// Writes all files into a folder beside the output, which is then renamed.
void write_package(const fs::path& output, const std::map<std::string, std::string>& files) {
  std::error_code error;
  if (fs::exists(output) && !(fs::is_directory(output) && fs::is_empty(output, error)))
    throw Error(ErrorCode::FolderTaken, fmt::format("{} is there already", output.string()), "-o names a new folder, or an empty one");
  Leftover beside(fs::path(output).concat(fmt::format(".making{}", getpid())));
  for (const auto& [path, bytes] : files) {
    make_folder((beside.path() / path).parent_path());
    write_file(beside.path() / path, bytes);
  }
  fs::rename(beside.path(), output, error);  // an empty folder is replaced
  if (error) throw Error(ErrorCode::CannotWrite, fmt::format("{} cannot be made: {}", output.string(), error.message()));
  beside.keep();
}

}  // namespace

std::span<const std::string_view> package_forms() { return kForms; }

int package_command(const PackageOptions& options) {
  CompileOptions compile = options.compile;
  compile.standalone = true;
  if (compile.name_space.empty()) compile.name_space = make_namespace(options.output.filename().string());
  const std::string name = compile.name_space;
  compile.header_name = name + ".h";
  if (compile.weights == "object" || compile.weights == "file" || compile.weights == "incbin")
    throw Error(ErrorCode::OptionConflict, fmt::format("--weights={} would put them beside the unit", compile.weights),
                "leave --weights out");
  const Compilation c = compile_model(options.model, compile);
  if (c.target.name == "native")
    throw Error(ErrorCode::NotForTarget, "a package is for another machine than this one", "say --target=cortex-m4, or generic for any");
  const Interface interface(c.program, false);
  if (interface.dynamic() || c.program.uses_heap)
    throw Error(ErrorCode::NeedsFixedSizes, "a package needs sizes that are known before a run", "--dim NAME=… fixes the dimensions");
  for (const auto* list : {&interface.inputs, &interface.outputs}) {
    for (const Member& m : *list) {
      if (!m.is_span() || m.buffer->element == ElementType::String)
        throw Error(ErrorCode::OperatorForm, fmt::format("'{}' is no tensor of numbers, which C can pass", m.buffer->name));
    }
  }
  const Unit unit = emit_compilation(c, compile);
  const CUse use = c_use(name, interface, c.program);
  const std::string summary = fmt::format("The model {} as a function", one_line(c.info.files.front().filename().string()));
  Values values{{"NAME", name},
                {"UPPER", upper_case(name)},
                {"VERSION", options.version},
                {"MAINTAINER", options.maintainer},
                {"SUMMARY", summary},
                {"SUMMARY_XML", xml(summary)},
                {"TARGET", std::string(c.target.name)},
                {"ARENA", std::to_string(c.program.arena.bytes.value())},
                {"LEVEL", compile.small ? "-Os" : "-O3"},
                {"FLAGS", c.target.flags.empty() ? "" : std::string(c.target.flags)},
                {"README", readme(name, c, options, interface)},
                {"UNIT_H", unit.header},
                {"UNIT_CPP", unit.source.str()},
                {"C_H", c_header(name, interface, c.program)},
                {"MODEL_H", read_file(fs::path(runtime_folder()) / "onnxc" / "model.h")},
                {"EXAMPLE_C", example(name, use)},
                {"ARRAYS", use.arrays},
                {"CALL", use.arguments}};
  if (options.form == "arduino") add_archives(values, options, compile);
  std::map<std::string, std::string> files = files_of(options.form, values);
  std::erase_if(files,
                [](const auto& file) { return file.second.empty() || file.second.starts_with("@ARCHIVE"); });  // of the other kind of core
  if (options.form == "cmsis-pack") files[fmt::format("onnxc.{}.{}.pack", name, options.version)] = zip(files);
  std::string list;  // made before, so that nothing can fail once the package is there
  for (const auto& [path, bytes] : files) list += fmt::format("{:>10}  {}\n", bytes.size(), (options.output / path).string());
  write_package(options.output, files);
  std::fwrite(list.data(), 1, list.size(), stdout);
  return 0;
}

}  // namespace onnxc
