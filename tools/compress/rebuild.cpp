#include "tools/compress/rebuild.h"

#include <algorithm>

#include "compiler/frontend/schemas.h"
#include "tools/compress/low_rank.h"
#include "tools/compress/parameter_count.h"
#include "tools/compress/solve_weights.h"

namespace onnxc {
namespace {

class Rebuilder {
 public:
  Rebuilder(const FloatNetwork& network, const GraphIndex& index, const Decisions& decisions)
      : network_(network),
        index_(index),
        decisions_(decisions),
        cuts_(network.channels.cuts),
        model_(network.model),
        graph_(*model_.mutable_graph()) {
    for (int i = 0; i < graph_.initializer_size(); ++i) initialisers_[graph_.initializer(i).name()] = i;
  }

  onnx::ModelProto run() {
    for (std::size_t l = 0; l < network_.layers.size(); ++l) {
      if (const std::vector<bool> gone = columns_that_go(l); !gone.empty()) solve(l, gone);
    }
    for (const CutTensor& cut : cuts_) {
      if (std::ranges::any_of(cut.sets, [&](int set) { return is_removed(set); }))
        tensor_of(cut.tensor) = cut_along(tensor_of(cut.tensor), cut);
    }
    for (const CountedChannels& counted : network_.channels.counted) count_again(counted);
    std::vector<onnx::NodeProto> nodes;
    for (int i = 0; i < graph_.node_size(); ++i) {
      const auto layer = std::ranges::find(network_.layers, i, &Layer::node);
      const auto l = static_cast<std::size_t>(layer - network_.layers.begin());
      const auto rank = decisions_.ranks.find(l);
      if (layer == network_.layers.end() || rank == decisions_.ranks.end() || !factor(l, rank->second, nodes))
        nodes.push_back(graph_.node(i));
    }
    graph_.clear_node();
    for (onnx::NodeProto& node : nodes) *graph_.add_node() = std::move(node);
    graph_.clear_value_info();  // shapes that it states are the old ones
    remove_unused(graph_);
    return std::move(model_);
  }

 private:
  bool is_removed(int set) const { return decisions_.is_removed[static_cast<std::size_t>(set)]; }
  onnx::TensorProto& tensor_of(const std::string& name) { return *graph_.mutable_initializer(initialisers_.at(name)); }
  std::string constant(const std::string& base, const TensorData& tensor) {
    const std::string name = fresh_.fresh(base);
    initialisers_[name] = graph_.initializer_size();
    *graph_.add_initializer() = to_proto(tensor, name);
    return name;
  }

  /// By column of the layer's weights, all groups behind each other; empty if none goes.
  std::vector<bool> columns_that_go(std::size_t l) const {
    std::vector<bool> gone;
    bool any = false;
    for (const ChannelSum& sum : network_.channels.sums) {
      if (sum.layer != l) continue;
      const auto taps = static_cast<std::size_t>(network_.inputs[l].columns()) / sum.sets.size();
      for (const int set : sum.sets) {
        gone.insert(gone.end(), taps, is_removed(set));
        any |= is_removed(set);
      }
    }
    return any ? gone : std::vector<bool>();
  }

  WeightMatrix matrix_of(std::size_t l) {
    return weight_matrix(network_.layers[l], network_.node(l), to_tensor(tensor_of(network_.layers[l].weight)));
  }

  void solve(std::size_t l, const std::vector<bool>& gone) {
    const Layer& layer = network_.layers[l];
    const LayerBias bias = bias_of(network_, index_, l);
    WeightMatrix weights = matrix_of(l);
    const std::vector<float> shift = solve_weights(weights, network_.inputs[l], gone, bias.can_have);
    TensorData tensor = to_tensor(tensor_of(layer.weight));
    std::ranges::copy(in_order_of_weights(weights.values, weights.rows, row_axis(layer, network_.node(l))), tensor.as<float>().begin());
    tensor_of(layer.weight) = to_proto(tensor, layer.weight);
    if (bias.can_have) shift_bias(l, bias.name, shift);
  }

  /// Adds to a layer's bias, which it gets if it has none and somebody needs one.
  void shift_bias(std::size_t l, const std::string& name, const std::vector<float>& shift) {
    if (std::ranges::all_of(shift, [](float s) { return s == 0; })) return;
    std::vector<float> values = name.empty() ? std::vector<float>(shift.size()) : floats_of(&tensor_of(name));
    for (std::size_t r = 0; r < shift.size(); ++r) values[r] += shift[r];
    if (!name.empty() && index_.has_one_reader(name)) {
      tensor_of(name) = to_proto(floats_tensor(values), name);
      return;
    }
    onnx::NodeProto& node = *graph_.mutable_node(network_.layers[l].node);
    const std::string own = constant(network_.layers[l].weight + "_bias", floats_tensor(values));
    if (node.input_size() == 3) node.set_input(2, own);
    else node.add_input(own);
    cuts_.push_back({own, 0, network_.channels.rows[l]});
  }

  onnx::TensorProto cut_along(const onnx::TensorProto& proto, const CutTensor& cut) const {
    const TensorData whole = to_tensor(proto);
    const auto axis = static_cast<std::size_t>(cut.axis);
    TensorData part{whole.type, whole.shape, {}, {}};
    std::size_t outer = 1;
    for (std::size_t i = 0; i < axis; ++i) outer *= static_cast<std::size_t>(whole.shape[i]);
    const std::size_t extent = cut.sets.size(), bytes = whole.bytes.size() / outer / extent;
    for (std::size_t i = 0; i < outer * extent; ++i) {
      const auto from = whole.bytes.begin() + static_cast<std::ptrdiff_t>(i * bytes);
      if (!is_removed(cut.sets[i % extent])) part.bytes.append(from, from + static_cast<std::ptrdiff_t>(bytes));
    }
    part.shape[axis] = left_of(cut.sets);
    return to_proto(part, proto.name());
  }
  int64_t left_of(const SetList& sets) const {
    return std::ranges::count_if(sets, [&](int set) { return !is_removed(set); });
  }

  void count_again(const CountedChannels& counted) {
    onnx::NodeProto& node = *graph_.mutable_node(counted.node);
    const bool changes = std::ranges::any_of(
        counted.counts, [&](const auto& entry) { return left_of(entry.second) != static_cast<int64_t>(entry.second.size()); });
    if (!changes) return;
    if (counted.input < 0) {
      clear_attribute(node, "group");
      return set_attribute(node, "group", left_of(counted.counts.at(0)));
    }
    std::vector<int64_t> values = counted.values;
    for (const auto& [element, sets] : counted.counts) values[static_cast<std::size_t>(element)] = left_of(sets);
    while (node.input_size() <= counted.input) node.add_input("");
    node.set_input(counted.input, constant(node_name(node) + "_sizes", *make_constant(values)));
    clear_attribute(node, "num_outputs");  // of Split
  }

  /// Two nodes instead of one. False where its weights have become so small that this is not worth it.
  bool factor(std::size_t l, int64_t rank, std::vector<onnx::NodeProto>& nodes) {
    const Layer& layer = network_.layers[l];
    const onnx::NodeProto node = graph_.node(layer.node);
    const WeightMatrix weights = matrix_of(l);
    if (!is_rank_worth_it(rank, weights.rows, weights.columns)) return false;
    const bool is_matmul = layer.kind == Layer::Kind::MatMul;
    const LayerBias bias = bias_of(network_, index_, l);
    const std::string name = is_matmul ? bias.name : node.input_size() > 2 ? node.input(2) : std::string();
    std::vector<double> old(static_cast<std::size_t>(weights.rows)), mean(old.size());
    if (!name.empty()) std::ranges::copy(floats_of(&tensor_of(name)), old.begin());
    const Matrix covariance = output_covariance(l, bias.can_have, mean);
    for (std::size_t r = 0; r < mean.size() && is_matmul; ++r) mean[r] += old[r];  // its output is seen before the Add
    const Factors factors = low_rank_factors(weights.values, weights.rows, rank, covariance, old, mean);

    const std::vector<int64_t> shape(tensor_of(layer.weight).dims().begin(), tensor_of(layer.weight).dims().end());
    const auto weights_of = [&](const std::vector<float>& values, int64_t rows, const std::string& suffix) {
      TensorData tensor = floats_tensor(is_matmul ? in_order_of_weights(values, rows, 1) : values);
      const int64_t columns = tensor.count() / rows;
      tensor.shape = is_matmul ? std::vector<int64_t>{columns, rows} : std::vector<int64_t>{rows, columns};
      return std::pair{std::move(tensor), layer.weight + suffix};
    };
    auto [inner, inner_name] = weights_of(factors.inner, rank, "_inner");
    auto [outer, outer_name] = weights_of(factors.outer, weights.rows, "_outer");
    if (layer.kind == Layer::Kind::Conv) {
      inner.shape = shape;
      inner.shape[0] = rank;
      outer.shape.resize(shape.size(), 1);
    }
    onnx::NodeProto first = node, second;
    first.clear_input();
    first.add_input(node.input(0));
    first.add_input(constant(inner_name, inner));
    first.set_output(0, fresh_.fresh(node.output(0) + "_inner"));
    second.set_op_type(node.op_type());
    second.set_name(fresh_.fresh(node_name(node) + "_outer"));
    second.add_input(first.output(0));
    second.add_input(constant(outer_name, outer));
    second.add_output(node.output(0));
    if (layer.kind == Layer::Kind::Gemm) {
      clear_attribute(first, "transB");
      set_attribute(first, "transB", 1);
      set_attribute(second, "transB", 1);
    }
    if (is_matmul && bias.can_have) tensor_of(name) = to_proto(floats_tensor(factors.bias), name);
    else if (!is_matmul) second.add_input(constant(layer.weight + "_outer_bias", floats_tensor(factors.bias)));
    nodes.push_back(std::move(first));
    nodes.push_back(std::move(second));
    return true;
  }

  /// Of the outputs that are left; `mean` gets their means, if those count.
  Matrix output_covariance(std::size_t l, bool has_bias, std::vector<double>& mean) const {
    const Moments& outputs = network_.outputs[l];
    const SetList& sets = network_.channels.rows[l];
    std::vector<int64_t> left;
    for (int64_t r = 0; r < outputs.columns(); ++r) {
      if (sets.empty() || !is_removed(sets[static_cast<std::size_t>(r)])) left.push_back(r);
    }
    for (std::size_t i = 0; i < left.size() && has_bias; ++i) mean[i] = outputs.mean(0, left[i]);
    const Matrix second = outputs.block(0, 0);
    Matrix covariance;
    for (std::size_t i = 0; i < left.size(); ++i) {
      for (std::size_t j = 0; j < left.size(); ++j)
        covariance.push_back(second[static_cast<std::size_t>(left[i] * outputs.columns() + left[j])] - mean[i] * mean[j]);
    }
    return covariance;
  }

  const FloatNetwork& network_;
  const GraphIndex& index_;
  const Decisions& decisions_;
  std::vector<CutTensor> cuts_;
  onnx::ModelProto model_;
  onnx::GraphProto& graph_;
  GraphIndex fresh_{network_.model.graph()};
  std::map<std::string, int> initialisers_;
};

}  // namespace

onnx::ModelProto rebuild(const FloatNetwork& network, const GraphIndex& index, const Decisions& decisions) {
  return Rebuilder(network, index, decisions).run();
}

}  // namespace onnxc
