#include <algorithm>
#include <cstring>

#include "compiler/select/weights/pack.h"
#include "runtime_stub/onnxc/contract/nbits.hpp"
#include "runtime_stub/onnxc/types.hpp"

namespace onnxc::pack {
namespace {

int code_at(std::span<const uint8_t> codes, int64_t bits, int64_t first_byte, int64_t i) {
  const int64_t per_byte = 8 / bits;
  return (codes[static_cast<std::size_t>(first_byte + i / per_byte)] >> (i % per_byte * bits)) & ((1 << bits) - 1);
}

template <class T>
void put(std::byte*& to, T value) {
  std::memcpy(to, &value, sizeof value);
  to += sizeof value;
}

}  // namespace

int64_t nbits_block(int64_t block) { return std::min(block, contract::kNBitsMostBlock); }

int64_t nbits_size(const NBitsWeights& w, NBitsShape shape) {
  const int64_t block = nbits_block(w.block), of_zero = !w.zeros.empty() ? 4 : !w.zero_codes.empty() ? 1 : 0;
  return (shape.n + shape.nr - 1) / shape.nr * ((shape.k + block - 1) / block) *
         contract::nbits_block_bytes(block, shape.nr, shape.bits, shape.half_scales ? 2 : 4, of_zero);
}

std::vector<std::byte> nbits(const NBitsWeights& w, NBitsShape shape) {
  const auto [k, n, bits, nr, half_scales] = shape;
  const int64_t block = nbits_block(w.block), blocks = (k + block - 1) / block, per_group = 32 / bits;
  const int64_t own_blocks = (k + w.block - 1) / w.block, own_bytes = w.block * bits / 8, zero_bytes = (own_blocks * bits + 7) / 8;
  const bool has_zeros = !w.zeros.empty() || !w.zero_codes.empty();
  const int64_t panels = (n + nr - 1) / nr;
  std::vector<std::byte> packed(static_cast<std::size_t>(nbits_size(w, shape)));
  std::byte* to = packed.data();
  const auto code = [&](int64_t column, int64_t row) {
    return column < n && row < k ? code_at(w.codes, bits, (column * own_blocks + row / w.block) * own_bytes, row % w.block) : 0;
  };
  const auto of_block = [&](std::span<const float> values, int64_t column, int64_t row) {
    return column < n ? values[static_cast<std::size_t>(column * own_blocks + row / w.block)] : 0.0f;
  };
  for (int64_t panel = 0; panel < panels; ++panel) {
    for (int64_t row = 0; row < blocks * block; row += block) {
      for (int64_t group = row; group < row + block; group += per_group) {
        for (int64_t column = panel * nr; column < (panel + 1) * nr; ++column) {
          uint32_t word = 0;
          for (int64_t i = 0; i < per_group; ++i) word |= static_cast<uint32_t>(code(column, group + i)) << (i % 4 * 8 + i / 4 * bits);
          put(to, word);
        }
      }
      for (int64_t column = panel * nr; column < (panel + 1) * nr; ++column) {
        const float scale = of_block(w.scales, column, row);
        if (half_scales) put(to, float16(scale));
        else put(to, scale);
      }
      for (int64_t column = panel * nr; has_zeros && column < (panel + 1) * nr; ++column) {
        if (!w.zeros.empty()) put(to, of_block(w.zeros, column, row));
        else put(to, static_cast<uint8_t>(column < n ? code_at(w.zero_codes, bits, column * zero_bytes, row / w.block) : 0));
      }
    }
  }
  return packed;
}

}  // namespace onnxc::pack
