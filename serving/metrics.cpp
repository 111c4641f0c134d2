#include "serving/metrics.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <fstream>

namespace onnxc::serving {
namespace {

constexpr double kSeconds[] = {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10};
constexpr double kRows[] = {1, 2, 4, 8, 16, 32, 64, 128, 256};

const double started = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();

std::string number(double value) {
  std::array<char, 32> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

/// The value of a label: backslashes, quotes and line ends are escaped.
std::string escaped(const std::string& value) {
  std::string out;
  for (const char c : value) {
    if (c == '\\' || c == '"') out += '\\';
    if (c == '\n') out += "\\n";
    else out += c;
  }
  return out;
}

void head(std::string& text, const char* name, const char* type, const char* help) {
  text += std::string("# HELP ") + name + " " + help + "\n# TYPE " + name + " " + type + "\n";
}

void line(std::string& text, const std::string& name, const std::string& labels, double value) {
  text += name + (labels.empty() ? "" : "{" + labels + "}") + " " + number(value) + "\n";
}

double resident_bytes() {
  std::ifstream file("/proc/self/statm");
  double pages = 0;
  file >> pages >> pages;
  return pages * static_cast<double>(sysconf(_SC_PAGESIZE));
}

}  // namespace

void Histogram::observe(double value) {
  const auto at = static_cast<std::size_t>(std::ranges::lower_bound(bounds_, value) - bounds_.begin());
  counts_[at].fetch_add(1, std::memory_order_relaxed);
  sum_.fetch_add(value, std::memory_order_relaxed);
}

uint64_t Histogram::count() const {
  uint64_t all = 0;
  for (std::size_t k = 0; k <= bounds_.size(); ++k) all += counts_[k].load(std::memory_order_relaxed);
  return all;
}

void Histogram::write(std::string& text, const std::string& name, const std::string& labels) const {
  uint64_t all = 0;
  for (std::size_t k = 0; k <= bounds_.size(); ++k) {
    all += counts_[k].load(std::memory_order_relaxed);
    line(text, name + "_bucket", labels + ",le=\"" + (k < bounds_.size() ? number(bounds_[k]) : "+Inf") + "\"", static_cast<double>(all));
  }
  line(text, name + "_sum", labels, sum());
  line(text, name + "_count", labels, static_cast<double>(all));
}

ModelMetrics::ModelMetrics() : request_seconds(kSeconds), queue_seconds(kSeconds), run_seconds(kSeconds), batch_rows(kRows) {}

ModelMetrics& Metrics::of(const std::string& model, const std::string& version) {
  const std::lock_guard lock(mutex_);
  auto& found = models_[{model, version}];
  if (!found) found = std::make_unique<ModelMetrics>();
  return *found;
}

std::string Metrics::text() const {
  std::string text;
  const std::lock_guard lock(mutex_);
  const auto for_each = [&](const auto& write) {
    for (const auto& [key, model] : models_) write("model=\"" + escaped(key.first) + "\",version=\"" + escaped(key.second) + "\"", *model);
  };
  head(text, "onnxc_requests_total", "counter", "Answered inference requests, by the class of the status.");
  for_each([&](const std::string& labels, const ModelMetrics& model) {
    for (std::size_t k = 2; k < model.answers.size(); ++k)
      line(text, "onnxc_requests_total", labels + ",status=\"" + std::to_string(k) + "xx\"", static_cast<double>(model.answers[k].load()));
  });
  head(text, "onnxc_queue_length", "gauge", "Requests that wait for a worker.");
  for_each([&](const std::string& labels, const ModelMetrics& model) {
    line(text, "onnxc_queue_length", labels, static_cast<double>(model.waiting.load()));
  });
  head(text, "onnxc_running_batches", "gauge", "Runs of the model at this moment.");
  for_each([&](const std::string& labels, const ModelMetrics& model) {
    line(text, "onnxc_running_batches", labels, static_cast<double>(model.running.load()));
  });
  head(text, "onnxc_request_seconds", "histogram", "From the whole request to its answer.");
  for_each(
      [&](const std::string& labels, const ModelMetrics& model) { model.request_seconds.write(text, "onnxc_request_seconds", labels); });
  head(text, "onnxc_queue_seconds", "histogram", "From the whole request to the start of its run.");
  for_each([&](const std::string& labels, const ModelMetrics& model) { model.queue_seconds.write(text, "onnxc_queue_seconds", labels); });
  head(text, "onnxc_run_seconds", "histogram", "One run of the model.");
  for_each([&](const std::string& labels, const ModelMetrics& model) { model.run_seconds.write(text, "onnxc_run_seconds", labels); });
  head(text, "onnxc_batch_rows", "histogram", "Rows of one run.");
  for_each([&](const std::string& labels, const ModelMetrics& model) { model.batch_rows.write(text, "onnxc_batch_rows", labels); });
  const auto one = [&](const char* name, const char* type, const char* help, double value) {
    head(text, name, type, help);
    line(text, name, "", value);
  };
  one("onnxc_connections", "gauge", "Open connections.", static_cast<double>(connections.load()));
  one("onnxc_refused_connections_total", "counter", "Connections beyond the limit.", static_cast<double>(refused_connections.load()));
  one("onnxc_bad_requests_total", "counter", "Requests that HTTP or the protocol does not allow, wherever they were sent.",
      static_cast<double>(bad_requests.load()));
  one("onnxc_loads_total", "counter", "Models that were loaded.", static_cast<double>(loads.load()));
  one("onnxc_failed_loads_total", "counter", "Models that could not be loaded; what was there before stayed.",
      static_cast<double>(failed_loads.load()));
  one("process_start_time_seconds", "gauge", "Start of the process, in seconds since 1970.", started);
  one("process_resident_memory_bytes", "gauge", "Memory in use.", resident_bytes());
  return text;
}

}  // namespace onnxc::serving
