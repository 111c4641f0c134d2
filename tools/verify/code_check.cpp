#include "tools/verify/code_check.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string_view>

#include "codegen/standalone.h"
#include "codegen/variants.h"
#include "targets/target.h"
#include "tools/driver/compile_unit.h"
#include "tools/driver/files.h"
#include "tools/driver/process.h"
#include "tools/driver/temporary_folder.h"

namespace onnxc {
namespace {

namespace fs = std::filesystem;

constexpr double kSeconds = 600;  // the largest units take two

std::optional<fs::path> program_in(const fs::path& folder) {
  const fs::path path = folder / "check_emitted";
  std::error_code error;
  if (!fs::is_regular_file(path, error) || access(path.c_str(), X_OK) != 0) return std::nullopt;
  return path;
}

}  // namespace

std::optional<fs::path> find_check_emitted() {
  std::error_code error;
  if (const fs::path self = fs::read_symlink("/proc/self/exe", error); !error) {
    if (auto found = program_in(self.parent_path())) return found;
  }
  const char* const path = std::getenv("PATH");
  std::istringstream folders{std::string(path == nullptr ? "" : path)};
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (folder.empty()) continue;
    if (auto found = program_in(folder)) return found;
  }
  return std::nullopt;
}

CodeCheck check_code(const Compilation& compilation, const CompileOptions& options) {
  CodeCheck check;
  if (compilation.target.gpu != nullptr) return {"the unit is for a GPU", {}, {}};
  if (!is_of_this_machine(compilation.target)) return {"the unit is for another machine", {}, {}};
  const std::optional<fs::path> program = find_check_emitted();
  if (!program)
    return {"there is no check_emitted beside onnxc or on PATH; `tools/setup.sh --check-deps` and `ninja check_emitted` make it", {}, {}};

  CompileOptions plain = options;
  plain.weights = "incbin";  // clang need not read them
  if (plain.name_space.empty()) plain.name_space = "unit";
  plain.header_name = plain.name_space + ".h";
  const BuildRequest request = build_request(emit_compilation(compilation, plain), plain.header_name);
  const TemporaryFolder folder;
  for (const SideFile& file : request.files) write_file(folder.path() / file.name, file.bytes);
  std::vector<std::string> command{program->string(),
                                   (folder.path() / request.to_compile.at(0)).string(),
                                   "--",
                                   "-std=c++20",
                                   "-w",
                                   "-I" + runtime_folder(),
                                   fmt::format("-DONNXC_WEIGHTS_DIR=\"{}/\"", folder.path().string())};
  for (const std::string& flag : target_flags(options.target)) command.push_back(flag);
  for (const fs::path& include : options.include_folders) command.push_back("-I" + fs::absolute(include).string());
  command.push_back("-I" + fs::current_path().string());
  const ProcessResult result = run_process(command, kSeconds);
  std::istringstream lines(result.output);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("  ")) check.found.push_back(line.substr(2));
    else if (const std::size_t at = line.find(": "); check.summary.empty() && line.ends_with("violations") && at != line.npos)
      check.summary = line.substr(at + 2);
  }
  if (check.summary.empty())
    throw Error(ErrorKind::Io, fmt::format("check_emitted does not take the unit: {}", one_line(result.output)), "--no-code leaves it out");
  return check;
}

}  // namespace onnxc
