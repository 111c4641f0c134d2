#include "tools/driver/files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>

#include "compiler/support/error.h"

namespace onnxc {

namespace fs = std::filesystem;

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const auto size = file ? static_cast<std::streamoff>(file.tellg()) : std::streamoff{-1};
  if (size < 0 || !fs::is_regular_file(path)) throw Error(ErrorKind::Io, fmt::format("{} cannot be read", path.string()));
  std::string bytes(static_cast<std::size_t>(size), '\0');
  file.seekg(0);
  if (!file.read(bytes.data(), size)) throw Error(ErrorKind::Io, fmt::format("{} cannot be read", path.string()));
  return bytes;
}

void write_file(const fs::path& path, std::string_view bytes) {
  static std::atomic<int> counter = 0;
  const fs::path temporary = fmt::format("{}.tmp{}_{}", path.string(), getpid(), counter++);
  {
    std::ofstream file(temporary, std::ios::binary);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    file.close();
    if (!file) throw Error(ErrorKind::Io, fmt::format("{} cannot be written", path.string()));
  }
  std::error_code error;
  fs::rename(temporary, path, error);
  if (error) {
    fs::remove(temporary, error);
    throw Error(ErrorKind::Io, fmt::format("{} cannot be written", path.string()));
  }
}

fs::path cache_folder() {
  if (const char* folder = std::getenv("ONNXC_CACHE"); folder != nullptr && *folder != '\0') return folder;
  if (const char* folder = std::getenv("XDG_CACHE_HOME"); folder != nullptr && *folder != '\0') return fs::path(folder) / "onnxc";
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0') return fs::path(home) / ".cache" / "onnxc";
  return fs::temp_directory_path() / fmt::format("onnxc-{}", getuid());
}

}  // namespace onnxc
