#include "tools/driver/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

#include "compiler/support/error.h"

extern char** environ;

namespace onnxc {

ProcessResult run_process(const std::vector<std::string>& arguments, double seconds, const std::atomic<bool>* stop) {
  ONNXC_CHECK(!arguments.empty(), "a command has a program");
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw Error(ErrorKind::Io, fmt::format("no pipe: {}", std::strerror(errno)));
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  // A process group of its own, so that the time limit ends its children, too.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  pid_t child = 0;
  const int error = posix_spawnp(&child, argv[0], &actions, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (error != 0) {
    close(ends[0]);
    throw Error(ErrorKind::Io, fmt::format("{} cannot be started: {}", arguments[0], std::strerror(error)));
  }

  ProcessResult result;
  const auto begin = std::chrono::steady_clock::now();
  const auto milliseconds_left = [&] {
    const std::chrono::duration<double, std::milli> passed = std::chrono::steady_clock::now() - begin;
    return static_cast<int>(std::max(0.0, seconds * 1e3 - passed.count())) + 1;
  };
  constexpr int kLook = 100;  // milliseconds between looks at `stop`
  const auto patience = [&] {
    const int left = seconds > 0 ? milliseconds_left() : -1;
    return stop == nullptr ? left : left < 0 ? kLook : std::min(left, kLook);
  };
  const auto is_over = [&] { return (stop != nullptr && *stop) || stop == nullptr || (seconds > 0 && milliseconds_left() <= 1); };
  std::array<char, 65536> buffer;
  while (true) {
    pollfd waiting{ends[0], POLLIN, 0};
    const int ready = poll(&waiting, 1, patience());
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0 && !is_over()) continue;
    if (ready == 0) {
      result.timed_out = true;
      kill(-child, SIGKILL);
      break;
    }
    const ssize_t count = ::read(ends[0], buffer.data(), buffer.size());
    if (count <= 0) break;
    if (result.output.size() < (1u << 20)) result.output.append(buffer.data(), static_cast<std::size_t>(count));
  }
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) {
    result.exit_code = -1;
    result.signal = WTERMSIG(status);
  } else {
    result.exit_code = WEXITSTATUS(status);
  }
  return result;
}

std::string signal_name(int signal) {
  const char* name = sigabbrev_np(signal);
  return name != nullptr ? fmt::format("SIG{}", name) : fmt::format("signal {}", signal);
}

}  // namespace onnxc
