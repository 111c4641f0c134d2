#include "tools/compress/plan.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "tools/calibration/progress.h"
#include "tools/compress/parameter_count.h"
#include "tools/compress/removal_costs.h"

namespace onnxc {
namespace {

constexpr int64_t kMostRankedRows = 1024;  ///< of a layer whose rank is looked at: eigenvalues cost the cube of it
/// What the error of a rank counts beside that of a channel. An error of a layer's output is often less important than one of the next layer's, but how much less depends
/// on the network.
constexpr double kRankWeights[] = {1, 1.0 / 16};
constexpr int64_t kRowsOfRank = 1;  ///< samples for each output: fewer have a low rank themselves

/// W^T W of the rows of a group, for the columns [first, first + n).
Matrix squared_weights(const WeightMatrix& weights, int64_t group, int64_t first, int64_t n) {
  Matrix m(static_cast<std::size_t>(n * n));
  const int64_t rows = weights.rows / weights.groups;
  for (int64_t r = group * rows; r < (group + 1) * rows; ++r) {
    const float* const w = weights.row(r) + first;
    for (int64_t i = 0; i < n; ++i) {
      const double factor = static_cast<double>(w[i]);
      double* const to = m.data() + i * n;
      for (int64_t j = 0; j < n; ++j) to[j] += factor * static_cast<double>(w[j]);
    }
  }
  return m;
}

double inner(const Matrix& a, const Matrix& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

RemovalCosts removal_costs(const FloatNetwork& network, const GraphIndex& index) {
  struct Block {
    Matrix covariance, weights;
    std::vector<int> sets;
  };
  RemovalCosts costs(network.channels.count);
  Progress progress("costs of channels", network.channels.sums.size());
  std::map<std::size_t, std::vector<const ChannelSum*>> of_layer;
  for (const ChannelSum& sum : network.channels.sums) of_layer[sum.layer].push_back(&sum);
  for (const auto& [l, sums] : of_layer) {
    if (!network.is_known(l)) continue;
    const Layer& layer = network.layers[l];
    const WeightMatrix weights = weight_matrix(layer, network.node(l), to_tensor(*index.initialiser(layer.weight)));
    const Moments& moments = network.inputs[l];
    const bool has_bias = bias_of(network, index, l).can_have;
    std::vector<Block> blocks;
    double signal = 0;
    for (const ChannelSum* sum : sums) {
      const auto taps = static_cast<std::size_t>(weights.columns) / sum->sets.size();
      for (int64_t b = 0; b < moments.blocks(); ++b) {
        const int64_t first = b * moments.columns_of_block(), n = moments.block_columns(b);
        Block& block = blocks.emplace_back(
            Block{input_covariance(moments, sum->group, b, has_bias), squared_weights(weights, sum->group, first, n), {}});
        for (int64_t c = first; c < first + n; ++c) block.sets.push_back(sum->sets[static_cast<std::size_t>(c) / taps]);
        signal += inner(block.covariance, block.weights);
      }
      progress.step();
    }
    for (Block& block : blocks) costs.add(block.covariance, std::move(block.weights), block.sets, std::max(signal, 1e-300));
  }
  return costs;
}

/// Ranks of a layer that are on the lower hull of its error over its parameters, the greatest first.
std::vector<CompressionStep> rank_steps(const FloatNetwork& network, const GraphIndex& index, std::size_t l) {
  const Layer& layer = network.layers[l];
  const Moments& outputs = network.outputs[l];
  const int64_t rows = outputs.columns();
  if (!network.is_known(l) || outputs.rows() < kRowsOfRank * rows || network.groups(l) != 1 || rows > kMostRankedRows) return {};
  const int64_t columns = to_tensor(*index.initialiser(layer.weight)).count() / rows;
  Matrix covariance = outputs.block(0, 0);
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < rows && bias_of(network, index, l).can_have; ++j)
      covariance[static_cast<std::size_t>(i * rows + j)] -= outputs.mean(0, i) * outputs.mean(0, j);
  }
  const std::vector<double> values = eigenvalues(std::move(covariance), rows);
  double all = 0, left = 0;
  for (const double value : values) all += std::max(0.0, value);
  if (all <= 0) return {};
  struct Point {
    int64_t rank, parameters;
    double error;
  };
  std::vector<Point> hull = {{0, rows * columns, 0}};
  const auto slope = [](const Point& a, const Point& b) { return (b.error - a.error) / static_cast<double>(a.parameters - b.parameters); };
  for (int64_t rank = rows; rank-- > 1;) {
    left += std::max(0.0, values[static_cast<std::size_t>(rank)]);
    if (!is_rank_worth_it(rank, rows, columns)) continue;
    const Point point{rank, rank * (rows + columns), left / all};
    while (hull.size() > 1 && slope(hull[hull.size() - 2], hull.back()) >= slope(hull.back(), point)) hull.pop_back();
    hull.push_back(point);
  }
  std::vector<CompressionStep> steps;
  for (std::size_t i = 1; i < hull.size(); ++i)
    steps.push_back({-1, l, hull[i].rank, hull[i].error - hull[i - 1].error, hull[i - 1].parameters - hull[i].parameters});
  return steps;
}

class Planner {
 public:
  Planner(const FloatNetwork& network, const GraphIndex& index, const PlanOptions& options)
      : parameters_(network), costs_(removal_costs(network, index)) {
    const auto sets = static_cast<std::size_t>(network.channels.count);
    lists_of_.resize(sets);
    rates_.assign(sets, kNever);
    for (const SetList& list : network.channels.not_empty) {
      std::set<int> distinct(list.begin(), list.end());
      for (const int set : distinct) lists_of_[static_cast<std::size_t>(set)].push_back(left_.size());
      left_.push_back(static_cast<int64_t>(distinct.size()));
    }
    for (std::size_t set = 0; set < sets && options.channels; ++set) {
      if (network.channels.kept[set].empty()) rate(static_cast<int>(set));
    }
    Progress progress("ranks of layers", network.layers.size());
    for (std::size_t l = 0; l < network.layers.size() && options.low_rank; ++l, progress.step())
      ranks_.push_back(rank_steps(network, index, l));
    next_rank_.resize(ranks_.size());
  }

  Plan plan(int64_t least, double rank_weight) {
    Plan steps;
    while (parameters_.all() > least) {
      const auto set = std::ranges::min_element(rates_);
      const double set_rate = set == rates_.end() ? kNever : *set;
      double rank_rate = kNever;
      std::size_t layer = 0;
      for (std::size_t l = 0; l < ranks_.size(); ++l) {
        if (next_rank_[l] == ranks_[l].size()) continue;
        const CompressionStep& step = ranks_[l][next_rank_[l]];
        const double found = rank_weight * step.error / static_cast<double>(step.parameters);
        if (found < rank_rate) rank_rate = found, layer = l;
      }
      if (set_rate == kNever && rank_rate == kNever) break;
      if (set_rate <= rank_rate) remove(static_cast<int>(set - rates_.begin()), steps);
      else {
        CompressionStep step = ranks_[layer][next_rank_[layer]++];
        parameters_.factor(layer, step.rank);
        step.parameters = parameters_.all();
        steps.push_back(step);
      }
    }
    return steps;
  }

 private:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  void rate(int set) {
    const int64_t saved = parameters_.saved_by_removing(set);
    rates_[static_cast<std::size_t>(set)] = saved <= 0 ? kNever : costs_.cost(set) / static_cast<double>(saved);
  }

  void remove(int set, Plan& steps) {
    rates_[static_cast<std::size_t>(set)] = kNever;
    const std::vector<std::size_t>& lists = lists_of_[static_cast<std::size_t>(set)];
    if (std::ranges::any_of(lists, [&](std::size_t list) { return left_[list] == 1; })) return;  // the last of a layer's channels
    for (const std::size_t list : lists) --left_[list];
    const double error = costs_.cost(set);
    const std::vector<int> beside = costs_.beside(set);
    costs_.remove(set);
    parameters_.remove(set);
    for (const int other : beside) {
      if (rates_[static_cast<std::size_t>(other)] != kNever) rate(other);
    }
    steps.push_back({set, 0, 0, error, parameters_.all()});
  }

  ParameterCount parameters_;
  RemovalCosts costs_;
  std::vector<double> rates_;                       ///< by set: error for each parameter saved
  std::vector<std::vector<std::size_t>> lists_of_;  ///< by set: the lists that must not become empty
  std::vector<int64_t> left_;                       ///< by such list: how many sets it has
  std::vector<std::vector<CompressionStep>> ranks_;
  std::vector<std::size_t> next_rank_;
};

}  // namespace

std::vector<Plan> plan_compression(const FloatNetwork& network, const GraphIndex& index, const PlanOptions& options, int64_t least) {
  const Planner planner(network, index, options);
  std::vector<Plan> plans;
  for (const double rank_weight : kRankWeights) {
    if (plans.empty() || (options.channels && options.low_rank)) plans.push_back(Planner(planner).plan(least, rank_weight));
  }
  return plans;
}

Decisions decisions_of(const Plan& plan, std::size_t steps, const FloatNetwork& network) {
  Decisions decisions{std::vector<bool>(static_cast<std::size_t>(network.channels.count)), {}};
  for (std::size_t i = 0; i < steps; ++i) {
    if (plan[i].set >= 0) decisions.is_removed[static_cast<std::size_t>(plan[i].set)] = true;
    else decisions.ranks[plan[i].layer] = plan[i].rank;
  }
  return decisions;
}

}  // namespace onnxc
