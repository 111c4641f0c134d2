// The part of the runner that may crash. Models are compiled and units are run in a process of their own, which the
// runner starts again when it dies. They exchange lines of JSON over one socket.
//
//   {"do": "compile", "model": PATH, "namespace": N, "out": FOLDER, "target": T, "threads": K, "keeps_subnormals": B}
//       → {"verdict": "passed", "reason": "", "operators": […], "opsets": {…}, "files": […],
//          "libraries": […], "seconds": S}
//   {"do": "run", "library": PATH, "namespace": N, "case": FOLDER, "threads": K}
//       → {"verdict": …, "reason": …}
#pragma once
#include <sys/types.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace onnxc {

/// The worker's side: answers requests until the socket closes. An exception of `answer` becomes a failure with its
/// message.
int serve_worker(const std::function<nlohmann::json(const nlohmann::json&)>& answer);

/// The runner's side.
class Worker {
 public:
  /// `command`: the program to start, with kWorkerArgument added. Empty: this program.
  explicit Worker(std::vector<std::string> command = {}) : command_(std::move(command)) {}
  ~Worker() { stop(); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Sends a request and waits for the answer. Starts the process first if necessary. If it crashes or exceeds the
  /// time limit, the answer is a failure that says so.
  nlohmann::json ask(const nlohmann::json& request, double seconds);

 private:
  void start();
  /// How the process ended: `SIGSEGV`, `exit status 1`, or what a sanitizer found.
  std::string read_end(int status) const;
  /// Ends the process. Returns the signal that had ended it before, or 0.
  int stop();

  std::vector<std::string> command_;
  pid_t process_ = 0;
  int socket_ = -1;
  int errors_ = -1;  ///< a file in memory that takes the process's standard error
  std::string received_;
};

/// The argument that turns the program into a worker.
inline constexpr const char* kWorkerArgument = "--worker-on-socket-3";

}  // namespace onnxc
