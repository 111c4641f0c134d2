// The files that one compilation writes, and the manifest by which they can be traced to what they were made of.
#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "compiler/onnxc.h"
#include "tools/driver/files.h"

namespace onnxc {

struct HashedFile {
  std::string name;  ///< without its folder
  std::string sha256;
  int64_t bytes = 0;
};

/// All of the files are written, or none.
class Outputs {
 public:
  /// `hashes`: whether they are wanted, which takes the time to read all that is written.
  explicit Outputs(bool hashes) : wants_hashes_(hashes) {}
  void add(const std::filesystem::path& path, const std::string& bytes);
  void add(const std::filesystem::path& path, const Text& text);
  /// `read`: files that none of these may replace.
  void commit(const std::vector<std::filesystem::path>& read) {
    files_.spare(read);
    files_.commit();
  }
  const std::vector<HashedFile>& hashes() const { return hashes_; }

 private:
  NewFiles files_;
  bool wants_hashes_;
  std::vector<HashedFile> hashes_;
};

/// What a result was made from.
struct Provenance {
  ModelInfo info;
  std::string target;                                       ///< its full name
  std::string compiler;                                     ///< of C++, or empty
  std::map<std::string, std::vector<std::string>> options;  ///< as they were given
  std::vector<std::filesystem::path> read;                  ///< the model, its external data, headers of custom operators
};

/// As JSON, with hashes of what was read and of `made`. It names files without their folders and holds no time, so it is the same wherever
/// and whenever the same is made. Throws Error{Io} if a file can no longer be read.
std::string manifest(const Provenance& from, const std::vector<HashedFile>& made);

}  // namespace onnxc
