// A folder of one's own for files that nobody else shall see.
#pragma once
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "compiler/support/error.h"
#include "compiler/support/error_codes.h"
#include "tools/driver/leftovers.h"

namespace onnxc {

/// It is removed at the end, with what is in it, also where a signal ends the process.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    const Undivided made_and_known;
    std::string pattern = (std::filesystem::temp_directory_path() / "onnxc-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr)
      throw Error(ErrorCode::CannotWrite, fmt::format("no folder can be made in {}", std::filesystem::temp_directory_path().string()));
    path_ = Leftover(pattern);
  }
  const std::filesystem::path& path() const { return path_.path(); }

 private:
  Leftover path_;
};

}  // namespace onnxc
