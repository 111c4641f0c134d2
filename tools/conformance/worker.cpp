#include "tools/conformance/worker.h"

#include <fcntl.h>
#include <fmt/format.h>
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
#include <filesystem>
#include <regex>

#include "tools/conformance/answer.h"
#include "tools/driver/process.h"

extern char** environ;

namespace onnxc {
namespace {

using nlohmann::json;

constexpr int kWorkerSocket = 3;

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

/// Receives the next line; what follows it stays in `buffer`. With `seconds` 0 there is no time limit.
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

int serve_worker(const std::function<json(const json&)>& answer) {
  const auto answer_to = [&](const json& request) {
    try {
      return answer(request);
    } catch (const std::exception& error) {
      return verdict("failed", error.what());
    }
  };
  std::string buffer, line;
  while (receive_line(kWorkerSocket, buffer, line, 0) == Received::Line) {
    if (!send_line(kWorkerSocket, answer_to(json::parse(line)))) break;
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
  std::vector<std::string> words = command_;
  if (words.empty()) words.push_back(std::filesystem::read_symlink("/proc/self/exe").string());
  words.emplace_back(kWorkerArgument);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const int error = posix_spawnp(&process_, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  socket_ = ends[0];
  received_.clear();
  if (error != 0) {
    process_ = 0;
    stop();
    throw Error(ErrorKind::Io, fmt::format("{} cannot be started: {}", words[0], std::strerror(error)));
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
  static const std::regex report("(runtime error: |(ERROR|WARNING): [A-Za-z]+Sanitizer: |==[0-9]+== )([^\n]*)");  // the last is memcheck's
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
  // The process is ending by itself. Wait for it rather than kill it, so that its own signal is seen.
  int status = 0;
  while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
  process_ = 0;
  const std::string end = read_end(status);
  stop();
  return verdict("failed", fmt::format("crashed with {} while {}", end, doing));
}

}  // namespace onnxc
