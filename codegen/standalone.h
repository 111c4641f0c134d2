// Pastes the runtime headers that a unit uses into it.
#pragma once
#include <set>
#include <string>

namespace onnxc {

/// The text of these headers of runtime_stub/onnxc, and of all that they include from there, each once, in order of
/// dependence. Other includes stay. Guards allow several standalone units in one translation unit. Throws Error{Io}
/// if the runtime is not found.
std::string paste_headers(const std::set<std::string>& headers);

/// The folder that contains onnxc/base.hpp: $ONNXC_RUNTIME_DIR, the source tree, or a folder near the installed
/// command.
std::string runtime_folder();

}  // namespace onnxc
