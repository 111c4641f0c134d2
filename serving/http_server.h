// HTTP/1.1 for a Service: connections, their limits and their end.
//
// Boost.Beast reads and writes messages. Each connection is a coroutine on the threads of one io_context; runs of models have threads of their own.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

#include "serving/service.h"

namespace onnxc::serving {

struct HttpOptions {
  std::string address = "127.0.0.1";               ///< where it listens: an IP address
  uint16_t port = 8000;                            ///< 0: any that is free
  int threads = 0;                                 ///< that read and write; 0: two, or one for each processor where there are more
  std::size_t body_bytes = std::size_t{64} << 20;  ///< of one request
  std::size_t bodies_bytes =
      std::size_t{4} << 30;  ///< that requests under way may take, once they are read: eight times their length at most
  std::size_t connections = 1024;
  std::chrono::seconds idle_limit{75};    ///< between two requests of a connection
  std::chrono::seconds header_limit{10};  ///< from the first byte of a request to the end of its header
  std::chrono::seconds body_limit{30};    ///< for the rest of it, and for its answer to be taken
};

/// The port cannot be opened.
class ListenError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class HttpServer {
 public:
  /// Opens the port. Throws ListenError.
  HttpServer(const HttpOptions& options, Service& service, Metrics& metrics);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  uint16_t port() const;
  /// Accepts connections, in threads of its own.
  void start();
  /// No new connections. Requests that have begun are answered, and so are those that come within a second on connections that are open; then these are closed.
  /// Returns when all are, or at the end of that time; whether all were.
  bool drain(std::chrono::milliseconds limit);

 private:
  class State;
  std::shared_ptr<State> state_;
};

}  // namespace onnxc::serving
