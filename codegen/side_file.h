// A file that accompanies the emitted source.
#pragma once
#include <string>

namespace onnxc {

struct SideFile {
  std::string name;  // a plain file name, no folder
  std::string bytes;
};

}  // namespace onnxc
