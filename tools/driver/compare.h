// Compares a tensor with the expected one, by the rules of ONNX's backend tests and one more for quantised models.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "tools/driver/host_value.h"

namespace onnxc {

struct Tolerance {
  double rtol = 1e-3, atol = 1e-7;  ///< floats: |actual - expected| <= atol + rtol * |expected|
  int64_t int_atol = 0;             ///< integers: |actual - expected| <= int_atol
  /// If given, floats and integers of up to 16 bits are compared as a whole instead: ||actual - expected|| <= rel_l2
  /// * ||expected||.
  std::optional<double> rel_l2 = std::nullopt;
};

struct Comparison {
  bool within = true;
  std::string reason;        ///< why not
  double largest_error = 0;  ///< max |actual - expected| over elements that are finite in both
  double relative_l2 = 0;    ///< ||actual - expected|| / ||expected||
};

/// Element type and shape must be equal. NaN equals NaN, an infinity equals itself, and strings and bools must be
/// exact. For bfloat16, rtol is at least 2^-6, two units in the last place, as in ONNX's runner.
Comparison compare(const TensorData& actual, const TensorData& expected, const Tolerance& tolerance);
/// Compares sequences, optionals and maps item by item. Entries of maps may be in any order. An optional may be
/// compared with the value that it contains.
Comparison compare(const HostValue& actual, const HostValue& expected, const Tolerance& tolerance);

}  // namespace onnxc
