// What protobuf does not say: that it stopped reading since messages lie too deep inside of each other.
#pragma once
#include <cstddef>
#include <optional>
#include <span>

#include "compiler/support/error.h"

namespace onnxc {

/// Where a model has more than `most` messages inside of each other, as graphs of branches and types of sequences are: the outermost node or value that holds them.
std::optional<Diagnostic> find_deep_nesting(std::span<const std::byte> model, std::size_t most);

}  // namespace onnxc
