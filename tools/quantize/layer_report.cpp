#include "tools/quantize/layer_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace onnxc {
namespace {

std::string shown(double decibels) { return std::isnan(decibels) ? "" : fmt::format("{:.1f}", decibels); }
nlohmann::ordered_json number(double decibels) {
  return std::isnan(decibels) ? nlohmann::ordered_json() : nlohmann::ordered_json(decibels);
}

}  // namespace

void print_layers(const std::vector<LayerRow>& rows) {
  std::size_t widest = 5, widest_weights = 7;
  for (const LayerRow& row : rows) {
    widest = std::max(widest, std::min<std::size_t>(row.layer.size(), 60));
    widest_weights = std::max(widest_weights, row.weights.size());
  }
  fmt::print("  {:<{}}  {:<{}}  {:<6}  {:>6}  {:>6}\n", "layer", widest, "weights", widest_weights, "form", "dB", "own dB");
  for (const LayerRow& row : rows) {
    std::string layer = row.layer;
    if (layer.size() > widest) layer = layer.substr(0, widest - 3) + "...";
    fmt::print("  {:<{}}  {:<{}}  {:<6}  {:>6}  {:>6}{}{}\n", layer, widest, row.weights, widest_weights, row.form, shown(row.decibels),
               shown(row.own_decibels), row.kept.empty() ? "" : "  ", row.kept);
  }
}

nlohmann::ordered_json json_of(const std::vector<LayerRow>& rows) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const LayerRow& row : rows)
    list.push_back({{"layer", row.layer},
                    {"weights", row.weights},
                    {"form", row.form},
                    {"decibels", number(row.decibels)},
                    {"own_decibels", number(row.own_decibels)},
                    {"kept_in_float", row.kept.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(row.kept)}});
  return list;
}

}  // namespace onnxc
