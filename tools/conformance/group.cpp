#include "tools/conformance/group.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <set>

#include "compiler/support/error.h"
#include "tools/conformance/blame.h"
#include "tools/driver/compile_unit.h"
#include "tools/driver/files.h"

namespace onnxc {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::size_t kCasesInGroup = 48;
constexpr std::uintmax_t kModelBytesInGroup = 4u << 20;

/// A case in progress.
struct Pending {
  Case of;
  CaseResult result;
  std::vector<SideFile> files;
  std::vector<std::string> libraries;
};

Verdict verdict_from(const json& answer) {
  const std::string word = answer.value("verdict", "failed");
  return word == "passed" ? Verdict::Passed : word == "unsupported" ? Verdict::Unsupported : Verdict::Failed;
}

BuildRequest request_for(const std::vector<Pending*>& cases, const std::string& group_name, const GroupOptions& options) {
  BuildRequest request;
  std::string all = "// Several units in one translation unit, to read the runtime's headers once.\n";
  for (const Pending* pending : cases) {
    all += fmt::format("#include \"{}\"\n", pending->files.front().name);
    for (const std::string& library : pending->libraries) {
      if (std::ranges::find(request.libraries, library) == request.libraries.end()) request.libraries.push_back(library);
    }
    for (const SideFile& file : pending->files) {
      request.files.push_back(file);
      if (file.name.ends_with(".o")) request.objects.push_back(file.name);
    }
  }
  request.files.push_back({group_name + ".cpp", Text(all)});
  request.to_compile.push_back(group_name + ".cpp");
  request.flags = target_flags(options.target);
  request.flags.insert(request.flags.end(), options.flags.begin(), options.flags.end());
  if (!options.keep.empty()) request.keep_in = options.keep / group_name;
  return request;
}

/// Why a case did not build, given the message of the compiler or the linker.
std::string reason_of(const Pending& pending, const std::string& error) {
  if (const std::string missing = missing_of_system(error); !missing.empty() && !pending.libraries.empty()) {
    return fmt::format("{} is not installed, which the unit needs from one of the libraries {}; tools/setup.sh --test-deps installs them",
                       missing, fmt::join(pending.libraries, ", "));
  }
  return "the C++ does not compile: " + error;
}

/// Builds the cases together. Removes and marks those whose C++ does not compile. Empty if none is left.
std::optional<fs::path> build(std::vector<Pending*>& cases, const std::string& group_name, const GroupOptions& options) {
  while (!cases.empty()) {
    try {
      return build_library(request_for(cases, group_name, options));
    } catch (const BuildError& error) {
      const std::map<std::string, std::string> errors = blame(error.what());
      const std::string missing = missing_of_system(error.what());  // a library, if the message is from a linker
      const auto is_blamed = [&](const Pending* p) {
        return cases.size() == 1 || errors.contains(p->of.name_space) ||
               (errors.empty() && std::ranges::find(p->libraries, missing) != p->libraries.end());
      };
      if (std::ranges::none_of(cases, is_blamed)) {
        // No case is named, so each is built alone.
        for (Pending* pending : cases) {
          std::vector<Pending*> alone = {pending};
          build(alone, pending->of.name_space + "_alone", options);
        }
        const auto failed_alone = std::erase_if(cases, [](const Pending* p) { return p->result.verdict == Verdict::Failed; });
        if (failed_alone != 0) continue;  // the others may build without these
        for (Pending* pending : cases) {
          pending->result.verdict = Verdict::Failed;
          pending->result.reason = "the C++ does not compile beside that of other models: " + std::string(error.what()).substr(0, 300);
        }
        cases.clear();
        continue;
      }
      for (Pending* pending : cases) {
        if (!is_blamed(pending)) continue;
        const auto found = errors.find(pending->of.name_space);
        pending->result.verdict = Verdict::Failed;
        pending->result.reason = reason_of(*pending, found != errors.end() ? found->second : std::string(error.what()).substr(0, 300));
      }
      std::erase_if(cases, is_blamed);
    }
  }
  return std::nullopt;
}

/// A folder for the worker's files.
struct Scratch {
  fs::path path;
  explicit Scratch(const std::string& name) : path(fs::temp_directory_path() / fmt::format("onnxc-conformance-{}-{}", getpid(), name)) {
    fs::create_directories(path);
  }
  ~Scratch() {
    std::error_code error;
    fs::remove_all(path, error);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
};

}  // namespace

std::vector<std::vector<Case>> make_groups(const std::vector<Case>& cases, int jobs) {
  const std::size_t wanted =
      std::min(cases.size(), std::max((cases.size() + kCasesInGroup - 1) / kCasesInGroup, static_cast<std::size_t>(jobs)));
  std::vector<std::vector<Case>> groups;
  std::size_t last_share = 0;
  std::uintmax_t bytes = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const std::size_t share = i * wanted / cases.size();
    if (groups.empty() || share != last_share || bytes + cases[i].model_bytes > kModelBytesInGroup) {
      groups.emplace_back();
      bytes = 0;
    }
    groups.back().push_back(cases[i]);
    bytes += cases[i].model_bytes;
    last_share = share;
  }
  return groups;
}

void run_group(const std::vector<Case>& cases, const std::string& group_name, const GroupOptions& options, Worker& compiler, Worker& runner,
               const std::function<void(CaseResult)>& done) {
  const Scratch scratch(group_name);
  std::vector<Pending> all;
  for (const Case& c : cases) {
    Pending& pending = all.emplace_back(Pending{c, {}, {}, {}});
    pending.result.suite = c.suite;
    pending.result.name = c.name;
    const json answer = compiler.ask({{"do", "compile"},
                                      {"model", (c.folder / "model.onnx").string()},
                                      {"namespace", c.name_space},
                                      {"out", scratch.path.string()},
                                      {"target", options.target},
                                      {"threads", options.threads},
                                      {"keeps_subnormals", options.keeps_subnormals}},
                                     options.compile_limit);
    pending.result.verdict = verdict_from(answer);
    pending.result.reason = answer.value("reason", "");
    pending.result.operators = answer.value("operators", std::set<std::string>());
    pending.result.opsets = answer.value("opsets", std::map<std::string, int64_t>());
    pending.result.elements = answer.value("elements", std::set<std::string>());
    pending.result.kernels = answer.value("kernels", std::set<std::string>());
    pending.result.host_reasons = answer.value("host_reasons", std::set<std::string>());
    pending.result.compile_seconds = answer.value("seconds", 0.0);
    if (pending.result.verdict != Verdict::Passed) continue;
    pending.libraries = answer["libraries"];
    for (const auto& file : answer["files"]) {
      const fs::path path = scratch.path / file.get<std::string>();
      pending.files.push_back({path.filename().string(), Text(read_file(path))});
      fs::remove(path);
    }
  }

  std::vector<Pending*> compiled;
  for (Pending& pending : all) {
    if (pending.result.verdict == Verdict::Passed && !options.compile_only) compiled.push_back(&pending);
  }
  const std::optional<fs::path> library = build(compiled, group_name, options);
  for (Pending* pending : compiled) {
    const json answer = runner.ask({{"do", "run"},
                                    {"library", library->string()},
                                    {"namespace", pending->of.name_space},
                                    {"case", pending->of.folder.string()},
                                    {"threads", options.threads}},
                                   options.run_limit);
    pending->result.verdict = verdict_from(answer);
    pending->result.reason = answer.value("reason", "");
  }
  for (Pending& pending : all) done(std::move(pending.result));
}

}  // namespace onnxc
