#include "tools/onnxc/serve.h"

#include <fmt/format.h>

#include "compiler/support/error.h"
#include "compiler/support/error_codes.h"

#ifdef ONNXC_HAS_SERVER
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <memory>
#include <set>

#include "serving/server.h"
#include "targets/target.h"
#include "tools/driver/leftovers.h"
#include "tools/driver/limits.h"
#include "tools/driver/process.h"
#include "tools/driver/temporary_folder.h"
#include "tools/driver/unit_library.h"
#include "tools/onnxc/model_options.h"

namespace onnxc {
namespace {

namespace fs = std::filesystem;
using serving::ModelSource;

/// What the command line names: a file, or a folder of models.
struct Served {
  std::string name, version;  // empty: told by the path
  fs::path path;
};

bool is_name(const std::string& text) {
  return !text.empty() && text.size() <= 128 && text[0] != '.' && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
  });
}

Served parse(const std::string& text) {
  Served served;
  const std::size_t equals = text.find('=');
  std::error_code error;
  if (equals == text.npos || fs::exists(text, error)) {
    served.path = text;
    return served;
  }
  served.path = text.substr(equals + 1);
  served.name = text.substr(0, equals);
  if (const std::size_t colon = served.name.find(':'); colon != served.name.npos) {
    served.version = served.name.substr(colon + 1);
    served.name.resize(colon);
    if (!is_name(served.version))
      throw Error(ErrorKind::Usage, fmt::format("'{}' is no version of a model", served.version), "letters, digits, and _ - . make one");
  }
  if (!is_name(served.name))
    throw Error(ErrorKind::Usage, fmt::format("'{}' is no name of a model", served.name), "letters, digits, and _ - . make one");
  return served;
}

/// Compiles models, each in a process of its own, and loads what comes of it.
class Compiler {
 public:
  Compiler(std::vector<std::string> options, const std::atomic<bool>& stop) : options_(std::move(options)), stop_(stop) {}

  ModelSource::Unit load(const fs::path& model) {
    const TemporaryFolder folder;
    const fs::path made = folder.path() / "unit.so";
    std::vector<std::string> command{"/proc/self/exe", model.string(), "--emit=shared", "--namespace=served", "-o", made.string()};
    command.insert(command.end(), options_.begin(), options_.end());
    const ProcessResult result = run_process(command, 0, &stop_);
    if (!result.ok()) {
      std::string output = result.output;
      while (output.ends_with('\n')) output.pop_back();
      throw std::runtime_error(result.timed_out ? "the server ends"
                               : output.empty() ? fmt::format("onnxc ended with {}", result.exit_code)
                                                : output);
    }
    const auto library = std::make_shared<const UnitLibrary>(made);  // what is loaded stays when its file goes
    return {&library->model("served_model"), library};
  }

  /// A source for the model in that file.
  ModelSource source(std::string name, std::string version, const fs::path& path) {
    std::error_code error;
    const auto time = fs::last_write_time(path, error);
    const std::uintmax_t size = fs::file_size(path, error);
    const std::string state = error ? std::string() : fmt::format("{} {}", time.time_since_epoch().count(), size);
    return {std::move(name), std::move(version), path.string(), [this, path] { return load(path); }, state};
  }

 private:
  const std::vector<std::string> options_;
  const std::atomic<bool>& stop_;
};

bool is_folder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}
bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

/// The folders in one, in the order of their names, without hidden ones. Nothing where it cannot be read.
std::vector<fs::path> folders_in(const fs::path& folder) {
  std::vector<fs::path> result;
  std::error_code error;
  for (fs::directory_iterator at(folder, error); !error && at != fs::directory_iterator(); at.increment(error)) {
    if (is_folder(at->path()) && is_name(at->path().filename().string())) result.push_back(at->path());
  }
  std::ranges::sort(result);
  return result;
}

/// That of the file, or of its folder where it is called model.onnx.
std::string name_of(const fs::path& file) {
  std::error_code error;
  const fs::path whole = fs::absolute(file, error).lexically_normal();
  return file.filename() == "model.onnx" ? whole.parent_path().filename().string() : file.stem().string();
}

std::vector<ModelSource> sources_of(const std::vector<Served>& all, Compiler& compiler) {
  std::vector<ModelSource> sources;
  for (const Served& served : all) {
    const auto own = [](const std::string& given, const std::string& otherwise) { return given.empty() ? otherwise : given; };
    const fs::path file = is_folder(served.path) ? served.path / "model.onnx" : served.path;
    if (file == served.path || is_there(file)) {
      sources.push_back(compiler.source(own(served.name, name_of(file)), own(served.version, "1"), file));
      continue;
    }
    // A repository: NAME/VERSION/model.onnx. A name that was given means that this is the folder of one model.
    for (const fs::path& model : served.name.empty() ? folders_in(served.path) : std::vector{served.path}) {
      const std::string name = own(served.name, model.filename().string());
      if (is_there(model / "model.onnx")) sources.push_back(compiler.source(name, "1", model / "model.onnx"));
      for (const fs::path& version : folders_in(model)) {
        if (is_there(version / "model.onnx")) sources.push_back(compiler.source(name, version.filename().string(), version / "model.onnx"));
      }
    }
  }
  return sources;
}

/// Refuses what could not be served as it is meant.
void check(const std::vector<ModelSource>& sources) {
  if (sources.empty()) throw Error(ErrorKind::Usage, "there is no model in these folders", "they hold NAME/VERSION/model.onnx");
  std::set<std::pair<std::string, std::string>> known;
  for (const ModelSource& source : sources) {
    if (!is_name(source.name))
      throw Error(ErrorKind::Usage, fmt::format("'{}' cannot be the name of a model in a path", source.name), "NAME=FILE gives it another");
    if (!is_there(source.origin)) throw Error(ErrorKind::Io, fmt::format("{}: there is no such file", source.origin));
    if (!known.emplace(source.name, source.version).second)
      throw Error(ErrorKind::Usage, fmt::format("model '{}' is there twice in version {}", source.name, source.version),
                  "NAME=FILE and NAME:VERSION=FILE tell them apart");
  }
}

struct Held {
  std::vector<std::string> models;
  ModelOptions model;
  serving::ServerOptions server;
  std::set<std::string> compiler_options;  // those that compiling takes
};

int serve_command(const CLI::App& app, Held& held) {
  std::vector<Served> served;
  for (const std::string& text : held.models) served.push_back(parse(text));
  std::vector<std::string> options;
  bool has_zipmap = false;
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() == 0 || !held.compiler_options.contains(option->get_name())) continue;
    for (const std::string& value : option->results()) {
      const bool is_flag = option->get_expected_max() == 0;
      if (is_flag) options.push_back(option->get_name());
      else options.insert(options.end(), {option->get_name(), value});
    }
    has_zipmap |= option->get_name() == "--zipmap";
    if (option->get_name() == "--threads") held.server.batch.threads = option->as<int>();
  }
  if (!has_zipmap) options.push_back("--zipmap=tensor");  // the protocol has no maps
  if (const auto target = find_target(held.model.options().target); target && !is_of_this_machine(*target))
    throw Error(ErrorCode::NotOnThisMachine, fmt::format("a unit for {} cannot be served by this machine", target->name));
  held.server.service.version = ONNXC_VERSION;
  held.server.finish();

  static std::atomic<bool> end{false}, reload{false};
  lift_limits();
  asked_to_end = &end;
  asked_to_reload = &reload;
  // Under nohup the warden leaves this signal alone. Here it means something else than the end of a terminal.
  if (struct sigaction action{}; sigaction(SIGHUP, nullptr, &action) == 0 && action.sa_handler == SIG_IGN)
    std::signal(SIGHUP, [](int) { reload.store(true); });
  held.server.leave = [](int status) {
    abandon();
    _exit(status);
  };
  Compiler compiler(std::move(options), end);
  check(sources_of(served, compiler));
  try {
    return serving::serve(
        held.server, [&] { return sources_of(served, compiler); },
        [] {
          if (end.load()) return serving::Wanted::End;
          return reload.exchange(false) ? serving::Wanted::Reload : serving::Wanted::Nothing;
        });
  } catch (const serving::ListenError& error) {
    throw Error(ErrorKind::Usage, error.what());
  } catch (const std::runtime_error& error) {
    throw Error(ErrorKind::Io, error.what());
  }
}

}  // namespace

void add_serve(CLI::App& app, std::function<int()>& command) {
  CLI::App& serve = *app.add_subcommand("serve",
                                        "Put models behind a port: the Open Inference Protocol v2 over HTTP, as Triton and KServe speak "
                                        "it; see docs/server.md. SIGHUP loads models anew, "
                                        "SIGTERM answers what is under way and ends");
  const auto held = std::make_shared<Held>();
  serve.add_option("model", held->models, "model.onnx, NAME=model.onnx, NAME:VERSION=model.onnx, or a folder with NAME/VERSION/model.onnx")
      ->required();
  held->server.add_to(serve);
  std::set<std::string> others;
  for (const CLI::Option* option : serve.get_options()) others.insert(option->get_name());
  held->model.add_to(serve);
  for (const CLI::Option* option : serve.get_options()) {
    if (!others.contains(option->get_name())) held->compiler_options.insert(option->get_name());
  }
  serve.callback([held, &serve, &command] { command = [held, &serve] { return serve_command(serve, *held); }; });
}

}  // namespace onnxc

#else

namespace onnxc {

void add_serve(CLI::App& app, std::function<int()>& command) {
  CLI::App& serve = *app.add_subcommand("serve", "Put models behind a port (this build of onnxc has no server)");
  static std::vector<std::string> models;
  serve.add_option("model", models, "ONNX models");
  serve.allow_extras();
  serve.callback([&command] {
    command = []() -> int {
      throw Error(ErrorKind::Usage, "this onnxc was built without a server", "build it where the headers of Boost are: libboost1.81-dev");
    };
  });
}

}  // namespace onnxc
#endif
