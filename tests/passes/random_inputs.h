// Runs a graph on random inputs, to compare it before and after a pass.
#pragma once
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "compiler/ir/graph.h"

namespace onnxc {

/// Multiples of 1/8 around 0. Every symbol of the type is taken as 3.
inline Constant random_tensor(const Type& type, std::mt19937& random) {
  std::vector<int64_t> shape;
  for (Dim d : type.extents) shape.push_back(d.is_constant() ? d.value() : 3);
  auto t = std::make_shared<TensorData>(TensorData::zeros(type.element, shape));
  const auto width = static_cast<std::size_t>(info(type.element).bits / 8);
  for (std::size_t i = 0; i < t->bytes.size() / width; ++i) {
    const double value = std::round(std::normal_distribution<double>(0, 2)(random) * 8) / 8;
    const uint64_t bits = to_bits(type.element, value);
    std::memcpy(t->bytes.data() + i * width, &bits, width);
  }
  return t;
}

inline std::vector<Constant> random_inputs(const Graph& graph) {
  std::mt19937 random(7);
  std::vector<Constant> inputs;
  for (ValueId v : graph.inputs) inputs.push_back(random_tensor(graph[v].type, random));
  return inputs;
}

/// A pass may change the order of a sum, so floats may differ in the last bits.
inline void check_same(const std::vector<Constant>& a, const std::vector<Constant>& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    REQUIRE(a[i]->type == b[i]->type);
    REQUIRE(a[i]->shape == b[i]->shape);
    const auto x = to_doubles(*a[i]), y = to_doubles(*b[i]);
    for (std::size_t k = 0; k < x.size(); ++k) {
      INFO("output " << i << " element " << k << ": " << x[k] << " and " << y[k]);
      CHECK(((std::isnan(x[k]) && std::isnan(y[k])) || std::abs(x[k] - y[k]) <= 1e-5 * (1 + std::abs(x[k]))));
    }
  }
}

}  // namespace onnxc
