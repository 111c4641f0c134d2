#include "tools/compress/size_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "tools/compress/parameter_count.h"

namespace onnxc {
namespace {

std::string joined(const std::vector<int64_t>& shape) { return fmt::format("{}", fmt::join(shape, "x")); }

/// `38.4 M`
std::string rounded(int64_t count) {
  if (count < 100000) return fmt::format("{}", count);
  return count < 100000000 ? fmt::format("{:.1f} k", static_cast<double>(count) / 1e3)
                           : fmt::format("{:.1f} M", static_cast<double>(count) / 1e6);
}

}  // namespace

std::vector<LayerSize> layer_sizes(const FloatNetwork& network, const GraphIndex& index, const Decisions& decisions) {
  const auto is_removed = [&](int set) { return decisions.is_removed[static_cast<std::size_t>(set)]; };
  std::vector<LayerSize> rows;
  for (std::size_t l = 0; l < network.layers.size(); ++l) {
    const Layer& layer = network.layers[l];
    LayerSize row;
    row.layer = layer.name;
    row.kept = layer.kept;
    if (const onnx::TensorProto* weight = layer.weight.empty() ? nullptr : index.initialiser(layer.weight)) {
      std::vector<int64_t> shape(weight->dims().begin(), weight->dims().end());
      const auto elements = [&] { return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>()); };
      const int64_t before = row.parameters_before = elements();
      row.before = joined(shape);
      for (const CutTensor& cut : network.channels.cuts) {
        if (cut.tensor == layer.weight) shape[static_cast<std::size_t>(cut.axis)] -= std::ranges::count_if(cut.sets, is_removed);
      }
      row.after = joined(shape);
      row.parameters = elements();
      const auto rank = decisions.ranks.find(l);
      const int64_t outputs = layer.multiplies() ? shape[static_cast<std::size_t>(row_axis(layer, network.node(l)))] : 0;
      if (rank != decisions.ranks.end() && outputs > 0 && is_rank_worth_it(rank->second, outputs, row.parameters / outputs)) {
        row.rank = rank->second;
        row.parameters = row.rank * (outputs + row.parameters / outputs);
        row.after += fmt::format(", rank {}", row.rank);
      }
      row.multiply_adds_before = l < network.multiply_adds.size() ? network.multiply_adds[l] : 0;
      if (before > 0) row.multiply_adds = row.multiply_adds_before / before * row.parameters;
    }
    const SetList& sets = network.channels.rows[l];
    if (row.kept.empty() && !sets.empty() &&
        std::ranges::none_of(sets, [&](int set) { return network.channels.kept[static_cast<std::size_t>(set)].empty(); }))
      row.kept = "outputs stay: " + network.channels.kept[static_cast<std::size_t>(sets.front())];
    rows.push_back(std::move(row));
  }
  return rows;
}

void print_sizes(const std::vector<LayerSize>& rows) {
  std::size_t widest = 5, widest_before = 7, widest_after = 6;
  for (const LayerSize& row : rows) {
    widest = std::max(widest, std::min<std::size_t>(row.layer.size(), 60));
    widest_before = std::max(widest_before, row.before.size());
    widest_after = std::max(widest_after, row.after.size());
  }
  fmt::print("  {:<{}}  {:<{}}  {:<{}}  {:>10}  {:>10}  {:>12}\n", "layer", widest, "weights", widest_before, "become", widest_after,
             "parameters", "become", "multiply-adds");
  for (const LayerSize& row : rows) {
    std::string layer = row.layer;
    if (layer.size() > widest) layer = layer.substr(0, widest - 3) + "...";
    fmt::print("  {:<{}}  {:<{}}  {:<{}}  {:>10}  {:>10}  {:>12}{}{}\n", layer, widest, row.before, widest_before, row.after, widest_after,
               rounded(row.parameters_before), rounded(row.parameters), rounded(row.multiply_adds), row.kept.empty() ? "" : "  ", row.kept);
  }
}

nlohmann::ordered_json json_of(const std::vector<LayerSize>& rows) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const LayerSize& row : rows)
    list.push_back({{"layer", row.layer},
                    {"weights_before", row.before},
                    {"weights", row.after},
                    {"parameters_before", row.parameters_before},
                    {"parameters", row.parameters},
                    {"multiply_adds_before", row.multiply_adds_before},
                    {"multiply_adds", row.multiply_adds},
                    {"rank", row.rank == 0 ? nlohmann::ordered_json() : nlohmann::ordered_json(row.rank)},
                    {"kept", row.kept.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(row.kept)}});
  return list;
}

}  // namespace onnxc
