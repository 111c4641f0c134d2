// Reads and writes whole files, and finds the cache.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>

#include "codegen/text.h"

namespace onnxc {

/// Throws Error{Io} with the reason, as do the functions below.
std::string read_file(const std::filesystem::path& path);
/// Writes to a temporary file that is then renamed, so readers see either the old bytes or the new ones. A link to a
/// file stays a link. Devices and pipes are written to directly.
void write_file(const std::filesystem::path& path, std::string_view bytes);
void write_file(const std::filesystem::path& path, const Text& text);
/// Throws Error{Io} if the folder that the file would be written into is not there.
void check_folder_of(const std::filesystem::path& path);
/// Creates a folder and those that contain it.
void make_folder(const std::filesystem::path& path);
/// $ONNXC_CACHE, or onnxc in the user's cache folder.
std::filesystem::path cache_folder();

}  // namespace onnxc
