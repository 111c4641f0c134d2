// Limits for the dimensions such that no size that a unit computes from them exceeds 64 bits: a bound for each
// dimension, and bounds for products of several.
//
//   x[batch, rows, 768] f32 and y[batch, rows, rows] f32: with `rows` at its minimum, 1, x takes 3072 batch bytes, so batch <= 2^56 / 3072,
//   and likewise there is a bound for rows. y needs batch * rows * rows <= 2^56 / 4. This implies the limit of x only if rows >= 768, so
//   batch * rows <= 2^56 / 3072 is needed as well.
//
// A size becomes a polynomial when divisions, minima and signs are replaced by upper bounds. Each of its products is
// bounded separately, so that the unit can check them without computing the size.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "codegen/interface.h"
#include "compiler/ir/program.h"

namespace onnxc {

struct SizeLimits {
  struct Product {
    std::vector<Dim> factors;  ///< symbols, repeated as often as they are factors
    int64_t most = 0;
  };
  std::map<std::string, int64_t> most;  ///< by symbol: its stated bound, or a smaller one
  std::vector<Product> products;        ///< of several symbols, if their own bounds allow too much
};

/// `threads`: the unit shares steps among threads, and computes the amount of work for that.
SizeLimits size_limits(const Program& program, const std::vector<Dim>& symbols, bool threads);

/// `batch * rows * rows`
std::string text(const SizeLimits::Product& product);
/// The statement that ends a run if the product is larger.
std::string product_check(const SizeLimits::Product& product, const SymbolNames& symbols);

}  // namespace onnxc
