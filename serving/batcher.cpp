#include "serving/batcher.h"

#include <onnxc/threads.hpp>

#include <algorithm>
#include <optional>

namespace onnxc::serving {
namespace {

/// Before that, a client that sends no more gets its answer: it may only have closed its own direction. Those that gave up waiting come later.
constexpr std::chrono::seconds kPatience{1};

double seconds(Clock::duration time) { return std::chrono::duration<double>(time).count(); }

}  // namespace

Batcher::Batcher(std::shared_ptr<const Servable> servable, const BatchOptions& options, ModelMetrics& metrics)
    : servable_(std::move(servable)), options_(options), most_rows_(std::min(options.rows, servable_->most_rows())), metrics_(metrics) {
  for (int k = 0; k < std::max(1, options.workers); ++k) workers_.emplace_back([this] { work(); });
}

Batcher::~Batcher() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  changed_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void Batcher::submit(std::shared_ptr<Job> job) {
  {
    const std::lock_guard lock(mutex_);
    if (queue_.size() >= options_.queue) throw RequestError(503, "too many requests wait for this model; try again");
    queue_.push_back(std::move(job));
    metrics_.waiting.store(static_cast<int64_t>(queue_.size()), std::memory_order_relaxed);
  }
  changed_.notify_one();
}

void Batcher::drop_waiting() {
  std::deque<std::shared_ptr<Job>> waiting;
  {
    const std::lock_guard lock(mutex_);
    waiting.swap(queue_);
  }
  for (std::shared_ptr<Job>& job : waiting) {
    job->error = RequestError(503, "the server ends");
    const auto done = std::move(job->done);
    done(std::move(job));
  }
}

void Batcher::join_waiting(std::vector<std::shared_ptr<Job>>& batch, int64_t& rows) {
  const auto batch_symbol = static_cast<std::size_t>(servable_->batch_symbol());
  const auto fits = [&](const Job& job) {
    if (job.rows > most_rows_ - rows || job.rows == 0) return false;
    for (std::size_t k = 0; k < job.symbols.size(); ++k) {
      if (k != batch_symbol && job.symbols[k] != batch[0]->symbols[k]) return false;
    }
    return true;
  };
  for (auto at = queue_.begin(); at != queue_.end() && rows < most_rows_;) {
    if (!fits(**at)) {
      ++at;
      continue;
    }
    rows += (*at)->rows;
    batch.push_back(std::move(*at));
    at = queue_.erase(at);
  }
}

std::vector<std::shared_ptr<Job>> Batcher::take() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return is_ending_ || !queue_.empty(); });
  std::vector<std::shared_ptr<Job>> batch;
  if (queue_.empty()) return batch;
  batch.push_back(std::move(queue_.front()));
  queue_.pop_front();
  int64_t rows = batch[0]->rows;
  if (joins() && rows > 0) {
    join_waiting(batch, rows);
    const auto until = batch[0]->arrival + options_.delay;
    while (rows < most_rows_ && !is_ending_ && options_.delay.count() > 0) {
      const std::size_t before = queue_.size();
      if (!changed_.wait_until(lock, until, [&] { return is_ending_ || queue_.size() > before; })) break;
      join_waiting(batch, rows);
    }
  }
  metrics_.waiting.store(static_cast<int64_t>(queue_.size()), std::memory_order_relaxed);
  const bool more = !queue_.empty();
  lock.unlock();
  if (more) changed_.notify_one();  // what does not fit this run is for another worker, which a wait here may have kept from seeing it
  return batch;
}

void Batcher::work() {
  std::optional<ThreadPool> threads;
  onnxc_executor executor{};
  Workspace workspace;
  if (options_.threads > 1) {
    threads.emplace(options_.threads);
    executor = threads->executor();
    workspace.executor = &executor;
  }
  while (true) {
    std::vector<std::shared_ptr<Job>> batch = take();
    if (batch.empty()) return;
    const Clock::time_point start = Clock::now();
    std::vector<Job*> jobs;
    int64_t rows = 0;
    for (const std::shared_ptr<Job>& job : batch) {
      job->queued = start - job->arrival;
      metrics_.queue_seconds.observe(seconds(job->queued));
      if (start > job->deadline) {
        job->error = RequestError(504, "the request waited longer than it may");
      } else if (job->queued > kPatience && job->is_abandoned && job->is_abandoned()) {
        job->error = RequestError(499, "the client has left");
      } else {
        jobs.push_back(job.get());
        rows += job->rows;
      }
    }
    if (!jobs.empty()) {
      metrics_.running.fetch_add(1, std::memory_order_relaxed);
      servable_->run(jobs, workspace);
      metrics_.running.fetch_sub(1, std::memory_order_relaxed);
      const Clock::duration ran = Clock::now() - start;
      for (Job* job : jobs) job->ran = ran;
      metrics_.run_seconds.observe(seconds(ran));
      metrics_.batch_rows.observe(static_cast<double>(rows));
    }
    for (std::shared_ptr<Job>& job : batch) {
      const auto done = std::move(job->done);
      done(std::move(job));
    }
  }
}

}  // namespace onnxc::serving
