// Reads and writes whole files, and finds the cache.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/text.h"
#include "tools/driver/leftovers.h"

namespace onnxc {

/// Throws Error{Io} with the reason, as do the functions below.
std::string read_file(const std::filesystem::path& path);
/// Writes to a temporary file that is then renamed, so readers see either the old bytes or the new ones. A link to a
/// file stays a link. Devices and pipes are written to directly.
void write_file(const std::filesystem::path& path, std::string_view bytes);
void write_file(const std::filesystem::path& path, const Text& text);

/// Files that belong together, as a unit and its header: in the end all of them are new, or all are as they were. Each is written beside its
/// place and renamed. What `commit` has not reached is removed. The functions throw Error{Io}.
///
/// A file is at its place at each moment, old or new, where the file system exchanges names (renameat2) or gives files second names (link).
/// Where it does neither, as FAT, a file of several that replaces another is missing while two names change. What ends onnxc without notice
/// then (SIGKILL, a loss of power) leaves it beside its place, as *.old; any other end puts it back or finishes.
class NewFiles {
 public:
  /// Devices and pipes are written to at once. Throws Error{Usage} for a second file at one place.
  void add(const std::filesystem::path& path, std::string_view bytes);
  void add(const std::filesystem::path& path, const Text& text);
  /// Throws Error{Usage} if a file would replace one of those that were read.
  void spare(const std::vector<std::filesystem::path>& read) const;
  /// Puts all into their places, in the order in which they were added.
  void commit();

 private:
  struct File {
    std::filesystem::path path, target;  ///< as it was asked for, and what a link leads to
    Leftover beside{};                   ///< the new file, or the old one while others are not in place yet
    Leftover old{};                      ///< a name for the old file while two names change
    bool in_place = false, has_replaced = false;
  };
  template <class Write>
  void write(const std::filesystem::path& path, const Write& write);
  void undo() noexcept;
  std::vector<File> files_;
};

/// Throws Error{Io} if the folder that the file would be written into is not there.
void check_folder_of(const std::filesystem::path& path);
/// Creates a folder and those that contain it.
void make_folder(const std::filesystem::path& path);
/// $ONNXC_CACHE, or onnxc in the user's cache folder.
std::filesystem::path cache_folder();

}  // namespace onnxc
