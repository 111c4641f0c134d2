#include "tools/onnxc/warden.h"

#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <exception>
#include <optional>
#include <system_error>
#include <utility>

#include "compiler/support/error_codes.h"
#include "compiler/support/stage.h"
#include "tools/driver/leftovers.h"
#include "tools/driver/limits.h"

namespace onnxc {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kTick{500};  // between two looks at what is being done

struct Warden {
  sigset_t signals{};
  double seconds = 0;
  std::optional<Clock::time_point> deadline;
  std::function<int(const Error&)> refuse;
};

std::atomic_flag ending = ATOMIC_FLAG_INIT;
bool has_ended = false;  // by a result of its own

/// Tells a terminal what takes long: after two seconds, then whenever something else takes as long, and every ten seconds. Lines of their own, since
/// other threads write, too.
class Progress {
 public:
  void tell() {
    const char* const stage = Stage::current();
    const auto now = Clock::now();
    if (stage != stage_) stage_ = stage, since_ = now;
    if (now - since_ < kLong || now - told_ < (stage == told_stage_ ? kAgain : kLong)) return;
    told_ = now;
    told_stage_ = stage;
    fmt::print(stderr, "onnxc: {}, {:.0f} s\n", stage, std::chrono::duration<double>(now - begin_).count());
  }

 private:
  static constexpr std::chrono::seconds kLong{2}, kAgain{10};
  const Clock::time_point begin_ = Clock::now();
  Clock::time_point since_ = begin_, told_ = begin_;
  const char *stage_ = "", *told_stage_ = "";
};

/// The signal that came, or 0 at the deadline.
int wait(const Warden& warden) {
  const bool is_told = isatty(STDERR_FILENO) != 0;
  Progress progress;
  while (true) {
    int signal = 0;
    if ((warden.deadline || is_told) && limits_hold) {
      auto left = warden.deadline ? std::max(Clock::duration(0), *warden.deadline - Clock::now()) : Clock::duration::max();
      const bool ends = !is_told || left <= kTick;
      if (!ends) left = kTick;
      const auto nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(left).count();
      const timespec time{nanoseconds / 1'000'000'000, nanoseconds % 1'000'000'000};
      signal = sigtimedwait(&warden.signals, nullptr, &time);
      if (signal < 0 && errno == EAGAIN && limits_hold) {
        if (ends) return 0;
        if (!tells_progress) progress.tell();
      }
    } else {
      signal = sigwaitinfo(&warden.signals, nullptr);
    }
    if (std::atomic<bool>* const asked = asked_to_reload; signal == SIGHUP && asked != nullptr) {
      asked->store(true);
      continue;
    }
    if (std::atomic<bool>* const asked = asked_to_end; signal > 0 && asked != nullptr && !asked->exchange(true)) continue;
    if (signal > 0) return signal;
  }
}

void* watch(void* argument) {
  const Warden& warden = *static_cast<Warden*>(argument);
  const int signal = wait(warden);
  if (ending.test_and_set()) return nullptr;
  abandon();
  if (signal != 0) {
    std::signal(signal, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, &warden.signals, nullptr);
    raise(signal);
  }
  try {
    _exit(warden.refuse(Error(ErrorCode::Timeout,
                              fmt::format("compiling takes more than {} s; it is stopped in {}", warden.seconds, Stage::current()),
                              "--timeout allows more")));
  } catch (const std::exception&) {  // no memory to tell
    _exit(4);
  }
}

}  // namespace

void start_warden(double seconds, std::function<int(const Error&)> refuse) {
  static Warden& warden = *new Warden;
  // A process may be a copy of one that has run already.
  ending.clear();
  has_ended = false;
  warden.seconds = seconds;
  warden.refuse = std::move(refuse);
  constexpr double kForever = 1e9;  // s
  if (seconds < kForever)
    warden.deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  sigemptyset(&warden.signals);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
    struct sigaction action{};
    sigaction(signal, nullptr, &action);
    if (action.sa_handler != SIG_IGN) sigaddset(&warden.signals, signal);  // as nohup has it
  }
  pthread_sigmask(SIG_BLOCK, &warden.signals, nullptr);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread{};
  const int error = pthread_create(&thread, &attributes, watch, &warden);
  pthread_attr_destroy(&attributes);
  if (error == 0) return;
  pthread_sigmask(SIG_UNBLOCK, &warden.signals, nullptr);
  throw Error(ErrorKind::Budget,
              fmt::format("no thread can be started that watches over the time: {}", std::generic_category().message(error)));
}

void end_watch() {
  if (std::exchange(has_ended, true)) return;
  while (ending.test_and_set()) pause();
}

}  // namespace onnxc
