// What became of each layer: a table for people, and JSON.
#pragma once
#include <limits>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace onnxc {

struct LayerRow {
  std::string layer;    ///< `Conv 'stem'`
  std::string weights;  ///< `16x3x3x3`
  std::string form;     ///< `8 bits`, `float`
  double decibels =
      std::numeric_limits<double>::quiet_NaN();  ///< signal to noise of its output against the model in floats; NaN: not measured
  double own_decibels = std::numeric_limits<double>::quiet_NaN();  ///< where it alone is rounded: an estimate
  std::string kept;                                                ///< why it is in float
};

void print_layers(const std::vector<LayerRow>& rows);
nlohmann::ordered_json json_of(const std::vector<LayerRow>& rows);

}  // namespace onnxc
