// How units made with --profile measure: a clock, and counters for each step and each thread's share of a step.
//
// The clock is the time-stamp counter of x86 or the virtual counter of AArch64. Waiting for what was begun before
// (lfence, isb) keeps the end of one step out of the next, at a small cost. Elsewhere, and where a program wants
// another clock, ONNXC_CLOCK() is used: an expression of an unsigned type, which may wrap around once between two
// readings.
//
//   g++ '-DONNXC_CLOCK()=DWT->CYCCNT' -include board.h ...
#pragma once
#include <cstdint>
#include <type_traits>

#include "base.hpp"
#include "profile.h"

namespace onnxc::inline ONNXC_ISA {

ONNXC_INLINE auto read_clock() noexcept {
#if defined(ONNXC_CLOCK)
  return ONNXC_CLOCK();
#elif defined(__x86_64__) || defined(__i386__)
  uint32_t low = 0, high = 0;
  asm volatile("lfence\n\trdtsc" : "=a"(low), "=d"(high) : : "memory");
  return uint64_t{high} << 32 | low;
#elif defined(__aarch64__)
  uint64_t now = 0;
  asm volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(now) : : "memory");
  return now;
#else
#error "onnxc knows no clock of this machine: define ONNXC_CLOCK(), an expression of an unsigned type, or leave --profile out"
#endif
}

using Ticks = decltype(read_clock());
static_assert(std::is_unsigned_v<Ticks>, "ONNXC_CLOCK() is of an unsigned type, so that it may wrap around");

/// A number that concurrent runs may change without a race, although one may undo what another adds: a locked addition
/// would cost more than a short step. Where a machine cannot load and store 64 bits at once it is a plain number, for
/// one run at a time.
class Counter {
 public:
  uint64_t get() const noexcept {
    if constexpr (kAtOnce) return __atomic_load_n(&value_, __ATOMIC_RELAXED);
    else return value_;
  }
  void set(uint64_t value) noexcept {
    if constexpr (kAtOnce) __atomic_store_n(&value_, value, __ATOMIC_RELAXED);
    else value_ = value;
  }
  void add(uint64_t more) noexcept { set(get() + more); }
  /// Takes the lesser of the two; 0 stands for no value yet.
  void lower(uint64_t value) noexcept {
    if (const uint64_t now = get(); now == 0 || value < now) set(value);
  }

 private:
  static constexpr bool kAtOnce = __atomic_always_lock_free(sizeof(uint64_t), nullptr);
  uint64_t value_ = 0;
};

struct StepCounters {
  Counter calls, total, least, begin, end;

  void count(Ticks from, Ticks to) noexcept {
    const auto took = static_cast<Ticks>(to - from);
    calls.add(1);
    total.add(took);
    least.lower(took > 0 ? took : 1);
    begin.set(from);
    end.set(to);
  }
  onnxc_step_ticks read() const noexcept { return {calls.get(), total.get(), least.get(), begin.get(), end.get()}; }
  void reset() noexcept { *this = {}; }
};

/// The counters of one thread's share of a step, in a cache line of their own, because other threads count in others.
struct alignas(64) ShareCounters {
  Counter total, begin, end;

  void count(Ticks from, Ticks to) noexcept {
    total.add(static_cast<Ticks>(to - from));
    begin.set(from);
    end.set(to);
  }
  onnxc_part_ticks read() const noexcept { return {total.get(), begin.get(), end.get()}; }
  void reset() noexcept { *this = {}; }
};

/// Returns what work() returns, and counts the time it takes. A destructor would read better, but for the case that a
/// kernel throws, though none does, it would need the C++ library.
template <class Counters, class Work>
ONNXC_INLINE auto timed(Counters& counters, Work&& work) {
  const Ticks begin = read_clock();
  if constexpr (std::is_void_v<decltype(work())>) {
    work();
    counters.count(begin, read_clock());
  } else {
    const auto result = work();
    counters.count(begin, read_clock());
    return result;
  }
}

/// The same for one thread's share of a step.
template <int threads, class Work>
ONNXC_INLINE void timed(ShareCounters (&counters)[threads], Share share, Work&& work) {
  if (share.index < threads) timed(counters[share.index], work);
  else work();
}

}  // namespace onnxc
