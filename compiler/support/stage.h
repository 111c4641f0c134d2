// What this process is doing, so that whoever ends it can say so: a time limit, or a lack of memory. Stages are within each other, and
// the innermost counts.
#pragma once
#include <atomic>

namespace onnxc {

class Stage {
 public:
  /// `name` lives as long as the program: a verb, or the name of a pass.
  explicit Stage(const char* name) : outer_(current_.exchange(name)) {}
  ~Stage() { current_ = outer_; }
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  static const char* current() { return current_; }

 private:
  static inline std::atomic<const char*> current_ = "the start";
  const char* outer_;
};

/// Whether a command tells of its progress itself.
inline std::atomic<bool> tells_progress = false;

}  // namespace onnxc
