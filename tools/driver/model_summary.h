// What a test runner must know of a model file without compiling it: the values at its border and the operators in it.
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
  std::optional<HostValue> initial;  ///< of an input: the initialiser with its name
};

struct ModelSummary {
  std::vector<BorderValue> inputs, outputs;
  std::set<std::string> operators;  ///< `Conv`, `ai.onnx.ml.Scaler`; those in subgraphs too
  std::map<std::string, int64_t> opsets;
  std::set<std::string> elements;  ///< types of what the values at the border are made of: `f32`, `string`

  int find_input(const std::string& name) const;  ///< -1 where there is none
};

/// Throws Error{Io, Invalid}.
ModelSummary summarize_model(const std::filesystem::path& path);

}  // namespace onnxc
