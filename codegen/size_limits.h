// What dimensions may be so that no size that a unit computes from them leaves 64 bits: a bound for each, and for products of several.
//
//   x[batch, rows, 768] f32 and y[batch, rows, rows] f32: with `rows` at its least, 1, x takes 3072 batch bytes, so batch <= 2^56 / 3072; likewise a bound
//   of rows; and batch * rows * rows <= 2^56 / 4, which x follows from only where rows >= 768, so batch * rows <= 2^56 / 3072 as well.
//
// A size is a polynomial once divisions, minima and signs are replaced by what is at least as large. Each of its products is bounded by itself, so that the
// unit checks them without computing the size.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "codegen/interface.h"
#include "compiler/ir/program.h"

namespace onnxc {

struct SizeLimits {
  struct Product {
    std::vector<Dim> factors;  ///< symbols, as often as they multiply
    int64_t most = 0;
  };
  std::map<std::string, int64_t> most;  ///< by symbol: its own bound where that is stated, or less
  std::vector<Product> products;        ///< of several symbols, where their bounds alone allow too much
};

/// `threads`: the unit shares steps among threads, for which it computes how much work they are.
SizeLimits size_limits(const Program& program, const std::vector<Dim>& symbols, bool threads);

/// `batch * rows * rows`
std::string text(const SizeLimits::Product& product);
/// The statement that ends a run where it is more.
std::string product_check(const SizeLimits::Product& product, const SymbolNames& symbols);

}  // namespace onnxc
