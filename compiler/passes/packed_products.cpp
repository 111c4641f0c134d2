#include "compiler/passes/packed_products.h"

#include <cstring>
#include <utility>

namespace onnxc {
namespace {

void put_code(std::vector<std::byte>& to, int64_t first_byte, int64_t i, int64_t bits, int64_t code) {
  const int64_t per_byte = 8 / bits;
  to[static_cast<std::size_t>(first_byte + i / per_byte)] |= static_cast<std::byte>(code << (i % per_byte * bits));
}

}  // namespace

PackedMatrix::PackedMatrix(int64_t rows, int64_t columns, int64_t bits_of_code, int64_t rows_of_block)
    : k(rows), n(columns), bits(bits_of_code), block(rows_of_block) {
  codes.resize(static_cast<std::size_t>(n * blocks() * block * bits / 8));
  scales.resize(static_cast<std::size_t>(n * blocks()) * sizeof(float));
  zeros.resize(static_cast<std::size_t>(n * ((blocks() * bits + 7) / 8)));
}

void PackedMatrix::set_block(int64_t column, int64_t number, float scale, int64_t zero) {
  std::memcpy(scales.data() + static_cast<std::size_t>(column * blocks() + number) * sizeof scale, &scale, sizeof scale);
  put_code(zeros, column * ((blocks() * bits + 7) / 8), number, bits, zero);
  has_zeros = has_zeros || zero != 1 << (bits - 1);
}

void PackedMatrix::set_code(int64_t column, int64_t row, int64_t code) {
  put_code(codes, column * blocks() * block * bits / 8, row, bits, code);
}

PackedConstants add_packed(Graph& graph, std::string name, PackedMatrix matrix) {
  const auto constant = [&](const std::string& of, ElementType type, std::vector<int64_t> shape, std::vector<std::byte> bytes) {
    return graph.add_constant(of, std::make_shared<const TensorData>(TensorData{type, std::move(shape), std::move(bytes), {}}));
  };
  const auto [k, n, bits, block] = std::tuple{matrix.k, matrix.n, matrix.bits, matrix.block};
  const int64_t blocks = matrix.blocks(), zero_bytes = static_cast<int64_t>(matrix.zeros.size());
  const ValueId codes = constant(name, ElementType::U8, {n, blocks, block * bits / 8}, std::move(matrix.codes)),
                scales = constant(name + "_scale", ElementType::F32, {n * blocks}, std::move(matrix.scales));
  return {k,
          n,
          bits,
          block,
          codes,
          scales,
          matrix.has_zeros ? constant(name + "_zero", ElementType::U8, {zero_bytes}, std::move(matrix.zeros)) : kAbsent};
}

std::string not_packable(const Graph& graph, const Node& product) {
  if (!product.is("Gemm")) return "";
  if (product.integer("transA", 0) != 0) return "it has transA; a Transpose before it would do";
  if (product.number("alpha", 1) != 1 || product.number("beta", 1) != 1)
    return "it has alpha or beta; weights and a bias that have these factors would do";
  if (product.has_input(2) && element_count(graph[product.inputs[2]].type.extents) != graph[product.outputs[0]].type.extents.back())
    return "its bias is no vector with an element for each column";
  return "";
}

void multiply_packed(Node& product, const PackedConstants& w) {
  const ValueId bias = product.input(2);
  product.domain = "com.microsoft";
  product.op = "MatMulNBits";
  product.version = 1;
  product.schema = nullptr;
  product.inputs = {product.inputs[0], w.codes, w.scales, w.zeros};
  if (bias != kAbsent) product.inputs.insert(product.inputs.end(), {kAbsent, bias});
  product.attributes = {{"K", w.k}, {"N", w.n}, {"bits", w.bits}, {"block_size", w.block}};
}

}  // namespace onnxc
