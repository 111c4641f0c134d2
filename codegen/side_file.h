// A file that accompanies the emitted source.
#pragma once
#include <string>

#include "codegen/text.h"

namespace onnxc {

struct SideFile {
  std::string name;  // a plain file name, no folder
  Text bytes;
};

}  // namespace onnxc
