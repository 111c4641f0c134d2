// Says how far long work is, on standard error: a line that is written over on a terminal, elsewhere one every ten seconds.
#pragma once
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <string>

namespace onnxc {

class Progress {
 public:
  Progress(std::string what, std::size_t all) : what_(std::move(what)), all_(all), is_terminal_(isatty(STDERR_FILENO) != 0) {}
  ~Progress() {
    if (is_terminal_ && shown_) fmt::print(stderr, "\r\033[K");
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// One more piece of work is done.
  void step() {
    ++done_;
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < (is_terminal_ ? std::chrono::milliseconds(100) : std::chrono::seconds(10))) return;
    last_ = now;
    shown_ = true;
    fmt::print(stderr, "{}onnxc: {}: {} of {}{}", is_terminal_ ? "\r\033[K" : "", what_, done_, all_, is_terminal_ ? "" : "\n");
    std::fflush(stderr);
  }

 private:
  std::string what_;
  std::size_t all_, done_ = 0;
  bool is_terminal_, shown_ = false;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

/// One line about the work that begins.
inline void say(const std::string& line) { fmt::print(stderr, "onnxc: {}\n", line); }

}  // namespace onnxc
