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
#include <utility>

#include "compiler/support/error.h"
#include "compiler/support/error_codes.h"
#include "tools/driver/leftovers.h"

extern char** environ;

namespace onnxc {
namespace {

/// Both of its ends are closed at the end, and in programs that are started.
class Pipe {
 public:
  Pipe() {
    if (pipe2(ends_, O_CLOEXEC) != 0) throw Error(ErrorKind::Io, fmt::format("no pipe: {}", std::strerror(errno)));
  }
  ~Pipe() {
    close(ends_[0]);
    close_writing();
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  int reading() const { return ends_[0]; }
  int writing() const { return ends_[1]; }
  void close_writing() {
    if (ends_[1] >= 0) close(std::exchange(ends_[1], -1));
  }

 private:
  int ends_[2];
};

/// Starts a program whose output goes into the pipe. It heeds all signals, whatever this process has blocked or ignores.
pid_t start(const std::vector<char*>& argv, const Pipe& pipe) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  int error = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  if (error == 0) error = posix_spawn_file_actions_adddup2(&actions, pipe.writing(), STDOUT_FILENO);
  if (error == 0) error = posix_spawn_file_actions_adddup2(&actions, pipe.writing(), STDERR_FILENO);
  // A process group of its own, so that the time limit ends its children, too.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  sigset_t usual;
  sigemptyset(&usual);
  sigaddset(&usual, SIGXFSZ);
  sigaddset(&usual, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &usual);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t child = 0;
  if (error == 0) error = posix_spawnp(&child, argv[0], &actions, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw Error(ErrorCode::ProgramNotStarted, fmt::format("{} cannot be started: {}", argv[0], std::strerror(error)));
  return child;
}

}  // namespace

ProcessResult run_process(const std::vector<std::string>& arguments, double seconds, const std::atomic<bool>* stop) {
  ONNXC_CHECK(!arguments.empty(), "a command has a program");
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  Pipe pipe;
  Child child([&] { return start(argv, pipe); });
  pipe.close_writing();

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
    pollfd waiting{pipe.reading(), POLLIN, 0};
    const int ready = poll(&waiting, 1, patience());
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0 && !is_over()) continue;
    if (ready == 0) {
      result.timed_out = true;
      kill(-child.pid(), SIGKILL);
      break;
    }
    const ssize_t count = ::read(pipe.reading(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw Error(ErrorKind::Io, fmt::format("the output of {} cannot be read: {}", arguments[0], std::strerror(errno)));
    if (count == 0) break;
    if (result.output.size() < (1u << 20)) result.output.append(buffer.data(), static_cast<std::size_t>(count));
  }
  const int status = child.reap();
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
