// Names that the user may have meant.
#pragma once
#include <string>
#include <vector>

namespace onnxc {

/// Up to `most` of `names`, the closest to `wanted` first: those that contain it, then by edit distance. Takes names
/// * length^2 steps, and compares only the first 200 characters of longer names.
std::vector<std::string> closest_names(const std::string& wanted, const std::vector<std::string>& names, std::size_t most = 3);

/// `the closest are 'a', 'b'`, for the remedy of an Error. Empty if there are no names.
std::string closest_text(const std::string& wanted, const std::vector<std::string>& names);

}  // namespace onnxc
