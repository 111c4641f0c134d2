// A library's name in the cache is the hash of all that can change it: sources, flags, the compiler's version and the runtime's headers.
// It is built in a folder of its own and renamed into place, so that several processes may build at once.
#include "tools/driver/unit_library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>
#include <span>

#include "codegen/standalone.h"
#include "compiler/support/error.h"
#include "compiler/support/sha256.h"
#include "tools/driver/files.h"
#include "tools/driver/process.h"

namespace onnxc {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kCacheLimit = std::uintmax_t{8} << 30;

std::string hash(const std::string& text) { return sha256(std::as_bytes(std::span(text))); }

/// `g++ --version`, asked once.
std::string compiler_version(const std::string& compiler) {
  static std::mutex mutex;
  static std::map<std::string, std::string> known;
  const std::lock_guard lock(mutex);
  const auto [at, is_new] = known.try_emplace(compiler);
  if (is_new) at->second = run_process({compiler, "--version"}).output;
  return at->second;
}

/// All headers of the runtime, read once.
const std::string& runtime_hash() {
  static const std::string result = [] {
    std::vector<fs::path> headers;
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(runtime_folder()) / "onnxc")) {
      if (entry.is_regular_file()) headers.push_back(entry.path());
    }
    std::ranges::sort(headers);
    std::string all;
    for (const fs::path& header : headers) all += header.string() + '\n' + read_file(header);
    return hash(all);
  }();
  return result;
}

std::string cache_key(const BuildRequest& request, const std::string& compiler) {
  std::string all = fmt::format("1 {}\n{}\n{}\n{}\n", request.shared, compiler, compiler_version(compiler), runtime_hash());
  for (const auto* list : {&request.flags, &request.to_compile, &request.objects, &request.libraries}) {
    for (const std::string& item : *list) all += item + '\n';
    all += '\n';
  }
  for (const SideFile& file : request.files) all += fmt::format("{} {}\n", file.name, hash(file.bytes));
  return hash(all).substr(0, 32);
}

/// Removes what was used longest ago while the libraries take more than the limit.
void prune(const fs::path& folder) {
  struct Entry {
    fs::file_time_type used;
    std::uintmax_t bytes;
    fs::path path;
  };
  std::vector<Entry> entries;
  std::uintmax_t total = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() != ".so" && entry.path().extension() != ".o") continue;
    entries.push_back({entry.last_write_time(error), entry.file_size(error), entry.path()});
    total += entries.back().bytes;
  }
  std::ranges::sort(entries, {}, &Entry::used);
  for (const Entry& entry : entries) {
    if (total <= kCacheLimit) break;
    fs::remove(entry.path, error);
    total -= entry.bytes;
  }
}

/// A folder that is removed at the end, unless it is kept.
struct WorkFolder {
  fs::path path;
  bool keep = false;
  ~WorkFolder() {
    std::error_code error;
    if (!keep) fs::remove_all(path, error);
  }
};

}  // namespace

std::string system_compiler() {
  for (const char* variable : {"ONNXC_CXX", "CXX"}) {
    if (const char* compiler = std::getenv(variable); compiler != nullptr && *compiler != '\0') return compiler;
  }
  return "c++";
}

fs::path build_library(const BuildRequest& request) {
  const std::string compiler = system_compiler();
  const fs::path cache = cache_folder() / "units";
  fs::create_directories(cache);
  const std::string key = cache_key(request, compiler);
  const fs::path library = cache / (key + (request.shared ? ".so" : ".o"));
  if (request.keep_in.empty() && fs::exists(library)) {
    std::error_code error;
    fs::last_write_time(library, fs::file_time_type::clock::now(), error);
    return library;
  }

  static std::atomic<int> counter = 0;
  WorkFolder work{request.keep_in, true};
  if (request.keep_in.empty()) work = {cache / fmt::format("{}.{}.{}", key, getpid(), counter++), false};
  fs::create_directories(work.path);
  for (const SideFile& file : request.files) write_file(work.path / file.name, file.bytes);
  if (fs::exists(library)) return library;
  std::vector<std::string> command = {compiler, "-std=c++20", "-fPIC", "-I" + runtime_folder(), "-I" + work.path.string()};
  command.insert(command.end(), request.flags.begin(), request.flags.end());
  for (const auto* list : {&request.to_compile, &request.objects}) {
    for (const std::string& name : *list) command.push_back((work.path / name).string());
  }
  if (request.shared) {
    command.push_back("-shared");
    for (const std::string& name : request.libraries) command.push_back("-l" + name);
  } else {
    command.insert(command.end(), {"-r", "-nostdlib"});
  }
  const fs::path made = cache / fmt::format("{}.{}.{}.tmp", key, getpid(), counter++);
  command.insert(command.end(), {"-o", made.string()});
  const ProcessResult result = run_process(command);
  if (!result.ok()) {
    std::error_code error;
    fs::remove(made, error);
    const std::string why = result.signal != 0 ? fmt::format("{} was ended by {}\n", compiler, signal_name(result.signal)) : std::string();
    throw BuildError(why + result.output);
  }
  fs::rename(made, library);
  prune(cache);
  return library;
}

UnitLibrary::UnitLibrary(const fs::path& path) : handle_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (handle_ == nullptr) throw Error(ErrorKind::Internal, fmt::format("{} cannot be loaded: {}", path.string(), dlerror()));
}

UnitLibrary::~UnitLibrary() { dlclose(handle_); }

const onnxc_model& UnitLibrary::model(const std::string& function) const {
  void* const symbol = dlsym(handle_, function.c_str());
  if (symbol == nullptr) throw Error(ErrorKind::Internal, fmt::format("the unit has no function {}", function));
  const onnxc_model* const model = reinterpret_cast<const onnxc_model* (*)()>(symbol)();
  if (model == nullptr || model->struct_bytes < sizeof(onnxc_model))
    throw Error(ErrorKind::Internal, fmt::format("{} returns no model", function));
  return *model;
}

}  // namespace onnxc
