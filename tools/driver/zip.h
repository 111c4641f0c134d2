// Writes a .zip archive, as packages of some ecosystems are.
#pragma once
#include <map>
#include <string>

namespace onnxc {

/// The files by their paths, stored without compression and with the earliest date that the format knows: the same files give the same bytes.
/// All together must take less than 4 GiB.
std::string zip(const std::map<std::string, std::string>& files);

}  // namespace onnxc
