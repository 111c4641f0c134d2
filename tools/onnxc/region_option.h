// The text of --region.
#pragma once
#include <string>
#include <vector>

#include "compiler/ir/program.h"

namespace onnxc {

/// `fast:64K`, `fast:64K:.dtcm_data`, `flash:1M:.qspi:const`: name, bytes, the section of its constants, and whether it is for constants alone. The name
/// becomes an identifier. Throws Error{Usage}.
Region parse_region(const std::string& text);

/// All of them, in order. Throws Error{Usage} for two of one name as well.
std::vector<Region> parse_regions(const std::vector<std::string>& texts);

}  // namespace onnxc
