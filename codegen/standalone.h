// The runtime headers a unit uses, pasted into it.
#pragma once
#include <set>
#include <string>

namespace onnxc {

/// The text of those headers of runtime_stub/onnxc and of all they include from there, each once, in order of dependence. Other includes stay.
/// Guarded, so that several standalone units can share a translation unit. Throws Error{Io} when the runtime is not found.
std::string paste_headers(const std::set<std::string>& headers);

/// The folder that holds onnxc/base.hpp: $ONNXC_RUNTIME_DIR, the source tree, or beside the installed command.
std::string runtime_folder();

}  // namespace onnxc
