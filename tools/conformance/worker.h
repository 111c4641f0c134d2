// The part of the runner that may crash: compiling models and running units happen in a process of their own, which the runner starts again
// when it dies. They talk in lines of JSON over one socket.
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

/// The worker's side: answers requests until the socket closes. What `answer` throws is a failure that says so.
int serve_worker(const std::function<nlohmann::json(const nlohmann::json&)>& answer);

/// The runner's side.
class Worker {
 public:
  /// `command`: what to start, kWorkerArgument is added; empty: this program.
  explicit Worker(std::vector<std::string> command = {}) : command_(std::move(command)) {}
  ~Worker() { stop(); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Sends a request and waits for the answer, starting the process first where there is none. When it crashes or is not done in time, the
  /// answer is a failure that says so.
  nlohmann::json ask(const nlohmann::json& request, double seconds);

 private:
  void start();
  /// How the process that has ended says it ended: `SIGSEGV`, `exit status 1`, or what a sanitizer found.
  std::string read_end(int status) const;
  /// Ends the process; the signal that had ended it before, or 0.
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
