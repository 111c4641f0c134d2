#include "tools/driver/leftovers.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <set>
#include <thread>

namespace onnxc {
namespace {

namespace fs = std::filesystem;

/// Those of the whole process. It is never destroyed: a thread may abandon them while the process ends.
struct Registry {
  std::recursive_mutex mutex;
  std::set<fs::path> paths;
  std::set<pid_t> children;
};

Registry& registry() {
  static Registry& all = *new Registry;
  return all;
}

/// A file goes without any memory, of which there may be none. A folder has to be read for that, which is tried twice.
void remove_now(const fs::path& path) noexcept {
  if (unlink(path.c_str()) == 0 || errno != EISDIR) return;
  for (int tries = 0; tries < 2; ++tries) {
    try {
      std::error_code error;
      fs::remove_all(path, error);
      if (!error) return;
    } catch (const std::bad_alloc&) {
    }
  }
}

/// Compilers remove their own temporary files when they are asked to end. What does not end is killed.
void end_group(pid_t child) noexcept {
  constexpr std::chrono::milliseconds kPause{10};
  constexpr int kPauses = 100;
  kill(-child, SIGTERM);
  for (int i = 0; i < kPauses; ++i) {
    siginfo_t info{};
    if (waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid != 0) break;
    std::this_thread::sleep_for(kPause);
  }
  kill(-child, SIGKILL);
}

}  // namespace

Undivided::Undivided() : lock_(registry().mutex) {}

Leftover::Leftover(fs::path path) : path_(std::move(path)) {
  const Undivided one;
  registry().paths.insert(path_);
}

void Leftover::keep() {
  if (path_.empty()) return;
  const Undivided one;
  registry().paths.erase(path_);
  path_.clear();
}

Leftover::~Leftover() {
  if (path_.empty()) return;
  const Undivided one;
  remove_now(path_);
  registry().paths.erase(path_);
}

void Child::know(pid_t pid) {
  pid_ = pid;
  try {
    registry().children.insert(pid);
  } catch (...) {
    end_group(pid);
    reap();
    throw;
  }
}

int Child::reap() {
  int status = 0;
  // Only seen at first, so that its number stays its own while others may want to end it.
  siginfo_t info{};
  while (waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
  }
  const Undivided one;
  registry().children.erase(pid_);
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = 0;
  return status;
}

Child::~Child() {
  if (pid_ == 0) return;
  end_group(pid_);
  reap();
}

void abandon() noexcept {
  Registry& all = registry();
  all.mutex.lock();  // for good
  for (const pid_t child : all.children) end_group(child);
  for (const fs::path& path : all.paths) remove_now(path);
}

}  // namespace onnxc
