// Is a tensor what was expected? The rules of ONNX's backend tests, and one more for quantised models.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "tools/driver/host_value.h"

namespace onnxc {

struct Tolerance {
  double rtol = 1e-3, atol = 1e-7;  ///< floats: |actual - expected| <= atol + rtol * |expected|
  int64_t int_atol = 0;             ///< integers: |actual - expected| <= int_atol
  /// When given, floats and integers of up to 16 bits are judged as a whole instead: ||actual - expected|| <= rel_l2 * ||expected||.
  std::optional<double> rel_l2 = std::nullopt;
};

struct Comparison {
  bool within = true;
  std::string reason;        ///< why not
  double largest_error = 0;  ///< max |actual - expected| over elements that are finite in both
  double relative_l2 = 0;    ///< ||actual - expected|| / ||expected||
};

/// Element type and shape must be equal; NaN equals NaN; an infinity equals itself; strings and bools are exact. For bfloat16 rtol is at
/// least 2^-6, two units in the last place, as in ONNX's runner.
Comparison compare(const TensorData& actual, const TensorData& expected, const Tolerance& tolerance);
/// Item by item for sequences, optionals and maps, whose entries may come in any order; an optional may stand for what it holds.
Comparison compare(const HostValue& actual, const HostValue& expected, const Tolerance& tolerance);

}  // namespace onnxc
