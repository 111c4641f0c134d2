// Cases in the layout of ONNX's backend tests, and how their values become arguments of a compiled model.
//
//   CASE/model.onnx
//   CASE/test_data_set_0/input_0.pb …      a file's tensor may name the input it is for; otherwise K counts the graph's inputs
//   CASE/test_data_set_0/output_0.pb …     (or, as some tools do, only those without an initialiser)
//   CASE/data.json or case.json            rtol, atol, int_atol, tol_rel_l2: all optional
#pragma once
#include <onnxc/model.h>

#include <filesystem>
#include <map>
#include <optional>
#include <vector>

#include "tools/driver/compare.h"
#include "tools/driver/host_value.h"
#include "tools/driver/model_summary.h"

namespace onnxc {

struct DataSet {
  std::filesystem::path folder;
  std::vector<std::optional<HostValue>> inputs;   ///< for each input of the graph; absent: its initialiser
  std::vector<std::optional<HostValue>> outputs;  ///< for each output of the graph that has a file
};

/// The folders with data: `folder` itself if it has input or output files, otherwise its test_data_set_* in the order
/// of their numbers.
std::vector<std::filesystem::path> find_data_sets(const std::filesystem::path& folder);
/// By the names of inputs and outputs that have another order of axes in the unit than in the model: the axis that is the outermost there.
using OutermostAxes = std::map<std::string, int>;
/// With the values as the unit has them.
DataSet read_data_set(const std::filesystem::path& folder, const ModelSummary& model, const OutermostAxes& outermost = {});

/// The tolerance in data.json or case.json beside the model, with `otherwise` for what they do not state.
Tolerance read_tolerance(const std::filesystem::path& case_folder, const Tolerance& otherwise);

/// The values for the unit's inputs in its order; they live as long as the data set and the summary. An optional
/// without a file is empty. Throws Error{Invalid} for other inputs without a value, and Error{Unsupported} if the
/// data overrides an initialiser that the unit has as a constant.
std::vector<const HostValue*> feeds(const onnxc_model& unit, const ModelSummary& model, const DataSet& data);

}  // namespace onnxc
