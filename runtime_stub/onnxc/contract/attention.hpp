// Attention on a processor (attention.hpp): its scratch memory.
#pragma once
#include "sizes.hpp"

namespace onnxc::inline ONNXC_ISA::contract {

/// So many rows that share a head, at most, read its k and v where they lie.
constexpr int64_t kFewAttentionRows = 4;

/// Scratch of a share of attention: k and v of one head as panels of nr columns, and the scores of a tile of mr rows. `padded_keys` and
/// `padded_value_size` are multiples of nr. N is int64_t, or the compiler's type for extents that are known only at run time.
template <class N>
constexpr N attention_scratch(N padded_keys, N size, N padded_value_size, int64_t mr) {
  return padded_keys * (size + padded_value_size) + padded_keys * (mr > kFewAttentionRows ? mr : kFewAttentionRows);
}

}  // namespace onnxc::contract
