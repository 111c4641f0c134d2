// Look-ups in a constant table of few bits. Its rows lie one after the other, or, where a product has the same weights, as that has them: a language
// model whose head is the Transpose of its embeddings holds them once.
#include <algorithm>

#include "compiler/ops/selected.h"
#include "compiler/select/product/nbits.h"
#include "compiler/select/weights/pack.h"
#include "runtime_stub/onnxc/contract/nbits.hpp"

namespace onnxc {
namespace {

/// The table as the columns of a product.
struct PackedTable {
  int64_t rows, k, bits;
  Constant codes;  ///< with the last block of a row in whole
  pack::NBitsWeights weights;
};

PackedTable table_of(const KernelQuery& l) {
  const TensorData &data = *l.constant(0), &scales = *l.constant(2);
  const TensorData* const zeros = l.has(3) ? l.constant(3) : nullptr;
  const int64_t bits = l.node().integer("bits", 4), block = l.node().integer("block_size", 128), row = data.shape[1];
  PackedTable t{data.shape[0], row * 8 / bits, bits, l.kept_constant(0), {}};
  if (const int64_t padded = (t.k + block - 1) / block * block * bits / 8; padded != row) {
    auto whole = std::make_shared<TensorData>(TensorData::zeros(ElementType::U8, {t.rows, padded}));
    const std::span<uint8_t> to = whole->as<uint8_t>();
    for (int64_t i = 0; i < t.rows; ++i)
      std::ranges::copy(data.as<uint8_t>().subspan(static_cast<std::size_t>(i * row), static_cast<std::size_t>(row)),
                        to.begin() + i * padded);
    t.codes = std::move(whole);
  }
  t.weights = {block, t.codes->as<uint8_t>(), scales.as<float>(), zeros != nullptr ? zeros->as<uint8_t>() : std::span<const uint8_t>(), {}};
  return t;
}

bool is_product_by(const Graph& graph, const Node& node, const PackedTable& t) {
  if (node.full_op() != "com.microsoft.MatMulNBits" || node.integer("N", 0) != t.rows || node.integer("K", 0) != t.k ||
      node.integer("bits", 4) != t.bits || node.integer("block_size", 0) != t.weights.block)
    return false;
  const auto holds = [&](int input, const auto& values) {
    const TensorData* const constant = graph.constant(node.input(input));
    return constant == nullptr ? values.empty() : std::ranges::equal(std::as_bytes(std::span(values)), constant->bytes);
  };
  return holds(1, t.weights.codes) && holds(2, t.weights.scales) && holds(3, t.weights.zero_codes);
}

}  // namespace

void consider_packed_rows(KernelQuery& l, double bytes) {
  l.consider("gather_nbits", 0, bytes, [&l] {
    const PackedTable t = table_of(l);
    const bool is_shared = std::ranges::any_of(l.graph().nodes, [&](const Node& node) { return is_product_by(l.graph(), node, t); });
    const int64_t columns = is_shared ? nbits_columns(l.target(), t.rows) : 1;
    const bool half = fit_half(t.weights.scales);
    const View indices = l.in(1);
    StepBuilder step = l.call("gather_nbits");
    step.template_arg(t.bits).template_arg(columns).template_arg(half ? ElementType::F16 : ElementType::F32);
    if (t.weights.zero_codes.empty()) step.template_arg(RuntimeName{"NoZeros"});
    else step.template_arg(ElementType::U8);
    step.pointer(l.out(0))
        .pointer(l.weights(l.graph()[l.node().input(0)].name, ElementType::U8,
                           nbits_bytes(t.weights, {t.k, t.rows, t.bits, columns, half}, {t.codes, l.kept_constant(2), l.kept_constant(3)})))
        .pointer(indices)
        .params({{"rows", dim_arg(t.rows)},
                 {"k", dim_arg(t.k)},
                 {"block", dim_arg(pack::nbits_block(t.weights.block))},
                 {"count", dim_arg(element_count(indices.extents))}})
        .emit();
  });
}

}  // namespace onnxc
