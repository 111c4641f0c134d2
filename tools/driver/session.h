// What the commands that run a model share: its summary, its unit, and its inputs.
#pragma once
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "tools/driver/compile_unit.h"
#include "tools/driver/data_set.h"
#include "tools/driver/model_call.h"
#include "tools/driver/thread_team.h"

namespace onnxc {

/// The folders with data: those in `data` if it is given (throws Error{Io} if there are none), otherwise those beside
/// the model, which may have none.
std::vector<std::filesystem::path> data_sets_for(const std::filesystem::path& model, const std::optional<std::filesystem::path>& data);

/// The inputs of a unit: from the first data set, or made up.
struct Feed {
  ModelSummary model;
  std::optional<DataSet> data{};
  std::vector<HostValue> made_up{};
  std::vector<const HostValue*> inputs{};  ///< one for each input of the unit; they point into the members above

  std::string source() const { return data ? data->folder.string() : "made up"; }
};
/// `data`: as above.
Feed find_feed(const std::filesystem::path& model, const std::optional<std::filesystem::path>& data, const CompiledModel& unit);

/// Made-up inputs for a unit, always the same: floats in [-1, 1), bytes of any value, other integers 0 or 1, strings
/// of one letter. `symbols`: the extents of the unit's dimensions; without them, these are at their lower bound but at
/// least 1. Throws Error{Unsupported} if a dimension depends on others in an unknown way, and for values that are no
/// tensors.
std::vector<HostValue> random_inputs(const onnxc_model& unit, std::span<const int64_t> symbols = {});

}  // namespace onnxc
