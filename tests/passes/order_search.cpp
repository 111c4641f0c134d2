// The order of nodes: against a search of every order, and on graphs too large for that.
#include "compiler/passes/order_search.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <numeric>
#include <random>

using namespace onnxc;

namespace {

/// Each node reads some earlier values and writes one or two.
OrderProblem random_problem(std::mt19937& random, int nodes) {
  OrderProblem problem;
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  problem.bytes = {0};  // the input
  for (int n = 0; n < nodes; ++n) {
    OrderedNode node;
    const std::size_t known = problem.bytes.size();
    for (std::size_t k = 1 + below(3); k-- > 0;) {
      const int v = static_cast<int>(below(2) == 0 ? below(known) : known - 1 - below(std::min<std::size_t>(known, 4)));
      if (std::ranges::find(node.reads, v) == node.reads.end()) node.reads.push_back(v);
    }
    if (below(3) == 0) node.reuses.push_back(node.reads[0]);
    for (std::size_t k = 1 + (below(5) == 0 ? 1 : 0); k-- > 0;) {
      node.writes.push_back(static_cast<int>(problem.bytes.size()));
      problem.bytes.push_back(below(6) == 0 ? 0 : static_cast<int64_t>(1 + below(50)));
    }
    problem.nodes.push_back(std::move(node));
  }
  return problem;
}

bool is_valid(const OrderProblem& problem, const std::vector<int>& order) {
  PerValue<bool> written(problem.bytes.size(), true);
  PerNode<bool> run(problem.nodes.size());
  for (const OrderedNode& node : problem.nodes) {
    for (ValueId v : node.writes) written[v] = false;
  }
  for (int n : order) {
    if (run[n]) return false;
    run[n] = true;
    const OrderedNode& node = problem.node(n);
    if (std::ranges::any_of(node.reads, [&](ValueId v) { return !written[v]; })) return false;
    for (ValueId v : node.writes) written[v] = true;
  }
  return order.size() == problem.nodes.size();
}

std::vector<int> given(const OrderProblem& problem) {
  std::vector<int> order(problem.nodes.size());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

int64_t least_peak(const OrderProblem& problem) {
  std::vector<int> order = given(problem);
  int64_t least = peak_bytes(problem, order);
  while (std::ranges::next_permutation(order).found) {
    if (is_valid(problem, order)) least = std::min(least, peak_bytes(problem, order));
  }
  return least;
}

}  // namespace

TEST_CASE("the peak of an order, by hand") {
  // a (10 bytes) and b (4) are computed from the input, c (3) from both. c may take the memory of a.
  const OrderProblem problem{{0, 10, 4, 3}, {{{0}, {1}}, {{0}, {2}}, {{1, 2}, {3}, {1}}}};
  CHECK(peak_bytes(problem, std::vector<int>{0, 1, 2}) == 14);
  const OrderProblem apart{{0, 10, 4, 3}, {{{0}, {1}}, {{0}, {2}}, {{1, 2}, {3}}}};
  CHECK(peak_bytes(apart, std::vector<int>{0, 1, 2}) == 17);
}

TEST_CASE("a branch whose result is small runs before one whose result is large") {
  // Two branches: 0 -> 100 -> 1 byte, and 0 -> 100 -> 50 bytes. In the given order both values of 100 bytes live at
  // once.
  const OrderProblem problem{{0, 100, 100, 1, 50, 0}, {{{0}, {1}}, {{0}, {2}}, {{1}, {3}}, {{2}, {4}}, {{3, 4}, {5}}}};
  CHECK(peak_bytes(problem, given(problem)) == 201);
  const NodeOrder found = find_node_order(problem);
  CHECK(found.peak == 151);
  CHECK(found.exact);
  CHECK(peak_bytes(problem, found.order) == 151);
}

TEST_CASE("ten thousand random graphs: no order is invalid or worse, complete searches find what trying all orders finds") {
  int better = 0;
  for (unsigned seed = 0; seed < 10'000; ++seed) {
    std::mt19937 random(seed);
    const bool small = seed % 10 == 0;
    const OrderProblem problem = random_problem(random, 2 + static_cast<int>(random() % (small ? 6 : 30)));
    const NodeOrder found = find_node_order(problem, seed % 3 == 0 ? 2 : 64);
    const int64_t before = peak_bytes(problem, given(problem));
    INFO("seed " << seed);
    if (!is_valid(problem, found.order) || found.peak != peak_bytes(problem, found.order) || found.peak > before) FAIL_CHECK();
    if (small && found.exact) CHECK(found.peak == least_peak(problem));
    better += found.peak < before;
  }
  CHECK(better > 1000);
}

TEST_CASE("five thousand nodes are ordered at once") {
  std::mt19937 random(1);
  const OrderProblem problem = random_problem(random, 5000);
  const NodeOrder found = find_node_order(problem);
  CHECK(is_valid(problem, found.order));
  CHECK(found.peak <= peak_bytes(problem, given(problem)));
}

TEST_CASE("wide graphs end with their effort") {
  OrderProblem problem{{0}, {}};
  // All are ready at once. Then come products of two of them, then one node that reads all.
  constexpr int kBranches = 20'000;
  OrderedNode last{{}, {2 * kBranches + 1}};
  for (int i = 0; i < kBranches; ++i) {
    problem.bytes.push_back(1 + i % 7);
    problem.nodes.push_back({{0}, {1 + i}});
  }
  for (int i = 0; i < kBranches; ++i) {
    problem.bytes.push_back(1 + i % 5);
    problem.nodes.push_back(
        {i == i * 7 % kBranches ? std::vector<int>{1 + i} : std::vector<int>{1 + i, 1 + i * 7 % kBranches}, {1 + kBranches + i}});
    last.reads.push_back(1 + kBranches + i);
  }
  problem.bytes.push_back(1);
  problem.nodes.push_back(std::move(last));
  const NodeOrder found = find_node_order(problem);
  CHECK(is_valid(problem, found.order));
  CHECK(found.peak <= peak_bytes(problem, given(problem)));
}
