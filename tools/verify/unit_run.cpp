// The process is a fork, which has the unit loaded already. It leaves its answer in a file without a name: a letter for the kind, then for each
// text its length and its bytes.
#include "tools/verify/unit_run.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <memory>
#include <optional>
#include <thread>

#include "tools/driver/model_call.h"
#include "tools/driver/process.h"
#include "tools/driver/thread_team.h"

namespace onnxc {
namespace {

void put(std::string& out, std::string_view text) {
  const uint64_t size = text.size();
  out.append(reinterpret_cast<const char*>(&size), sizeof size);
  out.append(text);
}

/// The inverse; empty beyond the end.
std::string_view take(std::string_view& from) {
  uint64_t size = 0;
  if (from.size() < sizeof size) return {};
  std::memcpy(&size, from.data(), sizeof size);
  from.remove_prefix(sizeof size);
  const std::string_view text = from.substr(0, size);
  from.remove_prefix(text.size());
  return text;
}

std::string written(char kind, std::string_view why) {
  std::string out(1, kind);
  put(out, why);
  return out;
}

/// What the process says.
std::string run_here(const onnxc_model& unit, const std::vector<const HostValue*>& inputs, int threads) {
  try {
    const ThreadTeam team(threads);
    ModelCall call(unit, inputs, team.executor());
    if (const int32_t status = call.run(); status != 0) return written(status == ONNXC_OUT_OF_MEMORY ? 'u' : 'r', call.message());
    if (const std::string stray = call.find_stray_write(); !stray.empty()) return written('f', stray);
    std::string out = written('v', "");
    for (int32_t k = 0; k < unit.output_count; ++k) put(out, serialize_value(call.output(k), unit.outputs[k].name));
    return out;
  } catch (const Error& e) {  // what the interface already refuses
    return written(e.kind() == ErrorKind::Internal ? 'f' : e.kind() == ErrorKind::Budget ? 'u' : 'r', e.diagnostics()[0].text());
  } catch (const std::bad_alloc&) {
    return written('u', "there is not enough memory");
  } catch (const std::exception& e) {
    return written('f', e.what());
  }
}

bool write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = write(file, bytes.data(), bytes.size());
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

std::string read_all(int file) {
  std::string bytes;
  lseek(file, 0, SEEK_SET);
  std::string block(1 << 20, '\0');
  for (ssize_t n = 0; (n = read(file, block.data(), block.size())) > 0;) bytes.append(block, 0, static_cast<std::size_t>(n));
  return bytes;
}

/// Waits for the process. Returns its status, or nothing after the limit, when it has been killed.
std::optional<int> wait_for(pid_t process, double seconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  int status = 0;
  for (auto pause = std::chrono::milliseconds(1);; pause = std::min(2 * pause, std::chrono::milliseconds(100))) {
    const pid_t ended = waitpid(process, &status, WNOHANG);
    if (ended == process) return status;
    if (ended < 0 && errno != EINTR) return std::nullopt;
    if (std::chrono::steady_clock::now() > end) break;
    std::this_thread::sleep_for(pause);
  }
  kill(process, SIGKILL);
  waitpid(process, &status, 0);
  return std::nullopt;
}

}  // namespace

Answer run_unit(const onnxc_model& unit, const std::vector<const HostValue*>& inputs, const RunLimits& limits) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> answers(std::tmpfile(), std::fclose);
  if (answers == nullptr) throw Error(ErrorKind::Io, "there is no file for what a run answers");
  const int file = fileno(answers.get());
  std::fflush(nullptr);  // else both processes write what is still to be written
  const pid_t process = fork();
  if (process == 0) _exit(write_all(file, run_here(unit, inputs, limits.threads)) ? 0 : 1);
  if (process < 0) throw Error(ErrorKind::Io, "no process can be started for a run");
  const std::optional<int> status = wait_for(process, limits.seconds);
  const std::string bytes = read_all(file);
  if (!status) return {Answer::Kind::Fault, fmt::format("the run did not end within {:g} s", limits.seconds), {}};
  if (WIFSIGNALED(*status)) return {Answer::Kind::Fault, "the run crashed: " + signal_name(WTERMSIG(*status)), {}};
  if (*status != 0 || bytes.empty())
    return {Answer::Kind::Fault, fmt::format("the run ended the program with status {}", WEXITSTATUS(*status)), {}};
  std::string_view left = std::string_view(bytes).substr(1);
  const std::string why(take(left));
  switch (bytes[0]) {
    case 'r': return {Answer::Kind::Refused, why, {}};
    case 'u': return {Answer::Kind::Unknown, why, {}};
    case 'f': return {Answer::Kind::Fault, why, {}};
    default: break;
  }
  Answer answer;
  for (int32_t k = 0; k < unit.output_count; ++k)
    answer.outputs.push_back({unit.outputs[k].name, parse_value(take(left), static_cast<ValueKind>(unit.outputs[k].kind)), ""});
  return answer;
}

}  // namespace onnxc
