// What a test runner needs to know of a model file without compiling it: its inputs and outputs, and its operators.
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tools/driver/host_value.h"

namespace onnxc {

struct BorderValue {
  std::string name;
  ValueKind kind = ValueKind::Tensor;
  std::optional<HostValue> initial;  ///< of an input: the initialiser of the same name
};

struct ModelSummary {
  std::vector<BorderValue> inputs, outputs;
  std::set<std::string> operators;  ///< `Conv`, `ai.onnx.ml.Scaler`; with those in subgraphs
  std::map<std::string, int64_t> opsets;
  std::set<std::string> elements;  ///< element types of inputs and outputs: `f32`, `string`

  int find_input(const std::string& name) const;  ///< -1 if there is none
};

/// Throws Error{Io, Invalid}.
ModelSummary summarize_model(const std::filesystem::path& path);

}  // namespace onnxc
