#include "tools/driver/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <system_error>
#include <utility>

#include "compiler/support/error.h"
#include "compiler/support/error_codes.h"
#include "compiler/support/out_of_memory.h"

namespace onnxc {

namespace fs = std::filesystem;

namespace {

/// Why opening or writing failed, in the system's words.
std::string system_reason(int error) {
  // The system has read mapped files for us.
  if (error == EFAULT) return "external data that goes into it cannot be read: it has become shorter meanwhile, or its disk fails";
  return error != 0 ? std::generic_category().message(error) : "the system does not say why";
}

/// Why a new file of that path could not be created, given `error`.
std::string why_not_made(const fs::path& path, int error) {
  std::error_code ignored;
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  if (!fs::exists(folder, ignored) && !ignored) return fmt::format("the folder {} does not exist", folder.string());
  if (fs::exists(folder, ignored) && !fs::is_directory(folder, ignored)) return fmt::format("{} is no folder", folder.string());
  return fmt::format("no file can be made in {}: {}", folder.string(), system_reason(error));
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  /// Some file systems say only now that there was no room.
  bool close() { return ::close(std::exchange(fd_, -1)) == 0; }

 private:
  int fd_;
};

[[noreturn]] void fail_to_write(const fs::path& path, const std::string& why) {
  throw Error(ErrorCode::CannotWrite, fmt::format("{} cannot be written: {}", path.empty() ? "''" : path.string(), why));
}

}  // namespace

void check_folder_of(const fs::path& path) {
  const fs::path folder = path.parent_path();
  if (!folder.empty() && !fs::is_directory(folder)) fail_to_write(path, fmt::format("the folder {} does not exist", folder.string()));
}

std::string read_file(const fs::path& path) {
  const auto fail = [&](const std::string& why) {
    throw Error(ErrorCode::CannotRead, fmt::format("{} cannot be read: {}", path.string(), why));
  };
  std::error_code error;
  if (fs::is_directory(path, error)) fail("it is a folder");
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));  // a pipe has nobody to wait for
  struct stat status{};
  if (file.get() < 0 || fstat(file.get(), &status) != 0) fail(system_reason(errno));
  if (!S_ISREG(status.st_mode)) fail("it is no regular file");
  std::string bytes(static_cast<std::size_t>(status.st_size), '\0');
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t n = ::read(file.get(), bytes.data() + done, bytes.size() - done);
    if (n == 0) fail("it has become shorter meanwhile");
    if (n < 0 && errno != EINTR) fail(system_reason(errno));
    if (n > 0) done += static_cast<std::size_t>(n);
  }
  return bytes;
}

namespace {

/// Collects small pieces. The first failure is kept, and what follows it is left out.
class Writer {
 public:
  explicit Writer(int fd) : fd_(fd) {}
  void operator()(std::string_view bytes) {
    if (buffer_.size() + bytes.size() <= kBuffer) {
      buffer_ += bytes;
      return;
    }
    flush();
    if (bytes.size() > kBuffer) put(bytes);
    else buffer_ += bytes;
  }
  /// The errno of the first failure, or 0.
  int flush() {
    put(buffer_);
    buffer_.clear();
    return error_;
  }

 private:
  static constexpr std::size_t kBuffer = 1 << 16;
  void put(std::string_view bytes) {
    while (!bytes.empty() && error_ == 0) {
      const ssize_t n = ::write(fd_, bytes.data(), bytes.size());
      if (n > 0) bytes.remove_prefix(static_cast<std::size_t>(n));
      else if (n == 0) error_ = ENOSPC;
      else if (errno != EINTR) error_ = errno;
    }
  }
  int fd_, error_ = 0;
  std::string buffer_;
};

/// Opens a new file beside `target`: one that is there already, or a link that somebody has put there, is not touched.
int open_beside(const fs::path& target, Leftover& beside) {
  static std::atomic<int> counter = 0;
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    Leftover file(fs::path(fmt::format("{}.tmp{}_{}", target.string(), getpid(), counter++)));
    const int fd = ::open(file.path().c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    const int error = errno;
    if (fd >= 0) beside = std::move(file);
    else file.keep();  // it is somebody else's, or nobody's
    errno = error;
    if (fd >= 0 || error != EEXIST) return fd;
  }
  return -1;
}

/// Whether that is how a file system says that it cannot do something at all.
bool is_lacking(int error) { return error == EINVAL || error == ENOSYS || error == EOPNOTSUPP || error == EPERM || error == EMLINK; }

/// Puts `beside` into the place of `target`; the old file is then where `beside` says. Where the file system cannot exchange names, `old`
/// becomes a second name of the old file meanwhile, and where files have one name only, nothing is at `target` for a moment. Returns false,
/// with errno, if nothing has changed.
bool exchange(Leftover& beside, Leftover& old, const fs::path& target) noexcept {
  const char* const made = beside.path().c_str();
  if (renameat2(AT_FDCWD, made, AT_FDCWD, target.c_str(), RENAME_EXCHANGE) == 0) return true;
  if (!is_lacking(errno)) return false;
  const bool has_two_names = link(target.c_str(), old.path().c_str()) == 0;
  if (!has_two_names && (!is_lacking(errno) || rename(target.c_str(), old.path().c_str()) != 0)) return false;
  if (rename(made, target.c_str()) == 0) {
    beside = std::move(old);
    return true;
  }
  const int error = errno;
  if (!has_two_names && rename(old.path().c_str(), target.c_str()) != 0) old.keep();  // it is the only copy
  errno = error;
  return false;
}

/// The same for all ways to write a path.
fs::path place_of(const fs::path& path) {
  std::error_code error;
  const fs::path place = fs::weakly_canonical(fs::absolute(path, error), error);
  return place.empty() ? path : place;
}

}  // namespace

template <class Write>
void NewFiles::write(const fs::path& path, const Write& write) {
  if (path.empty()) fail_to_write(path, "a file needs a name");
  std::error_code error;
  if (fs::is_directory(path, error)) fail_to_write(path, "it is a folder");
  const bool is_file = fs::is_regular_file(path, error), is_device = !is_file && fs::exists(path, error);  // or a pipe
  File file{path, is_file ? fs::canonical(path, error) : path};
  if (file.target.empty()) file.target = path;
  for (const File& other : files_) {
    if (!is_device && place_of(other.target) == place_of(file.target))
      throw Error(ErrorCode::OutputClash, fmt::format("{} would be written twice; give each output a name of its own", path.string()));
  }
  Descriptor to(is_device ? ::open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC) : open_beside(file.target, file.beside));
  if (to.get() < 0) fail_to_write(path, is_device ? system_reason(errno) : why_not_made(file.target, errno));
  Writer writer(to.get());
  write(std::ref(writer));
  if (const int write_error = writer.flush(); write_error != 0) fail_to_write(path, system_reason(write_error));
  if (!to.close()) fail_to_write(path, system_reason(errno));
  if (is_device) return;
  file.old = Leftover(fs::path(file.beside.path().string() + ".old"));
  files_.push_back(std::move(file));
}

void NewFiles::add(const fs::path& path, std::string_view bytes) {
  write(path, [&](const Text::Sink& sink) { sink(bytes); });
}
void NewFiles::add(const fs::path& path, const Text& text) {
  write(path, [&](const Text::Sink& sink) { text.write(sink); });
}

void NewFiles::spare(const std::vector<fs::path>& read) const {
  for (const fs::path& path : read) {
    for (const File& file : files_) {
      if (place_of(path) == place_of(file.target))
        throw Error(ErrorCode::OutputClash,
                    fmt::format("{} is read, and would be replaced; give the output another name", file.path.string()));
    }
  }
}

void NewFiles::undo() noexcept {
  for (auto file = files_.rbegin(); file != files_.rend(); ++file) {
    if (!std::exchange(file->in_place, false)) continue;
    const char* const beside = file->beside.path().c_str();
    const char* const target = file->target.c_str();
    if (!file->has_replaced) ::rename(target, beside);
    else if (renameat2(AT_FDCWD, beside, AT_FDCWD, target, RENAME_EXCHANGE) != 0) ::rename(beside, target);
  }
}

void NewFiles::commit() {
  check_memory();
  const Undivided all_or_none;
  for (File& file : files_) {
    // The last one need not be undone, so that a single file has at each moment its old content or the new one.
    const bool is_last = &file == &files_.back();
    file.has_replaced = !is_last && (access(file.target.c_str(), F_OK) == 0 || errno != ENOENT);
    file.in_place =
        file.has_replaced ? exchange(file.beside, file.old, file.target) : ::rename(file.beside.path().c_str(), file.target.c_str()) == 0;
    if (file.in_place) continue;
    const int error = errno;
    undo();
    fail_to_write(file.path, system_reason(error));
  }
  for (File& file : files_) {
    if (!file.has_replaced) file.beside.keep();  // it has become the target
  }
  files_.clear();
}

void write_file(const fs::path& path, std::string_view bytes) {
  NewFiles file;
  file.add(path, bytes);
  file.commit();
}
void write_file(const fs::path& path, const Text& text) {
  NewFiles file;
  file.add(path, text);
  file.commit();
}

void make_folder(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) throw Error(ErrorCode::CannotWrite, fmt::format("the folder {} cannot be made: {}", path.string(), error.message()));
}

namespace {

/// A folder in that of temporary files, where others can write: libraries are loaded from it, so it has to be this user's alone.
fs::path own_folder_of_all() {
  const fs::path path = fs::temp_directory_path() / fmt::format("onnxc-{}", geteuid());
  struct stat status{};
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
    throw Error(ErrorCode::CannotWrite, fmt::format("the folder {} cannot be made: {}", path.string(), system_reason(errno)));
  const bool is_own = lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
                      (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
  if (!is_own)
    throw Error(ErrorCode::UnsafeCache, fmt::format("{} is no folder that only this user can write to", path.string()),
                "$ONNXC_CACHE names another for what is compiled");
  return path;
}

}  // namespace

fs::path cache_folder() {
  if (const char* folder = std::getenv("ONNXC_CACHE"); folder != nullptr && *folder != '\0') return folder;
  if (const char* folder = std::getenv("XDG_CACHE_HOME"); folder != nullptr && *folder != '\0') return fs::path(folder) / "onnxc";
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0') return fs::path(home) / ".cache" / "onnxc";
  return own_folder_of_all();
}

}  // namespace onnxc
