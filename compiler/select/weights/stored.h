// How kernels get weights that are stored narrower than f32; see ir/exact_storage.h.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "compiler/ir/exact_storage.h"
#include "compiler/ops/kernel_query.h"

namespace onnxc {

/// What exact_storages said of matrices, by where the first and the last of those stored alike lie: it serves lowerings of graphs that share their constants and outlive it.
struct KnownStorages {
  using Matrix = std::tuple<const float*, std::size_t, int64_t, bool>;  ///< as Columns
  std::map<std::pair<Matrix, Matrix>, std::vector<Storage>> exact;
};

/// Panels [number][k][nr] with elements of that type; `scales`: I8: of the columns of all panels, 0 for those that are padding. `lanes`: of a vector; where nr is no
/// multiple, the last holds pairs (pack::pairs).
std::vector<std::byte> store(std::span<const float> panels, int64_t k, int64_t nr, ElementType element, std::span<const float> scales,
                             int64_t lanes);

/// How the right operand of a product of `rows` rows may be stored, or several that are stored alike: f32, and behind it as what else --narrow-weights says. All: what
/// takes least. Auto: what is exact, for weights that come from beyond L2 and rows of one tile at most, which wait for them; for more rows the gain is
/// small, and what it takes to widen them is not. `tile`: of rows; 0: nothing waits.
std::vector<Storage> candidate_storages(const KernelQuery& l, const std::vector<Columns>& b, Dim rows, int64_t tile);

/// A kernel that reads weights [k, n] of any of these types.
struct StoredKernel {
  std::string_view row;
  double macs;
  double readings;     ///< how often it widens the weights
  int64_t k, n;        ///< with what fills panels
  std::string note{};  ///< what sets the candidate apart from others of its row
  int64_t added = 0;   ///< weights of n * k that are zeros of the kernel's own
};
/// KernelQuery::consider for each storage; `build` gets the one that is chosen.
void consider_stored(KernelQuery& l, const StoredKernel& kernel, const std::vector<Storage>& storages,
                     const std::function<void(const Storage&)>& build);

/// Adds packed weights, and their scales to `params` where they have any. `scales`: as the kernel reads them, a panel's side by side.
PointerArg add_stored(KernelQuery& l, const std::string& from, const Packed& panels, int64_t k, int64_t nr, const Storage& storage,
                      std::vector<float> scales, NamedArgs& params);

}  // namespace onnxc
