// Finds messages that are nested too deeply. protobuf stops reading there, but does not say why.
#pragma once
#include <cstddef>
#include <optional>
#include <span>

#include "compiler/support/error.h"

namespace onnxc {

/// If a model nests more than `most` messages, such as graphs of branches or types of sequences: names the outermost
/// node or value that contains them.
std::optional<Diagnostic> find_deep_nesting(std::span<const std::byte> model, std::size_t most);

}  // namespace onnxc
