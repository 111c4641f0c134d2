// How often a classifier is right.
#pragma once
#include <cstdint>
#include <filesystem>
#include <vector>

#include "tools/calibration/model_runner.h"

namespace onnxc {

/// Integers, one for each example: from an .npy file, from an .npz file with an array `labels` or with only one, or from a text with one on a line.
std::vector<int64_t> read_labels(const std::filesystem::path& path);

struct Accuracy {
  std::size_t right = 0, all = 0;
  double percent() const { return all == 0 ? 0 : 100.0 * static_cast<double>(right) / static_cast<double>(all); }
};

/// The share of examples whose label the model's first output names: by its greatest element along the last axis; where that axis has one element, a probability, by
/// whether it is more than a half; or, if it has integers, itself. A sample has
/// as many examples as that output has rows; labels follow the samples. Throws Error{Invalid} if their numbers differ. `what` names the work for progress.
Accuracy measure_accuracy(const ModelRunner& model, const Samples& samples, const std::vector<int64_t>& labels, const std::string& what);

}  // namespace onnxc
