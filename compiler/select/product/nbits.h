// What a product by weights of few bits and a table of the same weights have to agree on, so that they are one constant.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "compiler/ir/weight_bytes.h"
#include "compiler/select/weights/pack.h"
#include "targets/target.h"

namespace onnxc {

/// The columns in a panel of a MatMulNBits with n columns.
int64_t nbits_columns(const Target& target, int64_t n);
/// Whether f16 holds all of them, so that they are stored so.
bool fit_half(std::span<const float> scales);
/// The weights as pack::nbits packs them. `from`: what they belong to, codes, scales and zeros.
WeightBytes nbits_bytes(const pack::NBitsWeights& weights, pack::NBitsShape shape, std::vector<Constant> from);

}  // namespace onnxc
