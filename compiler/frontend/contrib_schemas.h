// Schemas of the operators that ONNX Runtime adds to ONNX's, for those that onnxc knows.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "onnx/defs/schema.h"

namespace onnxc {

struct ContribSchema {
  onnx::OpSchema schema;
  std::vector<uint32_t> ranks;  ///< of each input: bit r allows rank r; 0: any rank
};

/// Null if there is none. `domain` is empty for operators that ONNX Runtime adds to ONNX's own domain.
const ContribSchema* find_contrib_schema(const std::string& domain, const std::string& op);

}  // namespace onnxc
