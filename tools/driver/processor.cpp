#include "tools/driver/processor.h"

#include <sys/utsname.h>

#include <fstream>

namespace onnxc {

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (const std::size_t colon = line.find(": "); line.starts_with("model name") && colon != line.npos) return line.substr(colon + 2);
  }
  utsname system{};
  return uname(&system) == 0 ? system.machine : "unknown processor";
}

}  // namespace onnxc
