// What --keep-accuracy or --keep-cosine asks of a model that is made from another one, measured on samples.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tools/calibration/model_runner.h"

namespace onnxc {

/// As a command line states it, with the samples.
struct GoalOptions {
  std::optional<std::filesystem::path> calibration, labels;
  std::optional<double> keep_accuracy;  ///< how many points of accuracy may be lost, in percent
  std::optional<double> keep_cosine;    ///< between the first output of each sample and that of the first model

  bool is_stated() const { return keep_accuracy || keep_cosine; }
};
/// Throws Error{Usage} for options that do not go together.
void check(const GoalOptions& options);

class Goal {
 public:
  /// Measures the model that the others are made from. `samples` outlive the goal.
  Goal(const GoalOptions& options, const ModelRunner& before, const Samples& samples);

  double measure(const ModelRunner& model) const;
  bool holds(double measured) const { return measured >= least_; }
  double before() const { return before_; }
  double least() const { return least_; }
  /// Behind a number that was measured: `% right`.
  std::string unit() const { return is_accuracy_ ? "% right" : "is the least cosine"; }
  /// `accuracy 98.00 % instead of 98.22 %`
  std::string text(double measured) const;
  /// Its name in a report.
  std::string key() const { return is_accuracy_ ? "accuracy" : "least_cosine"; }

 private:
  const Samples& samples_;
  bool is_accuracy_;
  std::vector<int64_t> labels_;
  std::vector<TensorData> exact_;  ///< first outputs that cosines are measured against
  double before_ = 1, least_ = 0;
};

}  // namespace onnxc
