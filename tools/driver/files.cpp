#include "tools/driver/files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <system_error>

#include "compiler/support/error.h"

namespace onnxc {

namespace fs = std::filesystem;

namespace {

/// Why opening or writing failed, in the system's words.
std::string system_reason(int error) { return error != 0 ? std::generic_category().message(error) : "the system does not say why"; }

/// Why a new file of that path could not be created, given `error`.
std::string why_not_made(const fs::path& path, int error) {
  std::error_code ignored;
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  if (!fs::exists(folder, ignored) && !ignored) return fmt::format("the folder {} does not exist", folder.string());
  if (fs::exists(folder, ignored) && !fs::is_directory(folder, ignored)) return fmt::format("{} is no folder", folder.string());
  return fmt::format("no file can be made in {}: {}", folder.string(), system_reason(error));
}

[[noreturn]] void fail_to_write(const fs::path& path, const std::string& why) {
  throw Error(ErrorKind::Io, fmt::format("{} cannot be written: {}", path.empty() ? "''" : path.string(), why));
}

}  // namespace

void check_folder_of(const fs::path& path) {
  const fs::path folder = path.parent_path();
  if (!folder.empty() && !fs::is_directory(folder)) fail_to_write(path, fmt::format("the folder {} does not exist", folder.string()));
}

std::string read_file(const fs::path& path) {
  const auto fail = [&](const std::string& why) { throw Error(ErrorKind::Io, fmt::format("{} cannot be read: {}", path.string(), why)); };
  std::error_code error;
  if (fs::is_directory(path, error)) fail("it is a folder");
  errno = 0;
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const auto size = file ? static_cast<std::streamoff>(file.tellg()) : std::streamoff{-1};
  if (size < 0) fail(system_reason(errno));
  if (!fs::is_regular_file(path)) fail("it is no regular file");
  std::string bytes(static_cast<std::size_t>(size), '\0');
  file.seekg(0);
  errno = 0;
  if (!file.read(bytes.data(), size)) fail(system_reason(errno));
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

/// write(sink) gives the new content of the file.
template <class Write>
void replace_file(const fs::path& path, Write write) {
  static std::atomic<int> counter = 0;
  if (path.empty()) fail_to_write(path, "a file needs a name");
  std::error_code error;
  const bool is_file = fs::is_regular_file(path, error), is_device = !is_file && fs::exists(path, error);  // or a pipe
  fs::path target = is_file ? fs::canonical(path, error) : path;
  if (target.empty()) target = path;
  Temporary temporary{is_device ? path : fs::path(fmt::format("{}.tmp{}_{}", target.string(), getpid(), counter++)), is_device};
  if (fs::is_directory(path, error)) fail_to_write(path, "it is a folder");
  errno = 0;
  std::ofstream file(temporary.path, std::ios::binary);
  if (!file) fail_to_write(path, is_device ? system_reason(errno) : why_not_made(target, errno));
  write([&](std::string_view bytes) {
    if (!file) return;  // errno is that of the first write that failed
    errno = 0;
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  });
  const int write_error = errno;
  const bool written = static_cast<bool>(file);
  file.close();
  if (!file) fail_to_write(path, system_reason(written ? errno : write_error));
  error.clear();
  if (!is_device) fs::rename(temporary.path, target, error);
  if (error) fail_to_write(path, error.message());
  temporary.keep = true;
}

}  // namespace

void write_file(const fs::path& path, std::string_view bytes) {
  replace_file(path, [&](const auto& sink) { sink(bytes); });
}
void write_file(const fs::path& path, const Text& text) {
  replace_file(path, [&](const Text::Sink& sink) { text.write(sink); });
}

void make_folder(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) throw Error(ErrorKind::Io, fmt::format("the folder {} cannot be made: {}", path.string(), error.message()));
}

fs::path cache_folder() {
  if (const char* folder = std::getenv("ONNXC_CACHE"); folder != nullptr && *folder != '\0') return folder;
  if (const char* folder = std::getenv("XDG_CACHE_HOME"); folder != nullptr && *folder != '\0') return fs::path(folder) / "onnxc";
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0') return fs::path(home) / ".cache" / "onnxc";
  return fs::temp_directory_path() / fmt::format("onnxc-{}", getuid());
}

}  // namespace onnxc
