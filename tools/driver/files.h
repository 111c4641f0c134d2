// Whole files in and out, and where the cache is.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>

#include "codegen/text.h"

namespace onnxc {

/// Throws Error{Io}.
std::string read_file(const std::filesystem::path& path);
/// Through a temporary that is renamed: readers see the old bytes or the new ones. A link to a file stays one; devices and pipes are written to. Throws Error{Io}.
void write_file(const std::filesystem::path& path, std::string_view bytes);
void write_file(const std::filesystem::path& path, const Text& text);
/// $ONNXC_CACHE, or onnxc in the user's cache folder.
std::filesystem::path cache_folder();

}  // namespace onnxc
