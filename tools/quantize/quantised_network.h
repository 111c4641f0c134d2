// A network, its layers and what is known of them: what every form of a quantised model is written from.
#pragma once
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/quantize/byte_values.h"
#include "tools/quantize/rounding.h"

namespace onnxc {

/// How a layer is quantised, as far as that does not depend on others.
struct LayerWeights {
  RoundedWeights weights;
  std::vector<float> bias;       ///< with the mean error of rounding taken off; empty: none
  bool corrects_addend = false;  ///< the bias is that of the Add behind a MatMul
  std::string addend;            ///< its initialiser
  double signal = 0, weight_noise = 0,
         input_gain =
             0;  ///< of an output: E[(w x)^2], E[(dw x)^2], and sum of w^2, which the variance of an input's error is multiplied by
};

struct Network {
  onnx::ModelProto model;  ///< in floats, prepared
  Types types;
  std::vector<Layer> layers;
  std::vector<std::optional<LayerWeights>> weights;  ///< by layer
  std::map<std::string, Histogram> seen;             ///< values over the calibration data; empty if there was none
};

/// What a form needs to be written: layers that are quantised, and the codes of values.
struct QuantisedPlan {
  std::vector<Layer> layers;  ///< `kept` says why one is not
  ByteValues bytes;
  std::vector<Codes> codes;  ///< by group of bytes
};

struct RangeOptions {
  RangeMethod method = RangeMethod::Mse;
  double percentile = 99.99;
};

/// `floats`: layers, by index, that shall stay in float, with the reason. Others are added where a range cannot be coded.
QuantisedPlan plan_bytes(const Network& network, const GraphIndex& index, const RangeOptions& options,
                         const std::map<std::size_t, std::string>& floats);
/// The same where no value becomes bytes before a run.
QuantisedPlan plan_weights(const Network& network, const std::map<std::size_t, std::string>& floats);

/// Signal to noise of a layer's output in dB, where its own rounding of weights and inputs is all that is wrong. A large number where nothing is.
double own_decibels(const Network& network, const QuantisedPlan& plan, std::size_t layer);

/// QuantizeLinear and DequantizeLinear around layers.
onnx::ModelProto write_qdq(const Network& network, const QuantisedPlan& plan);
/// DynamicQuantizeLinear, and products of integers.
onnx::ModelProto write_dynamic(const Network& network, const QuantisedPlan& plan);
/// DequantizeLinear of weights, and nothing else.
onnx::ModelProto write_weights(const Network& network, const QuantisedPlan& plan);

}  // namespace onnxc
