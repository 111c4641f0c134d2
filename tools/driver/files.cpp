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

namespace {

/// A file that is removed at the end, unless it is kept.
struct Temporary {
  fs::path path;
  bool keep = false;
  ~Temporary() {
    std::error_code error;
    if (!keep) fs::remove(path, error);
  }
};

/// write(sink) gives what the file is to hold.
template <class Write>
void replace_file(const fs::path& path, Write write) {
  static std::atomic<int> counter = 0;
  std::error_code error;
  const bool is_file = fs::is_regular_file(path, error), is_device = !is_file && fs::exists(path, error);  // or a pipe
  fs::path place = is_file ? fs::canonical(path, error) : path;
  if (place.empty()) place = path;
  Temporary temporary{is_device ? path : fs::path(fmt::format("{}.tmp{}_{}", place.string(), getpid(), counter++)), is_device};
  std::ofstream file(temporary.path, std::ios::binary);
  write([&](std::string_view bytes) { file.write(bytes.data(), static_cast<std::streamsize>(bytes.size())); });
  file.close();
  error.clear();
  if (file && !is_device) fs::rename(temporary.path, place, error);
  if (!file || error) throw Error(ErrorKind::Io, fmt::format("{} cannot be written", path.string()));
  temporary.keep = true;
}

}  // namespace

void write_file(const fs::path& path, std::string_view bytes) {
  replace_file(path, [&](const auto& sink) { sink(bytes); });
}
void write_file(const fs::path& path, const Text& text) {
  replace_file(path, [&](const Text::Sink& sink) { text.write(sink); });
}

fs::path cache_folder() {
  if (const char* folder = std::getenv("ONNXC_CACHE"); folder != nullptr && *folder != '\0') return folder;
  if (const char* folder = std::getenv("XDG_CACHE_HOME"); folder != nullptr && *folder != '\0') return fs::path(folder) / "onnxc";
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0') return fs::path(home) / ".cache" / "onnxc";
  return fs::temp_directory_path() / fmt::format("onnxc-{}", getuid());
}

}  // namespace onnxc
