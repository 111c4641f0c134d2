#include "tools/calibration/accuracy.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "compiler/support/error_codes.h"
#include "tools/calibration/npy_file.h"
#include "tools/driver/files.h"

namespace onnxc {
namespace {

std::vector<int64_t> parse_labels(const std::string& text, const std::string& file) {
  std::vector<int64_t> labels;
  std::size_t line = 1;
  for (std::size_t at = 0; at < text.size(); ++line) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view word = std::string_view(text).substr(at, end - at);
    while (!word.empty() && (word.back() == '\r' || word.back() == ' ')) word.remove_suffix(1);
    at = end + 1;
    if (word.empty()) continue;
    int64_t label = 0;
    const auto [last, error] = std::from_chars(word.data(), word.data() + word.size(), label);
    if (error != std::errc() || last != word.data() + word.size())
      throw Error(ErrorCode::Labels, fmt::format("{}: line {} is '{}', no integer", file, line, one_line(std::string(word.substr(0, 40)))),
                  "labels are an .npy or .npz file of integers, or a text with one on each line");
    labels.push_back(label);
  }
  return labels;
}

/// The classes that an output names, one for each row.
std::vector<int64_t> classes(const TensorData& scores) {
  if (is_integer(scores.type)) return to_integers(scores);
  if (!is_float(scores.type))
    throw Error(ErrorCode::NoClasses, fmt::format("the first output is {}, neither scores nor classes", describe(scores)));
  const std::vector<double> values = to_doubles(scores);
  const std::size_t width = scores.shape.empty() ? 1 : static_cast<std::size_t>(scores.shape.back());
  std::vector<int64_t> found;
  if (width == 1) {
    for (const double value : values) found.push_back(value > 0.5 ? 1 : 0);
    return found;
  }
  for (std::size_t at = 0; width > 0 && at + width <= values.size(); at += width) {
    const auto row = values.begin() + static_cast<std::ptrdiff_t>(at);
    found.push_back(std::max_element(row, row + static_cast<std::ptrdiff_t>(width)) - row);
  }
  return found;
}

}  // namespace

std::vector<int64_t> read_labels(const std::filesystem::path& path) {
  const std::string extension = path.extension().string();
  std::vector<int64_t> labels;
  if (extension == ".npy" || extension == ".npz") {
    const std::vector<NamedArray> arrays = read_arrays(path);
    const auto named = std::ranges::find(arrays, "labels", &NamedArray::name);
    if (named == arrays.end() && arrays.size() != 1)
      throw Error(ErrorCode::Labels, fmt::format("{} has {} arrays, and none is called 'labels'", path.string(), arrays.size()));
    const TensorData& array = named != arrays.end() ? named->tensor : arrays[0].tensor;
    if (!is_integer(array.type))
      throw Error(ErrorCode::Labels, fmt::format("{}: the labels are {}, not integers", path.string(), describe(array)),
                  "save them with .astype(np.int64)");
    labels = to_integers(array);
  } else {
    labels = parse_labels(read_file(path), path.string());
  }
  if (labels.empty()) throw Error(ErrorCode::Labels, fmt::format("{} has no labels", path.string()));
  return labels;
}

Accuracy measure_accuracy(const ModelRunner& model, const Samples& samples, const std::vector<int64_t>& labels, const std::string& what) {
  Accuracy accuracy;
  const std::string output = model.first_output();
  model.run(samples, what, [&](std::size_t, const ModelRunner::Values& values) {
    const auto scores = values.find(output);
    if (scores == values.end())
      throw Error(ErrorCode::NoClasses, fmt::format("the first output, '{}', is no tensor, so it names no class", output));
    for (const int64_t found : classes(scores->second)) {
      if (accuracy.all < labels.size() && labels[accuracy.all] == found) ++accuracy.right;
      ++accuracy.all;
    }
  });
  if (accuracy.all != labels.size())
    throw Error(ErrorCode::Labels,
                fmt::format("{} labels for {} examples: the samples give '{}' so many rows", labels.size(), accuracy.all, output));
  return accuracy;
}

}  // namespace onnxc
