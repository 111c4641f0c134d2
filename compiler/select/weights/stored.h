// How kernels get weights that are stored in a type narrower than f32; see ir/exact_storage.h.
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

/// The results of exact_storages, by the addresses of the first and the last of the matrices that are stored alike.
/// Several lowerings may use it if their graphs share their constants and outlive it.
struct KnownStorages {
  using Matrix = std::tuple<const float*, std::size_t, int64_t, bool>;  ///< the members of Columns
  std::map<std::pair<Matrix, Matrix>, std::vector<Storage>> exact;
};

/// Panels [number][k][nr] with elements of that type. `scales`, for I8: one for each column of all panels, 0 for
/// padding. `lanes`: those of a vector; if nr is not a multiple, the last vector holds pairs (pack::pairs).
std::vector<std::byte> store(std::span<const float> panels, int64_t k, int64_t nr, ElementType element, std::span<const float> scales,
                             int64_t lanes);

/// The ways in which the right operand of a product of `rows` rows may be stored, or several operands that are stored
/// alike: first f32, then what --narrow-weights allows. All: the smallest. Auto: what is exact, if the weights come
/// from beyond L2 and one tile holds all rows, since such products wait for weights; with more rows widening costs
/// more than the smaller stream saves. `tile`: the rows of a tile; 0: the product never waits. `rounds`: bf16 is one of the ways
/// whether it is exact or not.
std::vector<Storage> candidate_storages(const KernelQuery& l, const std::vector<Columns>& b, Dim rows, int64_t tile, bool rounds = false);

/// A kernel that reads weights [k, n] of any of these types.
struct StoredKernel {
  std::string_view row;
  double macs;
  double readings;     ///< how often it widens all weights
  int64_t k, n;        ///< with the padding of panels
  std::string note{};  ///< what tells the candidate from others of its row
  int64_t added = 0;   ///< weights among the k * n that are zeros which the kernel needs
};
/// Calls KernelQuery::consider for each storage. `build` gets the chosen one.
void consider_stored(KernelQuery& l, const StoredKernel& kernel, const std::vector<Storage>& storages,
                     const std::function<void(const Storage&)>& build);

/// Adds packed weights, and their scales, if any, to `params`. `scales`: in the kernel's order, those of a panel side
/// by side.
PointerArg add_stored(KernelQuery& l, const std::string& from, const Packed& panels, int64_t k, int64_t nr, const Storage& storage,
                      std::vector<float> scales, NamedArgs& params);

}  // namespace onnxc
