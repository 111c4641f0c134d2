// Bytes of weights are a sum over nodes, as costs are. So each byte on a device that is too full gets a price, and the cut at that price is exact: no
// partition with the same or fewer bytes there costs less. As the price rises, nodes leave:
//
//     cost |                                     The cuts at all prices are the corners of the lower hull of all partitions.
//          | lean .
//          |        ' .                          `rich` costs least, but has too many bytes; `lean` fits. The line through both gives the next price. A cut
//          |            '  .                     below the line takes the place of one of them; when there is none, the line is an edge of the hull.
//          |         |          ' . rich
//          +---------+------------------- bytes  What fits costs at least what the edge has at the limit, which is the bound.
//                  limit
//
// Partitions between two corners no price finds, since such a node, or chain of nodes, is worth its price or not. They are found by moves of single nodes,
// from both sides: from `lean`, and from `rich` without what does not fit. Lagrange multipliers for sums under one constraint are due to H. Everett, 1963.
#include "compiler/lowering/partition/memory_price.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "compiler/lowering/partition/fit_weights.h"
#include "compiler/lowering/partition/local_moves.h"
#include "compiler/lowering/partition/minimum_cut.h"

namespace onnxc::partition {
namespace {

// Each round halves what is left of the hull, or nearly: some ten are usual. What is left out makes the bound lower, and nothing wrong.
constexpr int kMostHullRounds = 60;

struct Corner {
  std::vector<int> devices;
  double cost, bytes;

  Corner(const Problem& problem, std::vector<int> of_nodes, int full)
      : devices(std::move(of_nodes)), cost(cost_ns(problem, devices)), bytes(static_cast<double>(weight_bytes(problem, devices)[full])) {}
};

/// The cheapest of those that need the fewest bytes on device `full`: all nodes that have weights leave it, if they can.
Corner leanest(const Problem& problem, int full) {
  Problem forced = problem;
  for (int i = 0; i < static_cast<int>(problem.nodes.size()); ++i) {
    if (problem.weight_bytes(i, full) > 0 && problem.may_run(i, 1 - full)) forced.nodes[i].cost_ns[full] = kNoKernel;
  }
  return {problem, minimum_cut(forced).devices, full};
}

struct Edge {
  Corner rich, lean;
  double bound_ns;
};

/// The edge of the hull on which the limit of device `full` lies.
Edge find_edge(const Problem& problem, int full, Corner rich, Corner lean) {
  const double limit = static_cast<double>(problem.limit(full));
  double bound = 0;
  for (int round = 0; round < kMostHullRounds && rich.cost < lean.cost; ++round) {
    std::array<double, 2> price{};
    price[full] = (lean.cost - rich.cost) / (rich.bytes - lean.bytes);
    Cut cut = minimum_cut(problem, price);
    Corner next(problem, std::move(cut.devices), full);
    const double line = lean.cost + price[full] * lean.bytes, least = next.cost + price[full] * next.bytes;
    bound = std::max(bound, least - cut.slack_ns - price[full] * limit);
    if (least >= line * (1 - 1e-12) || next.bytes >= rich.bytes || next.bytes <= lean.bytes) break;
    (next.bytes > limit ? rich : lean) = std::move(next);
  }
  return {std::move(rich), std::move(lean), bound};
}

}  // namespace

Partition cut_within_memory(const Problem& problem) {
  Cut cut = minimum_cut(problem);
  Partition best{Outcome::Found, kNone, std::move(cut.devices)};
  best.cost_ns = cost_ns(problem, best.devices);
  best.bound_ns = std::max(best.cost_ns - cut.slack_ns, 0.0);
  if (fits(problem, best.devices)) return best;

  std::vector<std::vector<int>> starts;
  const auto start_from = [&](const std::vector<int>& devices) {
    Partition fitting{Outcome::Found, kNone, devices};
    if (!fits(problem, devices)) fitting = fit_weights(problem, devices);
    if (fitting.outcome == Outcome::Found) starts.push_back(std::move(fitting.devices));
    return fitting.outcome;
  };
  Outcome outcome = start_from(best.devices);
  const std::vector<int64_t> bytes = weight_bytes(problem, best.devices);
  for (int full = 0; full < 2; ++full) {
    if (bytes[full] <= problem.limit(full)) continue;
    Corner lean = leanest(problem, full);
    if (lean.bytes > static_cast<double>(problem.limit(full))) return {Outcome::NoRoom};
    const Edge edge = find_edge(problem, full, Corner(problem, best.devices, full), std::move(lean));
    best.bound_ns = std::max(best.bound_ns, edge.bound_ns);
    for (const Corner* c : {&edge.lean, &edge.rich}) {
      if (const Outcome found = start_from(c->devices); found != Outcome::GaveUp) outcome = found;
    }
  }
  if (starts.empty()) return {outcome};
  best.cost_ns = kNoKernel;
  for (std::vector<int>& start : starts) {
    std::vector<int> devices = move_nodes(problem, std::move(start));
    const double cost = cost_ns(problem, devices);
    if (cost < best.cost_ns) best.cost_ns = cost, best.devices = std::move(devices);
  }
  best.bound_ns = std::min(best.bound_ns, best.cost_ns);
  return best;
}

}  // namespace onnxc::partition
