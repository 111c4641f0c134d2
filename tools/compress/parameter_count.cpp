#include "tools/compress/parameter_count.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace onnxc {
namespace {

constexpr double kWorthwhile = 0.75;  ///< of the parameters: two layers for one cost a step and a value between them

bool is_float(int type) {
  return type == onnx::TensorProto::FLOAT || type == onnx::TensorProto::DOUBLE || type == onnx::TensorProto::FLOAT16 ||
         type == onnx::TensorProto::BFLOAT16;
}
int64_t elements(const onnx::TensorProto& tensor) {
  return is_float(tensor.data_type()) ? std::accumulate(tensor.dims().begin(), tensor.dims().end(), int64_t{1}, std::multiplies<>()) : 0;
}
int64_t count_in(const onnx::GraphProto& graph) {
  int64_t count = 0;
  for (const auto& tensor : graph.initializer()) count += elements(tensor);
  for (const auto& node : graph.node()) {
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_t()) count += elements(attribute.t());
      if (attribute.has_g()) count += count_in(attribute.g());
    }
  }
  return count;
}

}  // namespace

int64_t count_parameters(const onnx::ModelProto& model) { return count_in(model.graph()); }

bool is_rank_worth_it(int64_t rank, int64_t rows, int64_t columns) {
  return rank > 0 && static_cast<double>(rank * (rows + columns)) <= kWorthwhile * static_cast<double>(rows * columns);
}

int64_t ParameterCount::Tensor::elements() const {
  const int64_t all = std::accumulate(extents.begin(), extents.end(), int64_t{1}, std::multiplies<>());
  if (rank == 0 || all == 0) return all;
  const int64_t rows = extents[static_cast<std::size_t>(row_axis)], columns = all / rows;
  return is_rank_worth_it(rank, rows, columns) ? rank * (rows + columns) : all;
}

ParameterCount::ParameterCount(const FloatNetwork& network)
    : parts_(static_cast<std::size_t>(network.channels.count)), all_(count_parameters(network.model)) {
  for (const auto& tensor : network.model.graph().initializer()) {
    if (elements(tensor) == 0) continue;
    by_name_[tensor.name()] = tensors_.size();
    tensors_.push_back({{tensor.dims().begin(), tensor.dims().end()}});
  }
  for (const CutTensor& cut : network.channels.cuts) {
    const auto tensor = by_name_.find(cut.tensor);
    if (tensor == by_name_.end()) continue;
    std::map<int, int64_t> counts;
    for (const int set : cut.sets) ++counts[set];
    for (const auto& [set, count] : counts) parts_[static_cast<std::size_t>(set)].push_back({tensor->second, cut.axis, count});
  }
  for (std::size_t l = 0; l < network.layers.size(); ++l) {
    const auto tensor = by_name_.find(network.layers[l].weight);
    of_layer_.push_back(tensor == by_name_.end() ? tensors_.size() : tensor->second);
    if (tensor != by_name_.end()) tensors_[tensor->second].row_axis = static_cast<int>(row_axis(network.layers[l], network.node(l)));
  }
}

int64_t ParameterCount::saved_by_removing(int set) const {
  std::map<std::size_t, Tensor> changed;
  for (const Part& part : parts_[static_cast<std::size_t>(set)])
    changed.try_emplace(part.tensor, tensors_[part.tensor]).first->second.extents[static_cast<std::size_t>(part.axis)] -= part.count;
  int64_t saved = 0;
  for (const auto& [tensor, smaller] : changed) saved += tensors_[tensor].elements() - smaller.elements();
  return saved;
}

void ParameterCount::remove(int set) {
  all_ -= saved_by_removing(set);
  for (const Part& part : parts_[static_cast<std::size_t>(set)])
    tensors_[part.tensor].extents[static_cast<std::size_t>(part.axis)] -= part.count;
}

void ParameterCount::factor(std::size_t layer, int64_t rank) {
  Tensor& weights = tensors_[of_layer_[layer]];
  all_ -= weights.elements();
  weights.rank = rank;
  all_ += weights.elements();
}

}  // namespace onnxc
