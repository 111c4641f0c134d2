// In which order a network loses parameters: the step that makes least error for each parameter comes first.
//
// A step removes a set of channels, or lowers the rank of a layer's weights. The error of both is a share of the variance of a layer's output, measured on samples where
// all other layers are as they were. Errors of different layers are added up. That is no prediction of the network's error, but orders the steps.
#pragma once
#include <map>
#include <vector>

#include "tools/compress/network.h"

namespace onnxc {

struct CompressionStep {
  int set = -1;            ///< is removed; -1: none
  std::size_t layer = 0;   ///< otherwise its weights become two factors
  int64_t rank = 0;        ///< of this rank
  double error = 0;        ///< that it adds
  int64_t parameters = 0;  ///< left after it and all before
};

struct PlanOptions {
  bool channels = true, low_rank = true;
};

using Plan = std::vector<CompressionStep>;

/// Steps until at most `least` parameters are left, or nothing more can go. There are several plans, if channels and ranks can be weighed against each other; which is best
/// has to be measured.
std::vector<Plan> plan_compression(const FloatNetwork& network, const GraphIndex& index, const PlanOptions& options, int64_t least);

/// What some first steps of a plan come to.
struct Decisions {
  std::vector<bool> is_removed;          ///< by set
  std::map<std::size_t, int64_t> ranks;  ///< by layer
};
Decisions decisions_of(const Plan& plan, std::size_t steps, const FloatNetwork& network);

}  // namespace onnxc
