// What a unit has of memories of several speeds: an arena for each, and an image of constants for each that has a section.
#pragma once
#include <string>
#include <vector>

#include "codegen/weights.h"
#include "compiler/ir/program.h"

namespace onnxc {

/// As --region takes it: `fast:8192:.dtcm`.
std::string region_text(const Region& region);
/// Why a region of this name, which is an identifier, would disturb the unit's own names; empty if it does not.
std::string region_name_problem(const std::string& name);

/// Names at namespace scope that units with these regions have beside those of all units.
std::vector<std::string> names_of_regions(const std::vector<Region>& regions, const std::string& name_space);

/// For the header: the sizes of the arena's parts, `Arenas`, and how to divide a block.
std::string arenas_declaration(const Program& program);
/// The parameter of `run` for scratch memory.
std::string arena_parameter(const Program& program);
/// Statements of `run` that refuse too little of it. `dims`: the unit's sizes depend on them.
std::string arena_checks(const Program& program, bool dims);
/// The expression in `steps` for the memory that offsets of a region count from.
std::string arena_base(const Program& program, const Buffer& buffer);

/// emit_weights for the constants of each region apart, in its section, and for all others in the form that the options name.
WeightsText emit_weights_by_region(const std::vector<WeightBlob>& blobs, const WeightsOptions& options, const Program& program);

}  // namespace onnxc
