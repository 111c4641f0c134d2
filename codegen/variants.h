// The variants of a unit (--specialize, and extents that meet in broadcasting): what they are called, and which of them runs.
#pragma once
#include <string>
#include <vector>

#include "compiler/onnxc.h"

namespace onnxc {

/// The namespace of each one's code inside of the unit's: batch_8.
std::vector<std::string> variant_names(const std::vector<Variant>& variants);

/// The number of the one that a unit runs at these dimensions; variants.size() where that is the general code.
std::size_t variant_at(const std::vector<Variant>& variants, const Sizes& dimensions);

/// When it runs: `batch=8, mask_batch=batch`
std::string condition_text(const Variant& variant);

/// `batch=8, sequence=128`
std::string sizes_text(const Sizes& sizes);

}  // namespace onnxc
