#include "tools/conformance/worker.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <memory>
#include <optional>
#include <regex>

#include "tools/driver/compile_unit.h"
#include "tools/driver/data_set.h"
#include "tools/driver/files.h"
#include "tools/driver/model_call.h"
#include "tools/driver/process.h"
#include "tools/driver/thread_team.h"

extern char** environ;

namespace onnxc {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kWorkerSocket = 3;

json verdict(const char* word, const std::string& reason) { return {{"verdict", word}, {"reason", reason}}; }

/// Many nodes may say the same: `Conv, Gemm: this operator is not supported`. The names of nodes are left out unless it is about one alone.
std::string reason_of(const Error& error) {
  const bool about_one = error.diagnostics().size() < 2;
  if (about_one && (error.kind() != ErrorKind::Unsupported || error.diagnostics().empty() || error.diagnostics()[0].op.empty()))
    return error.what();
  std::map<std::string, std::set<std::string>> operators;  // by what was found
  for (const Diagnostic& diagnostic : error.diagnostics()) operators[diagnostic.found].insert(diagnostic.op);
  std::string text;
  for (const auto& [found, ops] : operators) text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", fmt::join(ops, ", "), found);
  return text;
}

json verdict_of(const Error& error) {
  const char* kind = "";
  switch (error.kind()) {
    case ErrorKind::Unsupported: return verdict("unsupported", reason_of(error));
    case ErrorKind::Invalid: kind = "refused as invalid: "; break;
    case ErrorKind::Internal: kind = "internal error: "; break;
    case ErrorKind::Budget: kind = "over budget: "; break;
    case ErrorKind::Usage:
    case ErrorKind::Io: break;
  }
  return verdict("failed", kind + reason_of(error));
}

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
    options.threads = request["threads"];
    const auto begin = std::chrono::steady_clock::now();
    const Compilation compilation = compile_model(model, options);
    Unit unit = emit_compilation(compilation, options);
    answer["seconds"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    std::set<std::string> kernels;
    for_each_step(compilation.program.steps, [&](const Step& step, int) {
      if (step.kind == Step::Kind::Call) kernels.insert(step.row.empty() ? step.function : step.row);
    });
    answer["kernels"] = kernels;
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

/// ONNX leaves the values of these to chance; the outputs in its tests are one outcome of many.
bool is_random(const ModelSummary& model) {
  for (const char* op : {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"}) {
    if (model.operators.contains(op)) return true;
  }
  return false;
}

/// Dropout in training leaves elements zero at chance, which the tests' own zeros show: then those that are zero on either side are not compared.
HostValue with_zeros_of(HostValue value, const HostValue& got, const ModelSummary& model) {
  if (!model.operators.contains("Dropout") || got.kind != ValueKind::Tensor) return value;
  TensorData& expected = value.tensor;
  const TensorData& actual = got.tensor;
  if (expected.type != actual.type || expected.shape != actual.shape) return value;
  const auto width = static_cast<std::size_t>(info(expected.type).bits) / 8;
  if (width == 0) return value;
  const auto is_zero = [&](const TensorData& t, std::size_t at) {  // of either sign
    std::vector<std::byte> element(t.bytes.begin() + static_cast<std::ptrdiff_t>(at), t.bytes.begin() + static_cast<std::ptrdiff_t>(at + width));
    if (is_float(t.type)) element.back() &= std::byte{0x7f};
    return std::all_of(element.begin(), element.end(), [](std::byte b) { return b == std::byte{0}; });
  };
  const TensorData given = expected;
  bool any = false;
  for (std::size_t at = 0; at + width <= given.bytes.size(); at += width) {
    any = any || is_zero(given, at);
    if (is_zero(given, at) != is_zero(actual, at)) std::memcpy(expected.bytes.data() + at, actual.bytes.data() + at, width);
  }
  if (!any) expected = given;
  return value;
}

/// Empty when the run is as the data set expects.
std::string find_fault(const onnxc_model& unit, const ModelSummary& model, const DataSet& data, const Tolerance& tolerance,
                       const onnxc_executor* executor) {
  ModelCall call(unit, feeds(unit, model, data), executor);
  const auto begin = std::chrono::steady_clock::now();
  if (const int32_t status = call.run(); status != 0) return fmt::format("run: {}", status_text(status));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  if (std::string stray = call.find_stray_write(); !stray.empty()) return stray;
  std::vector<HostValue> first;
  for (std::size_t k = 0; k < data.outputs.size(); ++k) {
    if (static_cast<int32_t>(k) >= unit.output_count)
      return fmt::format("the unit has {} outputs, the model {}", unit.output_count, data.outputs.size());
    first.push_back(call.output(static_cast<int32_t>(k)));
    if (!data.outputs[k]) continue;
    const HostValue& expected = *data.outputs[k];
    if (is_random(model)) {
      if (describe(first[k]) != describe(expected))
        return fmt::format("output '{}' is {}, expected {}", model.outputs[k].name, describe(first[k]), describe(expected));
      continue;
    }
    const Comparison comparison = compare(first[k], expected.kind == ValueKind::Tensor ? with_zeros_of(expected, first[k], model) : expected, tolerance);
    if (!comparison.within) return fmt::format("output '{}': {}", model.outputs[k].name, comparison.reason);
  }
  // All state is in the arena, so a second run on the used arena gives the same bytes.
  if (took.count() > 1) return "";
  if (const int32_t status = call.run(); status != 0) return fmt::format("second run: {}", status_text(status));
  for (std::size_t k = 0; k < first.size(); ++k) {
    if (!(call.output(static_cast<int32_t>(k)) == first[k]))
      return fmt::format("output '{}' of a second run differs", model.outputs[k].name);
  }
  return "";
}

/// Libraries stay loaded while cases of the same group follow each other.
const UnitLibrary& load(const std::string& path) {
  static std::string loaded;
  static std::unique_ptr<UnitLibrary> library;
  if (loaded != path) {
    library = std::make_unique<UnitLibrary>(path);
    loaded = path;
  }
  return *library;
}

json run_case(const json& request) {
  const fs::path folder = request["case"].get<std::string>();
  try {
    const ModelSummary model = summarize_model(folder / "model.onnx");
    const onnxc_model& unit = load(request["library"]).model(request["namespace"].get<std::string>() + "_model");
    const Tolerance tolerance = read_tolerance(folder, {});
    const ThreadTeam team(request["threads"]);
    const std::vector<fs::path> sets = find_data_sets(folder);
    if (sets.empty()) return verdict("failed", "the case has no data");
    for (const fs::path& set : sets) {
      const std::string fault = find_fault(unit, model, read_data_set(set, model), tolerance, team.executor());
      if (!fault.empty()) return verdict("failed", sets.size() > 1 ? fmt::format("{}: {}", set.filename().string(), fault) : fault);
    }
    return verdict("passed", "");
  } catch (const Error& error) {
    return verdict_of(error);
  }
}

json answer_to(const json& request) {
  try {
    return request["do"] == "compile" ? compile_case(request) : run_case(request);
  } catch (const std::exception& error) {
    return verdict("failed", error.what());
  }
}

bool send_line(int socket, const json& message) {
  const std::string line = message.dump(-1, ' ', false, json::error_handler_t::replace) + '\n';
  for (std::size_t sent = 0; sent < line.size();) {
    const ssize_t count = send(socket, line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    sent += static_cast<std::size_t>(count);
  }
  return true;
}

enum class Received { Line, End, Timeout };

/// The next line, kept in `buffer` up to what follows it. `seconds` 0 waits without end.
Received receive_line(int socket, std::string& buffer, std::string& line, double seconds) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  std::array<char, 65536> bytes;
  while (true) {
    if (const std::size_t end = buffer.find('\n'); end != std::string::npos) {
      line = buffer.substr(0, end);
      buffer.erase(0, end + 1);
      return Received::Line;
    }
    const std::chrono::duration<double, std::milli> left = deadline - std::chrono::steady_clock::now();
    if (seconds > 0 && left.count() <= 0) return Received::Timeout;
    pollfd waiting{socket, POLLIN, 0};
    if (poll(&waiting, 1, seconds > 0 ? static_cast<int>(left.count()) + 1 : -1) <= 0) continue;
    const ssize_t count = recv(socket, bytes.data(), bytes.size(), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return Received::End;
    buffer.append(bytes.data(), static_cast<std::size_t>(count));
  }
}

}  // namespace

int serve_worker(int socket) {
  std::string buffer, line;
  while (receive_line(socket, buffer, line, 0) == Received::Line) {
    if (!send_line(socket, answer_to(json::parse(line)))) break;
  }
  return 0;
}

void Worker::start() {
  int ends[2];
  errors_ = memfd_create("errors", MFD_CLOEXEC);
  if (errors_ < 0) throw Error(ErrorKind::Io, "no file in memory");
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) throw Error(ErrorKind::Io, "no socket");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, errors_, STDERR_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], kWorkerSocket);
  const std::string program = fs::read_symlink("/proc/self/exe").string();
  std::string argument = kWorkerArgument;
  char* const arguments[] = {const_cast<char*>(program.c_str()), argument.data(), nullptr};
  const int error = posix_spawn(&process_, program.c_str(), &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  socket_ = ends[0];
  received_.clear();
  if (error != 0) {
    process_ = 0;
    stop();
    throw Error(ErrorKind::Io, fmt::format("{} cannot be started: {}", program, std::strerror(error)));
  }
}

int Worker::stop() {
  if (socket_ >= 0) close(std::exchange(socket_, -1));
  if (errors_ >= 0) close(std::exchange(errors_, -1));
  if (process_ == 0) return 0;
  kill(process_, SIGKILL);
  int status = 0;
  while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
  process_ = 0;
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

std::string Worker::read_end(int status) const {
  static const std::regex report("(runtime error: |ERROR: [A-Za-z]+Sanitizer: )([^\n]*)");
  std::string text(static_cast<std::size_t>(std::max<off_t>(lseek(errors_, 0, SEEK_END), 0)), '\0');
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(pread(errors_, text.data(), text.size(), 0), 0)));
  if (std::smatch found; std::regex_search(text, found, report)) return found.str();
  return WIFSIGNALED(status) ? signal_name(WTERMSIG(status)) : fmt::format("exit status {}", WEXITSTATUS(status));
}

json Worker::ask(const json& request, double seconds) {
  if (process_ == 0) start();
  std::string line;
  const Received received = send_line(socket_, request) ? receive_line(socket_, received_, line, seconds) : Received::End;
  const char* doing = request["do"] == "compile" ? "compiling" : "running";
  switch (received) {
    case Received::Line: return json::parse(line);
    case Received::Timeout: stop(); return verdict("failed", fmt::format("{} took longer than {} s", doing, seconds));
    case Received::End: break;
  }
  // The process is ending by itself; wait for it rather than kill it, so that its own signal is seen.
  int status = 0;
  while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
  process_ = 0;
  const std::string end = read_end(status);
  stop();
  return verdict("failed", fmt::format("crashed with {} while {}", end, doing));
}

}  // namespace onnxc
