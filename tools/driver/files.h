// Whole files in and out, and where the cache is.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>

#include "codegen/text.h"

namespace onnxc {

/// Throws Error{Io}, which says why; so do those below.
std::string read_file(const std::filesystem::path& path);
/// Through a temporary that is renamed: readers see the old bytes or the new ones. A link to a file stays one; devices and pipes are written to.
void write_file(const std::filesystem::path& path, std::string_view bytes);
void write_file(const std::filesystem::path& path, const Text& text);
/// With those it lies in.
void make_folder(const std::filesystem::path& path);
/// $ONNXC_CACHE, or onnxc in the user's cache folder.
std::filesystem::path cache_folder();

}  // namespace onnxc
