// Names that somebody may have meant.
#pragma once
#include <string>
#include <vector>

namespace onnxc {

/// Up to `most` of `names`, the closest to `wanted` first: those that contain it, then by the number of characters to change. Takes
/// names × length² steps; names beyond 200 characters are compared by their first.
std::vector<std::string> closest_names(const std::string& wanted, const std::vector<std::string>& names, std::size_t most = 3);

/// `the closest are 'a', 'b'`, for an Error's remedy; empty where there are no names.
std::string closest_text(const std::string& wanted, const std::vector<std::string>& names);

}  // namespace onnxc
