// The queue of one model and the threads that run it.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "serving/metrics.h"
#include "serving/servable.h"

namespace onnxc::serving {

struct BatchOptions {
  int64_t rows = 1;                    ///< of a run; requests are joined up to so many
  std::chrono::microseconds delay{0};  ///< how long a run may wait for more rows
  int workers = 1;                     ///< threads that run the model, each with scratch memory of its own
  int threads = 1;                     ///< of each run; what the unit was compiled for
  std::size_t queue = 1024;            ///< requests that wait; more are refused
};

class Batcher {
 public:
  Batcher(std::shared_ptr<const Servable> servable, const BatchOptions& options, ModelMetrics& metrics);
  /// Waits until all jobs are done.
  ~Batcher();
  Batcher(const Batcher&) = delete;
  Batcher& operator=(const Batcher&) = delete;

  /// Calls job->done when it has its result or error. Throws RequestError(503) when the queue is full.
  void submit(std::shared_ptr<Job> job);

  /// Ends jobs that wait with status 503.
  void drop_waiting();

  const Servable& servable() const { return *servable_; }
  bool joins() const { return most_rows_ > 1; }
  ModelMetrics& metrics() const { return metrics_; }

 private:
  void work();
  /// The next jobs to run together; none when all is done.
  std::vector<std::shared_ptr<Job>> take();
  /// Moves jobs that can run with `batch[0]` from the queue.
  void join_waiting(std::vector<std::shared_ptr<Job>>& batch, int64_t& rows);

  const std::shared_ptr<const Servable> servable_;
  const BatchOptions options_;
  const int64_t most_rows_;  // of a run of several requests
  ModelMetrics& metrics_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Job>> queue_;
  bool is_ending_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace onnxc::serving
