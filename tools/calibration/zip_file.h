// Reads zip archives, as numpy.savez and savez_compressed write them: members that are stored or deflated, with 64-bit sizes.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace onnxc {

struct ZipMember {
  std::string name;
  std::string bytes;
};

/// The members in the order of the archive's directory. Checksums are compared. Throws Error{Invalid} for what is no zip archive, for one that is damaged,
/// and Error{Unsupported} for encryption and other ways of compression. Messages do not name the file.
std::vector<ZipMember> read_zip(std::string_view archive);

}  // namespace onnxc
