// Schemas of the operators that ONNX Runtime adds to ONNX's, as far as onnxc knows them.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "onnx/defs/schema.h"

namespace onnxc {

struct ContribSchema {
  onnx::OpSchema schema;
  std::vector<uint32_t> ranks;  ///< of each input: bit r for rank r; 0 where any will do
};

/// Null where there is none. `domain` is empty for operators that ONNX Runtime puts beside ONNX's own.
const ContribSchema* find_contrib_schema(const std::string& domain, const std::string& op);

}  // namespace onnxc
