// onnxc quantize: from a model in floats to one of integers, in standard ONNX.
#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "codegen/compile.h"
#include "tools/calibration/goal.h"
#include "tools/quantize/histogram.h"

namespace onnxc {

enum class QuantizedForm {
  Qdq,       ///< layers between QuantizeLinear and DequantizeLinear with constant scales
  Dynamic,   ///< inputs are quantised as they come: DynamicQuantizeLinear, MatMulInteger, ConvInteger
  Weights8,  ///< weights of 8 bits, arithmetic in floats
  Weights4   ///< weights of products in 4 bits with a scale for each block, others in 8
};

struct QuantizeOptions {
  std::filesystem::path model, output;
  GoalOptions goal;
  std::optional<std::filesystem::path> report;
  QuantizedForm form = QuantizedForm::Qdq;
  RangeMethod method = RangeMethod::Mse;
  double percentile = 99.99;
  bool per_channel = true;
  int64_t block = 32;      ///< weights that share a scale, in 4 bits
  CompileOptions compile;  ///< for the builds that the data runs through
};

/// Writes the model and prints a table of its layers. Throws Error.
int quantize_command(const QuantizeOptions& options);

}  // namespace onnxc
