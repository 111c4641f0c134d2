// A lack of memory, with the node that felt it; and one that somebody has caught who should not have.
#pragma once
#include <atomic>
#include <new>
#include <string>

namespace onnxc {

/// No Error, which some callers take for a property of the model: with more memory the same model may well compile.
class OutOfMemory : public std::bad_alloc {
 public:
  explicit OutOfMemory(std::string what) : what_(std::move(what)) {}
  const char* what() const noexcept override { return what_.c_str(); }

 private:
  std::string what_;
};

/// Set by an operator new that has failed.
inline constinit std::atomic<bool> memory_was_short = false;

/// Throws std::bad_alloc if memory was short at any time. Libraries catch that, and go on without what they could not make: with operators that
/// are unknown, or shapes that are not inferred. A result would differ from one run to the next.
inline void check_memory() {
  if (memory_was_short) throw std::bad_alloc();
}

}  // namespace onnxc
