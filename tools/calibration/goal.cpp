#include "tools/calibration/goal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/support/error_codes.h"
#include "tools/calibration/accuracy.h"

namespace onnxc {
namespace {

constexpr std::size_t kCompared = 64;  ///< samples that cosines are measured on

double cosine(const TensorData& a, const TensorData& b) {
  const auto x = to_doubles(a), y = to_doubles(b);
  double xy = 0, xx = 0, yy = 0;
  for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
    xy += x[i] * y[i];
    xx += x[i] * x[i];
    yy += y[i] * y[i];
  }
  return xx == yy && xx == 0 ? 1 : xy / std::sqrt(std::max(xx * yy, 1e-300));
}

}  // namespace

void check(const GoalOptions& options) {
  if (options.keep_accuracy.has_value() != options.labels.has_value())
    throw Error(ErrorCode::MissingOption, "--keep-accuracy and --labels need each other");
  if (options.keep_accuracy && options.keep_cosine) throw Error(ErrorCode::OptionConflict, "--keep-accuracy or --keep-cosine, not both");
  if (options.is_stated() && !options.calibration)
    throw Error(ErrorCode::MissingOption, "--keep-accuracy and --keep-cosine need --calibration: they are measured on its samples");
}

Goal::Goal(const GoalOptions& options, const ModelRunner& before, const Samples& samples)
    : samples_(samples), is_accuracy_(options.keep_accuracy.has_value()) {
  if (is_accuracy_) {
    labels_ = read_labels(*options.labels);
    before_ = measure(before);
    least_ = before_ - *options.keep_accuracy - 1e-9;
    return;
  }
  least_ = options.keep_cosine.value_or(0);
  const std::string output = before.first_output();
  for (std::size_t k = 0; k < std::min(samples.size(), kCompared); ++k) {
    const ModelRunner::Values values = before.run(samples, k);
    if (!values.contains(output) || !is_float(values.at(output).type))
      throw Error(ErrorCode::NoClasses, fmt::format("--keep-cosine: the first output, '{}', is no tensor of floats", output));
    exact_.push_back(values.at(output));
  }
}

double Goal::measure(const ModelRunner& model) const {
  if (is_accuracy_) return measure_accuracy(model, samples_, labels_, "accuracy").percent();
  double least = 1;
  for (std::size_t k = 0; k < exact_.size(); ++k)
    least = std::min(least, cosine(exact_[k], model.run(samples_, k).at(model.first_output())));
  return least;
}

std::string Goal::text(double measured) const {
  return is_accuracy_ ? fmt::format("accuracy {:.2f} % instead of {:.2f} %", measured, before_)
                      : fmt::format("least cosine {:.4f}", measured);
}

}  // namespace onnxc
