// The kernels that compute a MatMulNBits whose weights are constant.
#include <algorithm>
#include <utility>

#include "compiler/ops/selected.h"
#include "compiler/select/product/nbits.h"
#include "compiler/select/tiles.h"
#include "compiler/select/weights/pack.h"
#include "runtime_stub/onnxc/contract/nbits.hpp"
#include "runtime_stub/onnxc/types.hpp"

namespace onnxc {
namespace {

struct Product {
  Dim m;
  int64_t n, k, bits, block, nr;
  pack::NBitsWeights weights;
  bool half_scales;
};

std::span<const float> floats_of(const TensorData* tensor) {
  return tensor != nullptr && tensor->type == ElementType::F32 ? tensor->as<float>() : std::span<const float>();
}

Product product_of(KernelQuery& l) {
  const Node& node = l.node();
  Product p{.m = {},
            .n = node.integer("N", 0),
            .k = node.integer("K", 0),
            .bits = node.integer("bits", 4),
            .block = pack::nbits_block(node.integer("block_size", 0)),
            .nr = 0,
            .weights = {},
            .half_scales = false};
  p.m = floor_div(element_count(l.output_type(0).extents), p.n);
  const TensorData* const zeros = l.has(3) ? l.constant(3) : nullptr;
  p.weights = {.block = node.integer("block_size", 0),
               .codes = l.constant(1)->as<uint8_t>(),
               .scales = floats_of(l.constant(2)),
               .zero_codes = zeros != nullptr && zeros->type == ElementType::U8 ? zeros->as<uint8_t>() : std::span<const uint8_t>(),
               .zeros = floats_of(zeros)};
  p.half_scales = fit_half(p.weights.scales);
  return p;
}

int64_t zero_bytes(const Product& p) { return !p.weights.zeros.empty() ? 4 : p.weights.zero_codes.empty() ? 0 : 1; }

StepBuilder& begin(StepBuilder& step, KernelQuery& l, const Product& p) {
  step.template_arg(p.bits).template_arg(p.nr / l.target().vector_floats);
  step.template_arg(p.half_scales ? ElementType::F16 : ElementType::F32);
  if (zero_bytes(p) == 0) step.template_arg(RuntimeName{"NoZeros"});
  else step.template_arg(zero_bytes(p) == 1 ? ElementType::U8 : ElementType::F32);
  return step.pointer(l.in(0)).pointer(l.weights(
      l.graph()[l.node().input(1)].name, ElementType::U8,
      nbits_bytes(p.weights, {p.k, p.n, p.bits, p.nr, p.half_scales}, {l.kept_constant(1), l.kept_constant(2), l.kept_constant(3)})));
}

void end(StepBuilder& step, KernelQuery& l, const Product& p, PointerArg scratch, std::optional<int64_t> most_rows) {
  const View y = l.out(0);
  NamedArgs params{{"m", dim_arg(p.m)},         {"n", dim_arg(p.n)},   {"k", dim_arg(p.k)},
                   {"block", dim_arg(p.block)}, {"lda", dim_arg(p.k)}, {"ldc", dim_arg(p.n)}};
  if (most_rows) params.emplace_back("most_rows", dim_arg(*most_rows));
  step.pointer(y).pointer(scratch).params(std::move(params));
  step.epilogue(l.epilogue(l.matrix_shape(y.extents), step)).macs(p.m * (p.n * p.k)).emit();
}

}  // namespace

int64_t nbits_columns(const Target& target, int64_t n) {
  // As many vectors as a row keeps sums of in registers.
  return std::min<int64_t>(choose_row_tile(target, n).vectors, target.vector_registers >= 32 ? 4 : 2) * target.vector_floats;
}

WeightBytes nbits_bytes(const pack::NBitsWeights& weights, pack::NBitsShape shape, std::vector<Constant> from) {
  return WeightBytes::made(pack::nbits_size(weights, shape), std::move(from),
                           [weights, shape] { return Bytes::of(pack::nbits(weights, shape)); });
}

bool fit_half(std::span<const float> scales) {
  return std::ranges::all_of(scales, [](float s) { return static_cast<float>(float16(s)) == s; });
}

void lower_fast_nbits(KernelQuery& l) {
  Product p = product_of(l);
  const int64_t lanes = l.target().vector_floats;
  p.nr = nbits_columns(l.target(), p.n);
  const int64_t block_bytes = contract::nbits_block_bytes(p.block, p.nr, p.bits, p.half_scales ? 2 : 4, zero_bytes(p)),
                columns = contract::round_up(p.n, p.nr), bytes = columns / p.nr * ((p.k + p.block - 1) / p.block) * block_bytes;
  const int64_t of_model =
      static_cast<int64_t>(p.weights.codes.size() + 4 * (p.weights.scales.size() + p.weights.zeros.size()) + p.weights.zero_codes.size());
  const double rows = p.m.is_constant() ? static_cast<double>(p.m.value()) : 1, macs = rows * static_cast<double>(columns * p.k);
  // Without instructions for products of 16 bits, many rows are faster in floats.
  const std::optional<int64_t> most_rows = l.target().has(Feature::Avx2) ? std::nullopt : std::optional<int64_t>(8);
  l.consider(
      "gemm_nbits", macs, static_cast<double>(bytes),
      [&l, p, lanes, most_rows] {
        const int64_t most = contract::kNBitsRows, height = p.m.is_constant() ? std::min(p.m.value(), most) : most;
        StepBuilder step = l.call("gemm_nbits");
        begin(step, l, p);
        end(step, l, p, l.thread_workspace("quantised", ElementType::U8, Dim(contract::nbits_scratch(height, p.k, p.block, p.nr, lanes))),
            most_rows);
      },
      bytes - of_model);
  l.consider(
      "gemm_nbits_exact", macs, static_cast<double>(bytes),
      [&l, p, lanes] {
        StepBuilder step = l.call("gemm_nbits_exact");
        begin(step, l, p);
        end(step, l, p, l.thread_workspace("expanded", ElementType::F32, Dim(contract::nbits_exact_scratch(p.k, p.nr, lanes) / 4)), {});
      },
      bytes - of_model);
  l.build_cheapest();
}

}  // namespace onnxc
