// A file as memory that may only be read, for weights that do not lie in the program.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <string>

class Mapped {
 public:
  explicit Mapped(const std::string& path) {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status{};
    if (file >= 0 && fstat(file, &status) == 0) {
      bytes_ = static_cast<std::size_t>(status.st_size);
      data_ = mmap(nullptr, bytes_, PROT_READ, MAP_PRIVATE, file, 0);
    }
    const int error = errno;
    if (file >= 0) close(file);
    if (data_ == MAP_FAILED) throw std::runtime_error(path + ": " + std::strerror(error));
  }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;
  ~Mapped() { munmap(data_, bytes_); }

  const std::byte* data() const { return static_cast<const std::byte*>(data_); }
  std::size_t size() const { return bytes_; }

 private:
  void* data_ = MAP_FAILED;
  std::size_t bytes_ = 0;
};
