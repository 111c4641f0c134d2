#include "compiler/lowering/partition/partition.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <limits>
#include <optional>
#include <random>
#include <vector>

#include "compiler/lowering/partition/many_devices.h"
#include "compiler/lowering/partition/merge_islands.h"
#include "compiler/lowering/partition/minimum_cut.h"
#include "compiler/lowering/partition/pair_of.h"
#include "compiler/lowering/partition/walk_places.h"
#include "compiler/support/error.h"
#include "tests/lowering/random_problems.h"

namespace onnxc::partition {
namespace {

int away(const std::vector<int>& devices) {
  return static_cast<int>(std::ranges::count_if(devices, [](int d) { return d != kHost; }));
}

/// A value from each node to the next, the first from the host, the last to it.
Problem chain(const std::vector<Node>& nodes, double transfer_ns) {
  Problem problem{2, nodes, {}, {}};
  for (int i = -1; i < static_cast<int>(nodes.size()); ++i) {
    const bool last = i + 1 == static_cast<int>(nodes.size());
    problem.values.push_back(
        {i, kHost, last ? std::vector<int>{} : std::vector{i + 1}, last ? std::vector{kHost} : std::vector<int>{}, {}});
    problem.values.back().transfer_ns = {0, transfer_ns, transfer_ns, 0};
  }
  return problem;
}

TEST_CASE("a cut is the cheapest of all assignments, and the one nearest to the host") {
  int mixed = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    std::mt19937 random(seed);
    const Problem problem = random_problem(
        random, {.nodes = 1 + static_cast<int>(seed % 12), .devices = 2, .islands = seed % 3 == 0, .most_cost = seed % 2 == 0 ? 20 : 3});
    const std::optional<Cheapest> cheapest = cheapest_of_all(problem);
    const Partition partition = find_partition(problem);
    INFO("seed " << seed);
    REQUIRE(cheapest.has_value() == (partition.outcome == Outcome::Found));
    if (!cheapest) continue;
    CHECK(cost_by_definition(problem, partition.devices) == cheapest->cost);
    CHECK(partition.cost_ns == cheapest->cost);
    CHECK(partition.bound_ns == cheapest->cost);
    CHECK(away(partition.devices) == cheapest->away);
    mixed += cheapest->away > 0 && cheapest->away < static_cast<int>(problem.nodes.size());
  }
  CHECK(mixed > 100);
}

/// How much what was found costs beyond the best, over random graphs.
struct Excess {
  int fitted = 0, best = 0, no_room = 0;
  double sum = 0, most = 0;
};
Excess excess_within_memory(int graphs, int devices, int most_nodes, bool limit_all) {
  Excess excess;
  for (int seed = 0; excess.fitted < graphs; ++seed) {
    std::mt19937 random(static_cast<unsigned>(seed));
    Problem problem =
        random_problem(random, {.nodes = 3 + seed % (most_nodes - 2), .devices = devices, .islands = seed % 4 == 0, .limits = limit_all});
    const Partition free = find_partition({problem.devices, problem.nodes, problem.values, {}});
    if (free.outcome != Outcome::Found) continue;
    if (!limit_all) {  // half of what it wants, on one device
      const int limited = seed % devices;
      problem.limits.assign(devices, kNoLimit);
      problem.limits[limited] = weight_bytes(problem, free.devices)[limited] / 2;
    }
    if (fits(problem, free.devices)) continue;
    const std::optional<Cheapest> cheapest = cheapest_of_all(problem);
    const Partition partition = find_partition(problem);
    INFO("seed " << seed);
    REQUIRE(partition.outcome == (cheapest ? Outcome::Found : Outcome::NoRoom));
    excess.no_room += !cheapest;
    if (!cheapest) continue;
    REQUIRE(cost_by_definition(problem, partition.devices) == partition.cost_ns);
    REQUIRE(partition.cost_ns >= cheapest->cost);
    REQUIRE(partition.bound_ns <= cheapest->cost * (1 + 1e-9));
    const double more = partition.cost_ns / cheapest->cost - 1;
    ++excess.fitted;
    excess.best += more == 0;
    excess.sum += more;
    excess.most = std::max(excess.most, more);
  }
  return excess;
}

/// `best`: how many are at least as good as the best; `mean` and `most`: what the others cost more, as shares.
void check_near_best(const Excess& excess, int best, double mean, double most) {
  CHECK(excess.best >= best);
  CHECK(excess.sum / excess.fitted < mean);
  CHECK(excess.most < most);
  CHECK(excess.no_room > 0);
}

TEST_CASE("weights stay within a memory that is too small, near to the best") {
  check_near_best(excess_within_memory(300, 2, 12, false), 295, 0.001, 0.08);
}

TEST_CASE("weights stay within two memories that are too small, near to the best") {
  check_near_best(excess_within_memory(300, 2, 12, true), 285, 0.003, 0.15);
}

TEST_CASE("weights stay within the memories of three devices, near to the best") {
  check_near_best(excess_within_memory(100, 3, 8, true), 95, 0.003, 0.15);
}

TEST_CASE("the more nodes, the nearer to the bound") {
  double sum = 0;
  int graphs = 0;
  for (unsigned seed = 0; seed < 50; ++seed) {
    std::mt19937 random(seed);
    Problem problem = random_problem(random, {.nodes = 200, .devices = 2, .most_cost = 1000, .reach = 6});
    const Partition free = find_partition(problem);
    problem.limits = {kNoLimit, weight_bytes(problem, free.devices)[1] * 3 / 4};
    const Partition partition = find_partition(problem);
    INFO("seed " << seed);
    if (partition.outcome == Outcome::NoRoom) continue;  // too much of it is fixed
    CHECK(fits(problem, partition.devices));
    CHECK(partition.cost_ns > free.cost_ns);
    CHECK(partition.bound_ns > free.cost_ns);
    CHECK(partition.cost_ns < partition.bound_ns * 1.01);
    sum += partition.cost_ns / partition.bound_ns - 1;
    ++graphs;
  }
  CHECK(graphs > 40);
  CHECK(sum / graphs < 0.002);
}

TEST_CASE("a walk is the cheapest of all assignments to three and four devices") {
  for (unsigned seed = 0; seed < 120; ++seed) {
    std::mt19937 random(seed);
    const Problem problem = random_problem(random, {.nodes = 1 + static_cast<int>(seed % 7),
                                                    .devices = 3 + static_cast<int>(seed % 2),
                                                    .islands = seed % 3 == 0,
                                                    .most_cost = seed % 2 == 0 ? 20 : 3});
    const std::optional<Cheapest> cheapest = cheapest_of_all(problem);
    const Partition partition = find_partition(problem);
    INFO("seed " << seed);
    REQUIRE(cheapest.has_value() == (partition.outcome == Outcome::Found));
    if (!cheapest) continue;
    CHECK(cost_by_definition(problem, partition.devices) == cheapest->cost);
    CHECK(partition.bound_ns == cheapest->cost);
    CHECK(away(partition.devices) == cheapest->away);
  }
}

TEST_CASE("walk and cut agree on graphs that are too large for all assignments") {
  for (unsigned seed = 0; seed < 100; ++seed) {
    std::mt19937 random(seed);
    const Problem problem = random_problem(random, {.nodes = 80, .devices = 2, .islands = seed % 3 == 0, .reach = 4});
    const Partition partition = find_partition(problem);
    if (partition.outcome == Outcome::NoDevice) continue;
    const Walk walk = walk_places(problem);
    INFO("seed " << seed);
    REQUIRE(walk.exact);
    CHECK(cost_by_definition(problem, walk.devices) == cost_by_definition(problem, partition.devices));
    CHECK(away(walk.devices) == away(partition.devices));
  }
}

TEST_CASE("costs of a pair of devices differ as those of all devices do") {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    Problem problem = merge_islands(random_problem(random, {.nodes = 12, .devices = 4, .islands = seed % 3 == 0})).problem;
    for (Node& n : problem.nodes) std::ranges::replace(n.cost_ns, kNoKernel, 50.0);
    std::vector<int> devices(problem.nodes.size());
    for (int& device : devices) device = static_cast<int>(random() % 4);
    const int a = static_cast<int>(random() % 3), b = 3;
    const Pair pair = pair_of(problem, devices, a, b);
    std::vector<int> before, after;
    for (int i : pair.nodes) {
      before.push_back(devices[i] == a ? 0 : 1);
      after.push_back(static_cast<int>(random() % 2));
    }
    const std::optional<double> whole = cost_by_definition(problem, devices), part = cost_by_definition(pair.problem, before);
    for (std::size_t i = 0; i < pair.nodes.size(); ++i) devices[pair.nodes[i]] = after[i] == 0 ? a : b;
    const std::optional<double> whole_after = cost_by_definition(problem, devices), part_after = cost_by_definition(pair.problem, after);
    INFO("seed " << seed);
    CHECK(whole_after.value() - whole.value() == part_after.value() - part.value());
  }
}

TEST_CASE("where a walk has to leave states out, swaps come near to the best") {
  double sum = 0, most = 0;
  int graphs = 0, inexact = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    const Problem problem = random_problem(random, {.nodes = 40, .devices = 4, .islands = seed % 3 == 0, .most_cost = 100, .reach = 4});
    const Partition best = find_partition(problem);
    if (best.outcome == Outcome::NoDevice) continue;
    INFO("seed " << seed);
    REQUIRE(best.bound_ns == best.cost_ns);
    const Partition swapped = partition_many(problem, 1);
    REQUIRE(cost_by_definition(problem, swapped.devices) == swapped.cost_ns);
    REQUIRE(swapped.cost_ns >= best.cost_ns);
    inexact += swapped.bound_ns == 0;
    ++graphs;
    sum += swapped.cost_ns / best.cost_ns - 1;
    most = std::max(most, swapped.cost_ns / best.cost_ns - 1);
  }
  CHECK(inexact == graphs);
  CHECK(sum / graphs < 0.015);
  CHECK(most < 0.08);
}

Node node(double host_ns, double other_ns, int64_t bytes = 0) { return {{host_ns, other_ns}, {bytes, bytes}}; }

TEST_CASE("what is degenerate has an answer, too") {
  const auto solved = [](const Problem& problem) {
    const Partition partition = find_partition(problem);
    REQUIRE(partition.outcome == Outcome::Found);
    CHECK(cost_by_definition(problem, partition.devices) == partition.cost_ns);
    return partition.devices;
  };
  using Devices = std::vector<int>;
  for (int devices : {1, 2, 3, kMostDevices}) CHECK(solved({devices, {}, {}, {}}).empty());
  CHECK(solved(chain({node(9, 3), node(9, 3)}, 4)) == Devices{1, 1});
  CHECK(solved(chain({node(9, 3), node(9, 3)}, 6)) == Devices{0, 0});                         // 18 both ways: the host
  CHECK(solved(chain({node(9, 3), node(1, kNoKernel), node(8, 5)}, 2)) == Devices{1, 0, 0});  // that of docs/design/partition.md
  CHECK(solved(chain({node(0, 0), node(0, 0)}, 0)) == Devices{0, 0});
  CHECK(solved(chain({node(1e18, 0), node(1, kNoKernel)}, 1)) == Devices{1, 0});
  CHECK(solved(chain({node(1e-5, 2e-5), node(2e-5, 1e-5)}, 0)) == Devices{0, 1});

  Problem fixed = chain({node(1, 100), node(1, 100), node(1, 100)}, 10);
  for (int i = 0; i < 3; ++i) fixed.nodes[i].fixed = i % 2;
  CHECK(solved(fixed) == Devices{0, 1, 0});
  Problem tied = chain({node(9, 3), node(0, 1), node(1, 2)}, 0);
  tied.nodes[0].island = tied.nodes[2].island = 7;
  CHECK(solved(tied) == Devices{1, 0, 1});

  Problem nowhere = chain({node(1, 1), node(kNoKernel, kNoKernel)}, 1);
  CHECK(find_partition(nowhere).outcome == Outcome::NoDevice);
  CHECK(find_partition(nowhere).culprit == 1);
  Problem torn = chain({node(1, 1), node(1, kNoKernel), node(kNoKernel, 1)}, 1);
  CHECK(find_partition(torn).outcome == Outcome::Found);
  torn.nodes[1].island = torn.nodes[2].island = 0;
  CHECK(find_partition(torn).outcome == Outcome::NoDevice);
  CHECK(find_partition(torn).culprit == 1);

  Problem alone{1, {{{3}, {5}}, {{4}, {5}}}, {}, {10}};
  CHECK(solved(alone) == Devices{0, 0});
  alone.limits = {9};
  CHECK(find_partition(alone).outcome == Outcome::NoRoom);
}

TEST_CASE("a merged island reads nothing of its own, and each value once") {
  Problem problem = chain({node(1, 2, 3), node(10, 20, 30), node(100, 200, 300)}, 5);
  problem.values[1].readers = {1, 2};
  problem.nodes[1].island = problem.nodes[2].island = 0;
  problem.nodes[2].fixed = 1;
  const Merged merged = merge_islands(problem);
  CHECK(merged.merged == std::vector<int>{0, 1, 1});
  CHECK(merged.first == std::vector<int>{0, 1});
  CHECK(merged.problem.nodes[1].cost_ns == std::vector<double>{kNoKernel, 220});
  CHECK(merged.problem.nodes[1].weight_bytes == std::vector<int64_t>{330, 330});
  REQUIRE(merged.problem.values.size() == 3);  // what node 1 made for node 2 is nobody else's
  CHECK(merged.problem.values[1].readers == std::vector<int>{1});
  CHECK(merged.problem.values[2].producer == 1);
}

TEST_CASE("a value that thousands read is sent once") {
  Problem problem{2, std::vector<Node>(5001, node(2, 1)), {{0, kHost, {}, {}, {0, 4999, 4999, 0}}}, {}};
  problem.nodes[0] = node(0, kNoKernel);
  for (int i = 1; i <= 5000; ++i) problem.values[0].readers.push_back(i);
  CHECK(away(find_partition(problem).devices) == 5000);
  problem.values[0].transfer_ns[1] = 5000;
  CHECK(away(find_partition(problem).devices) == 0);
  problem.devices = 4;
  for (Node& n : problem.nodes) n.cost_ns.insert(n.cost_ns.end(), {3.0, 3.0});
  problem.values[0].transfer_ns.assign(16, 4999);
  for (Node& n : problem.nodes) n.weight_bytes.clear();
  CHECK(away(find_partition(problem).devices) == 5000);
}

TEST_CASE("a price leaves out what gains least for its bytes, and moves fill the room") {
  // Without transfers this is a knapsack of 10: 6 + 4 gains 13, where gain for bytes begins with 5.
  Problem problem = chain({node(9, 1, 6), node(8, 1, 5), node(6, 1, 4)}, 0);
  problem.limits = {kNoLimit, 10};
  const Partition partition = find_partition(problem);
  CHECK(partition.devices == std::vector<int>{1, 0, 1});
  CHECK(partition.bound_ns <= partition.cost_ns);
  problem.limits[1] = 0;
  CHECK(find_partition(problem).devices == std::vector<int>{0, 0, 0});
  problem.nodes[1].fixed = 1;
  CHECK(find_partition(problem).outcome == Outcome::NoRoom);
  problem.limits = {9, 5};
  CHECK(find_partition(problem).outcome == Outcome::NoRoom);
  problem.limits = {10, 5};
  CHECK(find_partition(problem).devices == std::vector<int>{0, 1, 0});
}

TEST_CASE("packing two memories to the last byte may be given up") {
  // Even weights do not fill memories of odd size. To find this out takes all assignments.
  Problem problem = chain(std::vector<Node>(61, node(1, 1, 2)), 0);
  problem.limits = {61, 61};
  CHECK(find_partition(problem).outcome == Outcome::GaveUp);
  problem.limits = {61, 60};
  CHECK(find_partition(problem).outcome == Outcome::NoRoom);
  problem.limits = {62, 60};
  CHECK(find_partition(problem).outcome == Outcome::Found);
}

TEST_CASE("problems that break the rules are our mistake") {
  const auto broken = [](auto change) {
    Problem problem = chain({node(1, 1), node(1, 1)}, 1);
    change(problem);
    CHECK_THROWS_AS(find_partition(problem), Error);
  };
  broken([](Problem& p) { p.devices = 3; });
  broken([](Problem& p) { p.nodes[0].cost_ns[1] = -1; });
  broken([](Problem& p) { p.nodes[0].cost_ns[1] = std::numeric_limits<double>::quiet_NaN(); });
  broken([](Problem& p) { p.nodes[0].fixed = 2; });
  broken([](Problem& p) { p.values[1].readers = {0}; });
  broken([](Problem& p) { p.values[1].readers = {2}; });
  broken([](Problem& p) { p.values[0].transfer_ns[1] = kNoKernel; });
  broken([](Problem& p) { p.values[2].wanted = {2}; });
  broken([](Problem& p) { p.limits = {1}; });
}

TEST_CASE("large graphs take little more than a look at each edge") {
  const auto work_for_each_edge = [](const Problem& problem) {
    std::size_t edges = problem.nodes.size();
    for (const Value& value : problem.values) edges += value.readers.size();
    const Cut cut = minimum_cut(problem);
    CHECK(minimum_cut(problem).devices == cut.devices);
    return static_cast<double>(cut.work) / static_cast<double>(edges);
  };
  std::mt19937 random(1);
  const auto below = [&](unsigned n) { return static_cast<double>(random() % n); };
  CHECK(work_for_each_edge(random_problem(random, {.nodes = 2000, .devices = 2})) < 300);
  for (double scale : {1.0, 6.0, 30.0}) {  // each of 2000 nodes reads three of ten of those before it: 600,000 edges
    Problem dense;
    for (int i = 0; i < 2000; ++i) {
      dense.nodes.push_back(node(below(1000), below(1000)));
      dense.values.push_back({i, kHost, {}, {}, {0, scale * below(100), scale * below(100), 0}});
      for (int j = 0; j < i; ++j) {
        if (random() % 10 < 3) dense.values[j].readers.push_back(i);
      }
    }
    CHECK(work_for_each_edge(dense) < 300);
  }

  // Each node gains a little on the other device and all results come back at the end of a long chain: what flows has a hundred thousand different ways to go.
  constexpr int kLong = 100'000;
  Problem long_chain = chain(std::vector<Node>(kLong, node(2, 1)), 1e6);
  CHECK(work_for_each_edge(long_chain) < 300);
  CHECK(away(minimum_cut(long_chain).devices) == 0);
  for (Value& value : long_chain.values) value.transfer_ns = {0, kLong / 4, kLong / 4, 0};
  CHECK(work_for_each_edge(long_chain) < 300);
  CHECK(away(minimum_cut(long_chain).devices) == kLong);
  for (Node& n : long_chain.nodes) n = node(below(100), below(100));
  for (Value& value : long_chain.values) value.transfer_ns = {0, 100 + below(400), 300, 0};
  CHECK(work_for_each_edge(long_chain) < 300);
}

}  // namespace
}  // namespace onnxc::partition
