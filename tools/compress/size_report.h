// What a network was and became, in sizes: a table for people, and JSON.
#pragma once
#include <nlohmann/json.hpp>

#include "tools/compress/plan.h"

namespace onnxc {

struct LayerSize {
  std::string layer;          ///< `Conv 'stem'`
  std::string before, after;  ///< `16x3x3x3`; with a rank: `16x8, 8x3x3x3`
  int64_t parameters_before = 0, parameters = 0;
  int64_t multiply_adds_before = 0, multiply_adds = 0;
  int64_t rank = 0;  ///< 0: one layer, as it was
  std::string kept;  ///< why all its outputs stay, if something keeps them
};

std::vector<LayerSize> layer_sizes(const FloatNetwork& network, const GraphIndex& index, const Decisions& decisions);

void print_sizes(const std::vector<LayerSize>& rows);
nlohmann::ordered_json json_of(const std::vector<LayerSize>& rows);

}  // namespace onnxc
