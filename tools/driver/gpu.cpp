#include "tools/driver/gpu.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "compiler/support/error.h"
#include "compiler/support/error_codes.h"
#include "targets/target.h"

namespace onnxc {

bool has_gpu() {
  static const bool found = [] {
    void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);  // stays loaded: its threads may live on
    if (driver == nullptr) return false;
    const auto initialise = reinterpret_cast<int (*)(unsigned)>(dlsym(driver, "cuInit"));
    const auto count_devices = reinterpret_cast<int (*)(int*)>(dlsym(driver, "cuDeviceGetCount"));
    int count = 0;
    return initialise != nullptr && count_devices != nullptr && initialise(0) == 0 && count_devices(&count) == 0 && count > 0;
  }();
  return found;
}

std::string find_nvcc() {
  namespace fs = std::filesystem;
  const auto runs = [](const fs::path& path) { return access(path.c_str(), X_OK) == 0 && fs::is_regular_file(path); };
  if (const char* named = std::getenv("NVCC"); named != nullptr && *named != '\0') return named;
  if (const char* path = std::getenv("PATH"); path != nullptr) {
    std::istringstream folders(path);
    for (std::string folder; std::getline(folders, folder, ':');) {
      if (runs(fs::path(folder) / "nvcc")) return (fs::path(folder) / "nvcc").string();
    }
  }
  const fs::path usual = "/usr/local/cuda/bin/nvcc";
  return runs(usual) ? usual.string() : "";
}

std::string nvcc_architecture(const std::string& target, RunsIn where, bool here) {
  const std::optional<Target> known = find_target(target);
  if (!known || known->gpu == nullptr) {
    if (where != RunsIn::Either)
      throw Error(ErrorCode::NotForTarget, fmt::format("--on is for units that run on a GPU, and {} is none", target),
                  "say --target=cuda-sm80");
    return "";
  }
  if (where == RunsIn::Emulator) return "";
  const bool gpu = (where == RunsIn::Gpu && !here) || has_gpu(), nvcc = !find_nvcc().empty();
  if (gpu && nvcc) return std::string(known->gpu->arch);
  const char* const lacks = gpu ? "nvcc is not found: put it on PATH, or name it with NVCC" : "there is no GPU here that CUDA finds";
  if (where == RunsIn::Gpu) throw Error(ErrorCode::NoGpuHere, lacks, "--on=emulator runs the unit on the processor, slowly");
  static bool told = false;
  if (!told) fmt::print(stderr, "onnxc: note: {} runs in the emulator of GPUs, slowly, as {}\n", known->gpu->name, lacks);
  told = true;
  return "";
}

}  // namespace onnxc
