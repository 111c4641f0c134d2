// walk_places.h finds the best partition where few values live at once and memory is no matter. Where that is not so, two devices at a time are looked at: the nodes of
// all others stay, and those on the two are partitioned anew by a cut within both memories. For k > 2 devices the problem is hard (it contains
// the multiway cut), but each such cut is exact, or nearly, and moves any number of nodes at once. Y. Boykov, O. Veksler and R. Zabih, "Fast approximate
// energy minimization via graph cuts", 2001, call it a swap.
#include "compiler/lowering/partition/many_devices.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "compiler/lowering/partition/fit_weights.h"
#include "compiler/lowering/partition/local_moves.h"
#include "compiler/lowering/partition/memory_price.h"
#include "compiler/lowering/partition/merge_islands.h"
#include "compiler/lowering/partition/pair_of.h"
#include "compiler/lowering/partition/walk_places.h"

namespace onnxc::partition {
namespace {

constexpr int kMostRounds = 8;           // over all pairs; some two or three find all that there is
constexpr int kMostPrices = 24;          // of which each doubles; walks with prices may take as many states together as the one without
constexpr int64_t kWalksWithPrices = 8;  // and each of them such a part

/// `devices` fit, and so does the result.
std::vector<int> swap_pairs(const Problem& problem, std::vector<int> devices) {
  double cost = cost_ns(problem, devices);
  bool better = true;
  for (int round = 0; round < kMostRounds && better; ++round) {
    better = false;
    const auto take = [&](std::vector<int> next) {
      const double c = cost_ns(problem, next);
      if (c >= cost * (1 - 1e-12) || !fits(problem, next)) return;
      cost = c, devices = std::move(next), better = true;
    };
    for (int a = 0; a < problem.devices; ++a) {
      for (int b = a + 1; b < problem.devices; ++b) {
        const Pair pair = pair_of(problem, devices, a, b);
        const Partition cut = cut_within_memory(pair.problem);
        if (cut.outcome != Outcome::Found) continue;
        std::vector<int> next = devices;
        for (std::size_t i = 0; i < pair.nodes.size(); ++i) next[pair.nodes[i]] = cut.devices[i] == 0 ? a : b;
        take(std::move(next));
      }
    }
    take(move_nodes(problem, devices));
  }
  return devices;
}

/// Walks with rising prices on devices that are too full. Gives what has fewer bytes there; raises `bound_ns` by what such walks prove.
std::vector<std::vector<int>> raise_prices(const Problem& problem, const Walk& free_walk, int64_t most_states, double& bound_ns) {
  std::vector<std::vector<int>> found;
  std::vector<double> price_ns(problem.devices);
  Walk walk = free_walk;
  const double cost = std::max(cost_ns(problem, walk.devices), 1.0);
  for (int64_t states = 0, round = 0; round < kMostPrices && states < most_states; ++round) {
    const std::vector<int64_t> bytes = weight_bytes(problem, walk.devices);
    bool all_fit = true;
    for (int d = 0; d < problem.devices; ++d) {
      if (bytes[d] <= problem.limit(d)) continue;
      all_fit = false;
      price_ns[d] = price_ns[d] > 0 ? 2 * price_ns[d] : 0.01 * cost / static_cast<double>(bytes[d]);
    }
    if (all_fit) break;
    walk = walk_places(problem, price_ns, most_states / kWalksWithPrices);
    states += walk.states;
    if (walk.exact) {
      double least = cost_ns(problem, walk.devices);
      const std::vector<int64_t> now = weight_bytes(problem, walk.devices);
      for (int d = 0; d < problem.devices; ++d) {
        if (price_ns[d] > 0) least += price_ns[d] * (static_cast<double>(now[d]) - static_cast<double>(problem.limit(d)));
      }
      bound_ns = std::max(bound_ns, least);
    }
    found.push_back(walk.devices);
  }
  return found;
}

}  // namespace

Partition partition_many(const Problem& problem, int64_t most_states) {
  const Walk walk = walk_places(problem, {}, most_states);
  Partition best{Outcome::Found, kNone, walk.devices, cost_ns(problem, walk.devices)};
  best.bound_ns = walk.exact ? best.cost_ns : 0;
  const bool fitting = fits(problem, walk.devices);
  if (fitting && walk.exact) return best;

  const Merged merged = merge_islands(problem);
  std::vector<std::vector<int>> wishes{walk.devices};
  if (!fitting) {
    for (std::vector<int>& devices : raise_prices(problem, walk, most_states, best.bound_ns)) wishes.push_back(std::move(devices));
    if (wishes.size() > 3) wishes.erase(wishes.begin() + 1, wishes.end() - 2);  // the last before it fits, and the first that does
  }
  Outcome outcome = Outcome::GaveUp;
  best.cost_ns = kNoKernel;
  for (const std::vector<int>& wish : wishes) {
    Partition start = fit_weights(merged.problem, merged.of_each_island(wish));
    if (start.outcome == Outcome::NoRoom) outcome = Outcome::NoRoom;
    if (start.outcome != Outcome::Found) continue;
    std::vector<int> devices = merged.of_each_node(swap_pairs(merged.problem, std::move(start.devices)));
    const double cost = cost_ns(problem, devices);
    if (cost < best.cost_ns) best.cost_ns = cost, best.devices = std::move(devices);
  }
  if (best.cost_ns == kNoKernel) return {outcome};
  best.bound_ns = std::min(best.bound_ns, best.cost_ns);
  return best;
}

}  // namespace onnxc::partition
