#include "tools/onnxc/commands.h"

namespace onnxc {

void add_commands(CLI::App&, std::function<int()>&) {}

int build_command(const std::string&, const std::string&, bool, const CompileOptions&) { throw Error(ErrorKind::Unsupported, "--emit=shared"); }

}  // namespace onnxc
