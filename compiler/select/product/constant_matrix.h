// A matrix of weights, as MatMul and convolutions of one pixel have it.
#pragma once
#include <span>
#include <string>

namespace onnxc {

/// A constant matrix of k rows and n columns. `transposed`: it is stored as n rows of k, as the weights of a convolution are.
struct ConstantMatrix {
  std::string name;
  std::span<const float> values;
  bool transposed = false;
};

}  // namespace onnxc
