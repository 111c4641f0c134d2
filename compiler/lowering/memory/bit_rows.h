// Sets of small numbers as rows of bits.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace onnxc {

/// Rows of bits of the same length.
class BitRows {
 public:
  BitRows(std::size_t rows, std::size_t bits) : words_((bits + 63) / 64), data_(rows * words_) {}
  std::size_t words() const { return words_; }
  uint64_t* row(std::size_t r) { return data_.data() + r * words_; }
  const uint64_t* row(std::size_t r) const { return data_.data() + r * words_; }
  void set(std::size_t r, std::size_t bit) { row(r)[bit / 64] |= uint64_t{1} << bit % 64; }
  void clear(std::size_t r, std::size_t bit) { row(r)[bit / 64] &= ~(uint64_t{1} << bit % 64); }
  bool test(std::size_t r, std::size_t bit) const { return row(r)[bit / 64] >> bit % 64 & 1; }

 private:
  std::size_t words_;
  std::vector<uint64_t> data_;
};

/// Calls visit(bit) for the bits that are set in both a and b, in order, until it returns false. Returns whether it
/// never did.
template <class Visit>
bool all_common_bits(const uint64_t* a, const uint64_t* b, std::size_t words, Visit&& visit) {
  for (std::size_t w = 0; w < words; ++w) {
    for (uint64_t bits = a[w] & b[w]; bits != 0; bits &= bits - 1) {
      if (!visit(w * 64 + static_cast<std::size_t>(std::countr_zero(bits)))) return false;
    }
  }
  return true;
}

}  // namespace onnxc
