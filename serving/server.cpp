#include "serving/server.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "serving/log.h"
#include "serving/protocol.h"

namespace onnxc::serving {

namespace {

/// Those that this process may use: of the machine, and of the control group that a container is.
int processors() {
  const int all = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  std::ifstream file("/sys/fs/cgroup/cpu.max");  // `max 100000`, or the microseconds of so many
  double quota = 0, period = 0;
  if (!(file >> quota >> period) || quota <= 0 || period <= 0) return all;
  return std::clamp(static_cast<int>(std::ceil(quota / period)), 1, all);
}

}  // namespace

void ServerOptions::add_to(CLI::App& app) {
  const auto group = app.add_option_group("Server");
  group->add_option("--host", http.address, "IP address to listen at; 0.0.0.0 or :: for all of this machine's")->capture_default_str();
  group->add_option("--port", http.port, "Port; 0 takes one that is free, which the log tells")->capture_default_str();
  group
      ->add_option("--batch", batch.rows,
                   "Join requests that wait, up to so many rows of a run, along the dimension that is the first of every input and output. "
                   "It is for models whose rows do not "
                   "depend on each other, which is checked with made-up inputs")
      ->capture_default_str()
      ->check(CLI::Range(1, 1 << 20));
  group->add_option("--batch-delay", batch_delay_us_, "Microseconds that a run may wait for more rows; at 0 it takes what waits already")
      ->capture_default_str()
      ->check(CLI::Range(0, 10'000'000));
  group
      ->add_option("--workers", workers_,
                   "Threads that run each model, with scratch memory of their own; by default one for each processor and --threads")
      ->check(CLI::Range(1, 1024));
  group
      ->add_option("--io-threads", http.threads,
                   "Threads that read requests and write answers; by default two, or one for each processor where there are more")
      ->check(CLI::Range(1, 256));
  group->add_option("--max-queue", batch.queue, "Requests that may wait for a model; more get status 503")
      ->capture_default_str()
      ->check(CLI::Range(1, 1 << 24));
  group->add_option("--max-body", http.body_bytes, "Bytes of a request; larger ones get status 413")
      ->transform(CLI::AsSizeValue(false))
      ->default_str("64M");
  group
      ->add_option(
          "--max-bodies", http.bodies_bytes,
          "Bytes of all requests under way, each of which counts eight times: it may take that once it is read; more get status 503")
      ->transform(CLI::AsSizeValue(false))
      ->default_str("4G");
  group->add_option("--max-run", limits.run_bytes, "Bytes that a run may take for outputs and scratch memory; larger ones get status 413")
      ->transform(CLI::AsSizeValue(false))
      ->default_str("4G");
  group->add_option("--max-connections", http.connections, "Open connections; more get status 503")
      ->capture_default_str()
      ->check(CLI::Range(1, 1 << 20));
  group
      ->add_option("--request-timeout", request_seconds_,
                   "Seconds that a request may wait for its run, and seconds for its body to come; status 504 and 408")
      ->capture_default_str()
      ->check(CLI::Range(1, 86'400));
  group->add_option("--watch", watch_seconds, "Look every so many seconds for models that have changed, and load them; 0: at SIGHUP alone")
      ->capture_default_str()
      ->check(CLI::Range(0, 1 << 20));
  group->add_flag("--model-control", service.allows_control,
                  "Let requests load and unload models: POST /v2/repository/models/NAME/load. Whoever reaches the port may");
  group
      ->add_option("--shutdown-delay", shutdown_delay_seconds,
                   "Seconds after SIGTERM in which requests are still taken while /v2/health/ready says no")
      ->capture_default_str()
      ->check(CLI::Range(0, 86'400));
  group->add_option("--drain-timeout", drain_seconds, "Seconds for requests under way to end after that")
      ->capture_default_str()
      ->check(CLI::Range(0, 86'400));
  group->add_option("--log", log_, "What standard error tells, as lines of JSON: none, errors, events or requests")
      ->capture_default_str()
      ->check(CLI::IsMember({"none", "errors", "events", "requests"}));
}

void ServerOptions::finish() {
  batch.delay = std::chrono::microseconds(batch_delay_us_);
  batch.workers = workers_ > 0 ? workers_ : std::max(1, processors() / std::max(1, batch.threads));
  if (http.threads == 0) http.threads = std::max(2, processors());
  service.request_limit = std::chrono::seconds(request_seconds_);
  http.body_limit = std::chrono::seconds(request_seconds_);
  log_level() = log_ == "none"     ? LogLevel::None
                : log_ == "errors" ? LogLevel::Errors
                : log_ == "events" ? LogLevel::Events
                                   : LogLevel::Requests;
}

int serve(const ServerOptions& options, const std::function<std::vector<ModelSource>()>& list, const std::function<Wanted()>& wanted) {
  constexpr auto kTick = std::chrono::milliseconds(20);
  Metrics metrics;
  Repository repository(list, options.batch, options.limits, metrics);
  std::vector<std::string> errors;
  std::atomic<bool> is_loaded{false}, is_ending{false}, is_waiting{false};
  Background loading;  // ends before what its tasks use
  Service service(repository, metrics, options.service, [&](std::function<void()> task) { loading.start(std::move(task)); });
  HttpServer http(options.http, service, metrics);
  http.start();  // whoever asks is told that it lives and is not ready
  loading.start([&] {
    errors = repository.load("");
    is_loaded.store(true);
  });
  /// Starts what looks at all models, unless that waits already.
  const auto look = [&](const std::function<void()>& task) {
    if (is_waiting.exchange(true)) return;
    loading.start([&is_waiting, &is_ending, task] {
      is_waiting.store(false);
      if (!is_ending.load()) task();
    });
  };
  const auto reload = [&] { repository.load(""); };
  bool is_told = false;  // that it is ready
  auto next_look = Clock::now() + std::chrono::seconds(options.watch_seconds);
  while (true) {
    if (is_loaded.load() && !is_told) {
      if (!errors.empty()) throw std::runtime_error(errors[0]);
      service.set_ready(true);
      is_told = true;
      log(LogLevel::Events, "ready",
          {{"address", json_string(options.http.address)},
           {"port", std::to_string(http.port())},
           {"workers", std::to_string(options.batch.workers)},
           {"batch", std::to_string(options.batch.rows)}});
    }
    const Wanted now = wanted();
    if (now == Wanted::End) break;
    if (now == Wanted::Reload) look(reload);
    if (options.watch_seconds > 0 && Clock::now() >= next_look) {
      next_look = Clock::now() + std::chrono::seconds(options.watch_seconds);
      look([&] { repository.refresh(); });
    }
    std::this_thread::sleep_for(is_told ? kTick : kTick / 10);
  }
  log(LogLevel::Events, "ending");
  is_ending.store(true);
  service.set_ready(false);
  std::this_thread::sleep_for(std::chrono::seconds(options.shutdown_delay_seconds));
  if (http.drain(std::chrono::seconds(options.drain_seconds))) {
    log(LogLevel::Events, "ended");
    return 0;
  }
  // What waits is told so. What runs cannot be stopped, and nobody waits for it.
  for (const auto& model : repository.all()) model->batcher.drop_waiting();
  http.drain(std::chrono::seconds(1));
  log(LogLevel::Errors, "ended before all requests were answered");
  options.leave(1);
  std::_Exit(1);
}

}  // namespace onnxc::serving
