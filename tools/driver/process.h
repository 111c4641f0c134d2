// Starts other programs, captures their output, and limits their time.
#pragma once
#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

namespace onnxc {

struct ProcessResult {
  int exit_code = 0;  ///< -1 if a signal ended it
  int signal = 0;     ///< that signal
  bool timed_out = false;
  std::string output;  ///< standard output and error, at most 1 MiB
  bool ok() const { return exit_code == 0 && signal == 0 && !timed_out; }
};

/// Runs a program (found on PATH) and waits for it. `seconds` 0 means no limit. Once `stop` is true it is ended, as if its time were over.
/// Throws Error{Io} if it cannot be started.
ProcessResult run_process(const std::vector<std::string>& arguments, double seconds = 0, const std::atomic<bool>* stop = nullptr);

/// "SIGSEGV" and the like.
std::string signal_name(int signal);

}  // namespace onnxc
