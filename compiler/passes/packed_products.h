// Products by constant matrices of few bits, for the passes that find such matrices and that make them: MatMul or Gemm becomes com.microsoft.MatMulNBits.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"

namespace onnxc {

/// A matrix [k, n] as MatMulNBits has it: (code - zero) * scale, where blocks of `block` rows of a column share scale and zero point.
struct PackedMatrix {
  int64_t k, n, bits, block;
  std::vector<std::byte> codes;   ///< [n][blocks][block * bits / 8], the first code of a byte in its lowest bits
  std::vector<std::byte> scales;  ///< f32 [n][blocks]
  std::vector<std::byte> zeros;   ///< codes [n][ceil(blocks * bits / 8)]
  bool has_zeros = false;         ///< one of them is not the middle of the range, which stands for all otherwise

  PackedMatrix(int64_t k, int64_t n, int64_t bits, int64_t block);
  int64_t blocks() const { return (k + block - 1) / block; }
  int64_t bytes() const { return static_cast<int64_t>(codes.size() + scales.size() + (has_zeros ? zeros.size() : 0)); }
  void set_block(int64_t column, int64_t number, float scale, int64_t zero);
  void set_code(int64_t column, int64_t row, int64_t code);
};

struct PackedConstants {
  int64_t k, n, bits, block;
  ValueId codes, scales, zeros;  ///< zeros: may be kAbsent
};
/// The matrix as constants of the graph, called `name` and the like. That is a copy, since names of values move as values are added.
PackedConstants add_packed(Graph& graph, std::string name, PackedMatrix matrix);

/// Why a MatMul or Gemm by a matrix would be no MatMulNBits, as in Graph::float_reasons. Empty if it can be one.
std::string not_packable(const Graph& graph, const Node& product);
/// Makes it one. Needs: not_packable is empty.
void multiply_packed(Node& product, const PackedConstants& weights);

}  // namespace onnxc
