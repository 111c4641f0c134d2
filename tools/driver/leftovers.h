// What nobody needs once this process ends: temporary files and folders, and the programs that it has started. A Leftover goes when its
// owner does; `abandon` removes all of them at once, for a process that a signal or a time limit ends.
#pragma once
#include <sys/types.h>

#include <filesystem>
#include <mutex>

namespace onnxc {

/// A file, or a folder with what is in it, that is removed when this object ends, unless it was kept. It need not exist yet.
class Leftover {
 public:
  Leftover() = default;
  explicit Leftover(std::filesystem::path path);
  Leftover(Leftover&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
  Leftover& operator=(Leftover&& other) noexcept {
    path_.swap(other.path_);
    return *this;
  }
  ~Leftover();
  /// It stays, or is gone already.
  void keep();
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;  ///< empty: nothing to remove
};

/// While such an object lives, `abandon` waits: for steps that are done together or not at all.
class Undivided {
 public:
  Undivided();

 private:
  std::unique_lock<std::recursive_mutex> lock_;
};

/// A process, the first of its group, that ends with this object or when all is abandoned.
class Child {
 public:
  /// Calls `start`, which returns the process's number, such that it is started and known, or neither.
  template <class Start>
  explicit Child(Start start) {
    const Undivided start_and_know;
    know(start());
  }
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  pid_t pid() const { return pid_; }
  /// Waits for its end. Returns its status, as waitpid does.
  int reap();

 private:
  void know(pid_t pid);
  pid_t pid_ = 0;
};

/// Ends all children and removes all leftovers. From then on a thread that makes or ends one waits forever: this is for a process that ends
/// at once.
void abandon() noexcept;

}  // namespace onnxc
