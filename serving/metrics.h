// What Prometheus asks of a server: counters and histograms, in its text format.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>

namespace onnxc::serving {

/// A histogram whose buckets end at fixed bounds.
class Histogram {
 public:
  explicit Histogram(std::span<const double> bounds)
      : bounds_(bounds), counts_(std::make_unique<std::atomic<uint64_t>[]>(bounds.size() + 1)) {}
  void observe(double value);
  uint64_t count() const;
  double sum() const { return sum_.load(std::memory_order_relaxed); }
  /// Lines `NAME_bucket{LABELS,le="…"} …`, NAME_sum and NAME_count.
  void write(std::string& text, const std::string& name, const std::string& labels) const;

 private:
  std::span<const double> bounds_;
  std::unique_ptr<std::atomic<uint64_t>[]> counts_;  // of each bucket alone; the last is beyond all bounds
  std::atomic<double> sum_{0};
};

/// Of one version of a model. It stays when that is loaded anew.
struct ModelMetrics {
  ModelMetrics();
  std::array<std::atomic<uint64_t>, 6> answers{};  ///< by the first digit of the status
  std::atomic<int64_t> waiting{0}, running{0};
  Histogram request_seconds, queue_seconds, run_seconds, batch_rows;
};

class Metrics {
 public:
  ModelMetrics& of(const std::string& model, const std::string& version);
  /// All of it, as text/plain; version=0.0.4.
  std::string text() const;

  std::atomic<int64_t> connections{0};
  std::atomic<uint64_t> refused_connections{0}, bad_requests{0}, loads{0}, failed_loads{0};

 private:
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, std::unique_ptr<ModelMetrics>> models_;
};

}  // namespace onnxc::serving
