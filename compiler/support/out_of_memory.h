// A lack of memory, with the node that felt it.
#pragma once
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

}  // namespace onnxc
