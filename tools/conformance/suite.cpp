#include "tools/conformance/suite.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <regex>

#include "compiler/support/error.h"
#include "tools/driver/files.h"
#include "tools/driver/process.h"

namespace onnxc {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 5> kOnnxSuites = {"node", "light", "simple", "pytorch-converted", "pytorch-operator"};
constexpr std::string_view kOnnxVersion = "1.23.2";

/// The Python that has the pinned onnx wheel: $ONNXC_PYTHON, the environment of tools/setup.sh, or the system's.
std::string python() {
  if (const char* given = std::getenv("ONNXC_PYTHON"); given != nullptr && *given != '\0') return given;
  const fs::path made = cache_folder() / "venv-test-1" / "bin" / "python";
  return fs::exists(made) ? made.string() : "python3";
}

/// The folder of one of ONNX's suites, which is generated on first use.
fs::path onnx_suite(const std::string& name) {
  const fs::path root = cache_folder() / fmt::format("conformance-{}", kOnnxVersion);
  if (fs::exists(root / name / ".complete")) return root / name;
  const fs::path script = fs::path(ONNXC_CONFORMANCE_DIR) / "generate_suite.py";
  fs::create_directories(root);
  const ProcessResult made = run_process({python(), script.string(), root.string(), name});
  if (!made.ok())
    throw Error(ErrorKind::Io, fmt::format("the suite {} could not be made:\n{}", name, made.output),
                "run tools/setup.sh --test-deps once");
  return root / name;
}

}  // namespace

Suite find_suite(const std::string& what) {
  const bool is_onnx = std::ranges::find(kOnnxSuites, what) != kOnnxSuites.end() && !fs::exists(fs::path(what) / "model.onnx");
  const fs::path root = is_onnx ? onnx_suite(what) : fs::path(what);
  Suite suite;
  suite.name = is_onnx ? what : fs::weakly_canonical(root).filename().string();
  const auto add = [&](const fs::path& folder, const std::string& name) {
    suite.cases.push_back({suite.name, name, folder, "", fs::file_size(folder / "model.onnx")});
  };
  if (!fs::is_directory(root)) throw Error(ErrorKind::Io, fmt::format("{} is neither a suite nor a folder", what));
  if (fs::exists(root / "model.onnx")) {
    add(root, suite.name);
  } else {
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
      if (entry.path().filename() == "model.onnx") add(entry.path().parent_path(), fs::relative(entry.path().parent_path(), root).string());
    }
  }
  if (suite.cases.empty()) throw Error(ErrorKind::Io, fmt::format("{} holds no model.onnx", what));
  std::ranges::sort(suite.cases, {}, &Case::name);
  for (std::size_t i = 0; i < suite.cases.size(); ++i) suite.cases[i].name_space = fmt::format("case_{:04}", i);
  return suite;
}

void filter_cases(Suite& suite, const std::string& regex) {
  if (regex.empty()) return;
  try {
    const std::regex wanted(regex);
    std::erase_if(suite.cases, [&](const Case& c) { return !std::regex_search(c.name, wanted); });
  } catch (const std::regex_error& error) {
    throw Error(ErrorKind::Usage, fmt::format("--filter '{}' is no regular expression: {}", regex, error.what()));
  }
}

void sample_cases(Suite& suite, uint64_t n) {
  const auto hash = [](const std::string& name) {  // FNV-1a
    uint64_t h = 0xcbf29ce484222325;
    for (const char c : name) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return h >> 32;  // the lowest bits mix little
  };
  std::erase_if(suite.cases, [&](const Case& c) { return hash(c.name) % n != 0; });
}

}  // namespace onnxc
