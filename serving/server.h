// A whole server: models, the protocol, a port, and an end that loses nothing.
#pragma once
#include <CLI/CLI.hpp>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "serving/background.h"
#include "serving/http_server.h"
#include "serving/repository.h"
#include "serving/service.h"

namespace onnxc::serving {

struct ServerOptions {
  HttpOptions http;
  BatchOptions batch;
  Limits limits;
  ServiceOptions service;
  int watch_seconds = 0;           ///< between two looks at where models come from; 0: none
  int shutdown_delay_seconds = 0;  ///< from "not ready" to the end of new connections: until load balancers have seen it
  int drain_seconds = 30;          ///< for what is under way then
  /// Ends the process at once, with that status, where runs outlast that time: they use what this function's caller would free.
  std::function<void(int)> leave = [](int status) { std::_Exit(status); };

  /// Adds --port, --batch and the others to a command line. This object must live until that is parsed.
  void add_to(CLI::App& app);
  /// What they state, once it is parsed.
  void finish();

 private:
  int batch_delay_us_ = 0, request_seconds_ = 30, workers_ = 0;
  std::string log_ = "events";
};

enum class Wanted { Nothing, Reload, End };

/// Serves until `wanted`, which is asked some fifty times a second, says that it should end. Returns the exit status: 0 where nothing was lost.
/// Does not return where runs outlast the time to end: see ServerOptions::leave. Throws ListenError, and std::runtime_error where a model cannot be loaded at the start.
int serve(const ServerOptions& options, const std::function<std::vector<ModelSource>()>& list, const std::function<Wanted()>& wanted);

}  // namespace onnxc::serving
