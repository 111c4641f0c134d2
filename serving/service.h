// The endpoints of the protocol, without the network: a request comes in, an answer goes out, at once or later.
#pragma once
#include <atomic>
#include <functional>
#include <optional>
#include <string>

#include "serving/metrics.h"
#include "serving/repository.h"

namespace onnxc::serving {

struct HttpRequest {
  std::string method;                     ///< GET, POST, …
  std::string target;                     ///< as the client wrote it: the path, and maybe a query
  std::optional<std::string> json_bytes;  ///< Inference-Header-Content-Length
  std::string content_encoding;
  std::string body;
};

struct HttpAnswer {
  unsigned status = 200;
  std::string type = "application/json";
  std::string body;
  std::optional<std::size_t> json_bytes;
};

/// Takes the way to an answer, once. The answer is made where the connection is served: to write JSON is work, too.
using Reply = std::function<void(std::function<HttpAnswer()>)>;

struct ServiceOptions {
  std::string version;                              ///< of onnxc
  std::chrono::milliseconds request_limit{30'000};  ///< from the whole request to its answer
  bool allows_control = false;                      ///< models may be loaded and unloaded by requests
};

class Service {
 public:
  /// start: runs what may take long, not in this thread.
  Service(Repository& repository, Metrics& metrics, const ServiceOptions& options, std::function<void(std::function<void()>)> start)
      : repository_(repository), metrics_(metrics), options_(options), start_(std::move(start)) {}

  /// Calls `reply` once, here or in another thread. is_abandoned: whether nobody waits any more.
  void handle(HttpRequest request, const Reply& reply, std::function<bool()> is_abandoned);
  /// Whether new requests are welcome: /v2/health/ready.
  void set_ready(bool is_ready) { is_ready_.store(is_ready); }

 private:
  HttpAnswer answer_at_once(const HttpRequest& request, const std::vector<std::string>& path);
  HttpAnswer describe(const HttpRequest& request, const std::string& name, const std::string& version, const std::string& what);
  void infer(HttpRequest request, const std::string& name, const std::string& version, const Reply& reply,
             std::function<bool()> is_abandoned);
  void control(const HttpRequest& request, const std::string& name, bool loads, const Reply& reply);

  Repository& repository_;
  Metrics& metrics_;
  const ServiceOptions options_;
  const std::function<void(std::function<void()>)> start_;
  std::atomic<bool> is_ready_{false};
};

/// `{"error": …}`
HttpAnswer error_answer(unsigned status, const std::string& what);

}  // namespace onnxc::serving
