// A matrix of weights, as MatMul and 1x1 convolutions have it.
#pragma once
#include <span>
#include <string>

namespace onnxc {

/// A constant matrix of k rows and n columns. `transposed`: it is stored as n rows of k, as a convolution's weights
/// are.
struct ConstantMatrix {
  std::string name;
  std::span<const float> values;
  bool transposed = false;
  Constant constant{};  ///< what the values belong to, or nothing where they live as long as the lowering
};

}  // namespace onnxc
