// A library's name in the cache is a hash of everything that can change it: sources, flags, the compiler's version
// and the runtime's headers. It is built in a folder of its own and renamed into place, so that several processes can
// build at once.
#include "tools/driver/build_library.h"
#include "compiler/support/error_codes.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <sstream>

#include "codegen/standalone.h"
#include "compiler/support/error.h"
#include "compiler/support/sha256.h"
#include "compiler/support/stage.h"
#include "tools/driver/files.h"
#include "tools/driver/gpu.h"
#include "tools/driver/leftovers.h"
#include "tools/driver/process.h"

namespace onnxc {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kCacheLimit = std::uintmax_t{8} << 30;
constexpr std::chrono::hours kLongestBuild{24};

std::string hash(const std::string& text) { return sha256(std::as_bytes(std::span(text))); }
std::string hash(const Text& text) {
  Sha256 all;
  text.write([&](std::string_view piece) { all.add(std::as_bytes(std::span(piece))); });
  return all.hex();
}

/// The output of `g++ --version`, queried once.
std::string compiler_version(const std::string& compiler) {
  static std::mutex mutex;
  static std::map<std::string, std::string> known;
  const std::lock_guard lock(mutex);
  const auto [at, is_new] = known.try_emplace(compiler);
  if (is_new) {
    std::vector<std::string> command = compiler_words(compiler);
    command.emplace_back("--version");
    at->second = run_process(command).output;
  }
  return at->second;
}

/// Of the environment, unless it is empty.
std::optional<std::string> variable(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr && *value != '\0' ? std::optional<std::string>(value) : std::nullopt;
}

/// A hash of all headers of the runtime, which are read once.
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
  std::string all = fmt::format("1 {}{}{}\n{}\n{}\n{}\n", request.shared, request.position_independent ? "" : " fixed",
                                request.call_graph ? " calls" : "", compiler, compiler_version(compiler), runtime_hash());
  if (!request.architecture.empty()) all += fmt::format("{} {}\n", request.architecture, compiler_version(system_compiler()));
  for (const auto* list : {&request.flags, &request.to_compile, &request.objects, &request.libraries}) {
    for (const std::string& item : *list) all += item + '\n';
    all += '\n';
  }
  for (const SideFile& file : request.files) all += fmt::format("{} {}\n", file.name, hash(file.bytes));
  for (const fs::path& header : other_headers(request)) all += fmt::format("{} {}\n", header.string(), hash(read_file(header)));
  return hash(all).substr(0, 32);
}

/// Removes the least recently used libraries while all of them exceed the limit, and what processes have left that were killed.
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
    if (entry.path().extension() == ".ci") continue;  // goes with its object
    if (entry.path().extension() != ".so" && entry.path().extension() != ".o") {
      if (fs::file_time_type::clock::now() - entry.last_write_time(error) > kLongestBuild) fs::remove_all(entry.path(), error);
      continue;
    }
    entries.push_back({entry.last_write_time(error), entry.file_size(error), entry.path()});
    total += entries.back().bytes;
  }
  std::ranges::sort(entries, {}, &Entry::used);
  for (const Entry& entry : entries) {
    if (total <= kCacheLimit) break;
    fs::remove(entry.path, error);
    fs::remove(fs::path(entry.path).replace_extension(".ci"), error);
    total -= entry.bytes;
  }
}

std::string compiler_of(const BuildRequest& request) {
  return !request.architecture.empty() ? find_nvcc() : request.compiler.empty() ? system_compiler() : request.compiler;
}

/// The compiler, the flags that determine what is compiled, and the sources.
std::vector<std::string> compile_command(const BuildRequest& request, const fs::path& folder) {
  const bool by_nvcc = !request.architecture.empty();
  std::vector<std::string> command = compiler_words(compiler_of(request));
  command.insert(command.end(), {"-std=c++20", "-I" + runtime_folder(), "-I" + folder.string()});
  const auto of_host = [&](const std::string& flag) {
    if (by_nvcc && !flag.starts_with("-I") && !flag.starts_with("-O")) command.emplace_back("-Xcompiler");
    command.push_back(flag);
  };
  if (by_nvcc)
    command.insert(command.end(),
                   {"-ccbin", system_compiler(), "-arch=" + request.architecture, "--extended-lambda", "--expt-relaxed-constexpr"});
  if (request.position_independent) of_host("-fPIC");
  for (const std::string& flag : request.flags) of_host(flag);
  for (const std::string& name : request.to_compile) {
    const bool cuda = !by_nvcc && name.ends_with(".cu");  // which a compiler of C++ takes for a linker script
    if (cuda) command.insert(command.end(), {"-x", "c++"});
    command.push_back((folder / name).string());
    if (cuda) command.insert(command.end(), {"-x", "none"});
  }
  return command;
}

void write_files(const BuildRequest& request, const fs::path& folder) {
  make_folder(folder);
  for (const SideFile& file : request.files) write_file(folder / file.name, file.bytes);
}

void put_in_cache(Leftover& made, const fs::path& library) {
  std::error_code error;
  fs::rename(made.path(), library, error);
  if (error) throw Error(ErrorCode::CannotWrite, fmt::format("{} cannot be written: {}", library.string(), error.message()));
  made.keep();
}

std::string unique_suffix() {
  static std::atomic<int> counter = 0;
  return fmt::format("{}.{}", getpid(), counter++);
}

/// The words of a make rule after its target. A backslash escapes a blank.
std::vector<std::string> prerequisites(const std::string& rule) {
  std::vector<std::string> words(1);
  for (std::size_t i = std::min(rule.find(": "), rule.size() - 1) + 1; i < rule.size(); ++i) {
    const bool escaped = rule[i] == '\\' && i + 1 < rule.size();
    if (escaped && rule[i + 1] != '\n') words.back() += rule[++i];
    else if (escaped || rule[i] == ' ' || rule[i] == '\n') words.emplace_back();
    else words.back() += rule[i];
  }
  std::erase(words, "");
  return words;
}

}  // namespace

std::vector<fs::path> other_headers(const BuildRequest& request) {
  if (!request.includes_others) return {};
  const Leftover work(cache_folder() / "units" / ("headers." + unique_suffix()));
  write_files(request, work.path());
  std::vector<std::string> command = compile_command(request, work.path());
  command.emplace_back("-MM");
  const ProcessResult result = run_process(command);
  if (!result.ok()) throw BuildError(result.output);
  std::set<fs::path> headers;
  for (const std::string& word : prerequisites(result.output)) {
    const std::string path = fs::absolute(word).lexically_normal().string();
    if (!path.starts_with(work.path().string()) && !path.starts_with(runtime_folder()) && fs::exists(path)) headers.insert(path);
  }
  return {headers.begin(), headers.end()};
}

std::string system_compiler() { return variable("ONNXC_CXX").value_or(host_compiler()); }

std::string host_compiler() { return variable("CXX").value_or("c++"); }

std::string cross_compiler(std::string_view triple) {
  return variable("ONNXC_CXX").value_or(triple.starts_with("wasm") ? "clang++" : std::string(triple) + "-g++");
}

std::vector<std::string> compiler_words(const std::string& compiler) {
  if (fs::exists(compiler)) return {compiler};
  std::vector<std::string> words;
  std::istringstream text(compiler);
  for (std::string word; text >> word;) words.push_back(word);
  return words.empty() ? std::vector{compiler} : words;
}

std::string compiler_name(const std::string& compiler) {
  const std::string version = compiler_version(compiler);
  return version.substr(0, version.find('\n'));
}

std::string runtime_fingerprint() { return runtime_hash().substr(0, 12); }

fs::path build_library(const BuildRequest& request) {
  const Stage stage("the C++ compiler");
  const std::string compiler = compiler_of(request);
  const fs::path cache = cache_folder() / "units";
  make_folder(cache);
  const std::string key = cache_key(request, compiler);
  const fs::path library = cache / (key + (request.shared ? ".so" : ".o"));
  if (request.keep_in.empty() && fs::exists(library)) {
    std::error_code error;
    fs::last_write_time(library, fs::file_time_type::clock::now(), error);
    return library;
  }

  Leftover removed;
  if (request.keep_in.empty()) removed = Leftover(cache / (key + "." + unique_suffix()));
  const fs::path& work = request.keep_in.empty() ? removed.path() : request.keep_in;
  write_files(request, work);
  if (fs::exists(library)) return library;
  std::vector<std::string> command = compile_command(request, work);
  if (!request.call_graph) {
    for (const std::string& name : request.objects) command.push_back((work / name).string());
  }
  if (request.call_graph) {
    command.insert(command.end(), {"-c", "-fcallgraph-info=su,da"});
  } else if (request.shared) {
    command.push_back("-shared");
    for (const std::string& name : request.libraries) command.push_back("-l" + name);
  } else if (request.architecture.empty() && request.to_compile.size() == 1 && request.objects.empty()) {
    command.emplace_back("-c");  // a compiler with a linker script of its own does not link a part
  } else {
    // nvcc links as the host's compiler does, and would add its runtime.
    if (!request.architecture.empty()) command.insert(command.end(), {"-cudart", "none", "-Xcompiler", "-r,-nostdlib"});
    else command.insert(command.end(), {"-r", "-nostdlib"});
  }
  Leftover made(request.call_graph ? work / "made.o" : cache / fmt::format("{}.{}.tmp", key, unique_suffix()));
  command.insert(command.end(), {"-o", made.path().string()});
  const ProcessResult result = run_process(command);
  if (!result.ok()) {
    const std::string why = result.signal != 0 ? fmt::format("{} was ended by {}\n", compiler, signal_name(result.signal)) : std::string();
    throw BuildError(why + result.output);
  }
  if (!fs::exists(made.path())) throw BuildError(compiler + " says that all is well, and has made no file");
  if (std::error_code none; request.call_graph) fs::rename(work / "made.ci", fs::path(library).replace_extension(".ci"), none);
  put_in_cache(made, library);
  prune(cache);
  return library;
}

}  // namespace onnxc
