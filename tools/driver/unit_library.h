// A shared library with emitted units, loaded to be called.
#pragma once
#include <onnxc/model.h>

#include <filesystem>
#include <string>

namespace onnxc {

/// A loaded library with one or more units.
class UnitLibrary {
 public:
  explicit UnitLibrary(const std::filesystem::path& path);
  ~UnitLibrary();
  UnitLibrary(const UnitLibrary&) = delete;
  UnitLibrary& operator=(const UnitLibrary&) = delete;

  /// The model that the function `mnist_model` returns. Throws Error{Internal} if there is no such function.
  const onnxc_model& model(const std::string& function) const;

  /// The exported symbol of that name, or null.
  void* symbol(const std::string& name) const;

 private:
  void* handle_;
};

}  // namespace onnxc
