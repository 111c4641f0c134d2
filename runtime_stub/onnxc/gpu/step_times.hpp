// How units for GPUs made with --profile measure: an event before and after each step on the stream, read once the run is done. The
// clock of such units counts nanoseconds, and steps on the host are measured by it as in units for processors (profile.hpp).
//
//   host   | base      | enqueue step 1, step 2, ...         | wait | elapsed times → counters
//   GPU    | base event| first 1, step 1, last 1, first 2, step 2, last 2 ...
#pragma once
#include "clock.hpp"
//
#include "../profile.hpp"
#include "queue.hpp"

namespace onnxc::inline ONNXC_ISA::gpu {

/// The times of one run, whose steps have numbers in [0, kSteps).
template <int kSteps>
class StepTimes {
 public:
  /// Waits for the stream, so that an event and the host's clock can be read at one moment.
  StepTimes(Queue& queue, StepCounters* counters) noexcept : queue_(queue), counters_(counters) { begin_timeline(); }
  StepTimes(const StepTimes&) = delete;
  StepTimes& operator=(const StepTimes&) = delete;

  void begin(int step) noexcept {
    if (measured_[step]) count();  // in a loop: its events are needed again
    queue_.call([&](Stream s) { return first_[step].record(s); });
  }
  void end(int step) noexcept {
    queue_.call([&](Stream s) { return last_[step].record(s); });
    measured_[step] = true;
  }
  /// Waits for the run. What went wrong with it, if anything.
  Status finish() noexcept {
    count();
    return queue_.result();
  }

 private:
  void begin_timeline() noexcept {
    queue_.call([&](Stream s) {
      if (const Status status = gpu::finish(s)) return status;
      if (const Status status = base_.record(s)) return status;
      const Status status = gpu::finish(s);
      base_ns_ = read_clock();
      return status;
    });
  }
  void count() noexcept {
    queue_.call([&](Stream s) { return gpu::finish(s); });
    for (int i = 0; i < kSteps; ++i) {
      if (!measured_[i]) continue;
      measured_[i] = false;
      // The difference of two times since the base would lose digits of a float.
      float since_base = 0, took = 0;
      queue_.call([&](Stream) {
        const Status status = elapsed_ms(base_, first_[i], since_base);
        return status ? status : elapsed_ms(first_[i], last_[i], took);
      });
      if (queue_.result()) return;
      const Ticks from = base_ns_ + nanoseconds(since_base);
      counters_[i].count(from, from + nanoseconds(took));
    }
    begin_timeline();
  }
  static Ticks nanoseconds(float ms) noexcept { return ms > 0 ? static_cast<Ticks>(static_cast<double>(ms) * 1e6) : 0; }

  Queue& queue_;
  StepCounters* counters_;
  Event base_, first_[kSteps], last_[kSteps];
  Ticks base_ns_ = 0;
  bool measured_[kSteps] = {};
};

}  // namespace onnxc::gpu
