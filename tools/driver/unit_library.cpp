#include "tools/driver/unit_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "compiler/support/error.h"
#include "tools/driver/limits.h"

namespace onnxc {

UnitLibrary::UnitLibrary(const std::filesystem::path& path) : handle_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  lift_limits();
  if (handle_ == nullptr) throw Error(ErrorKind::Internal, fmt::format("{} cannot be loaded: {}", path.string(), dlerror()));
}

UnitLibrary::~UnitLibrary() { dlclose(handle_); }

void* UnitLibrary::symbol(const std::string& name) const { return dlsym(handle_, name.c_str()); }

const onnxc_model& UnitLibrary::model(const std::string& function) const {
  void* const found = symbol(function);
  if (found == nullptr) throw Error(ErrorKind::Internal, fmt::format("the unit has no function {}", function));
  const onnxc_model* const model = reinterpret_cast<const onnxc_model* (*)()>(found)();
  if (model == nullptr || model->struct_bytes < sizeof(onnxc_model))
    throw Error(ErrorKind::Internal, fmt::format("{} returns no model", function));
  return *model;
}

}  // namespace onnxc
