// The variants of a unit (--specialize, and extents that meet in broadcasting): their names, and which of them runs.
#pragma once
#include <string>
#include <vector>

#include "compiler/onnxc.h"

namespace onnxc {

/// The namespace of each variant's code inside the unit's namespace: batch_8.
std::vector<std::string> variant_names(const std::vector<Variant>& variants);

/// The index of the variant that a unit runs at these dimensions; variants.size() for the general code.
std::size_t variant_at(const std::vector<Variant>& variants, const Sizes& dimensions);

/// The condition under which it runs: `batch=8, mask_batch=batch`
std::string condition_text(const Variant& variant);

/// Text for people: the general program, then each variant behind a line `variant NAME`.
std::string print_programs(const Compilation& compilation);

/// `batch=8, sequence=128`
std::string sizes_text(const Sizes& sizes);

}  // namespace onnxc
