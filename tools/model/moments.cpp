#include "tools/model/moments.h"

#include <algorithm>
#include <numeric>

namespace onnxc {
namespace {

/// Where the patches of a convolution lie. Axes are the spatial ones.
struct Windows {
  std::vector<int64_t> image, kernel, strides, dilations, begins, outputs;
};

Windows windows_of(const onnx::NodeProto& node, const std::vector<int64_t>& weight_shape, const std::vector<int64_t>& input_shape) {
  Windows w;
  w.image.assign(input_shape.begin() + 2, input_shape.end());
  w.kernel.assign(weight_shape.begin() + 2, weight_shape.end());
  const std::size_t axes = w.image.size();
  const auto attribute = [&](const char* name, std::size_t length, int64_t otherwise) {
    std::vector<int64_t> values = integers_attribute(node, name);
    values.resize(length, otherwise);
    return values;
  };
  w.strides = attribute("strides", axes, 1);
  w.dilations = attribute("dilations", axes, 1);
  w.begins = attribute("pads", 2 * axes, 0);
  const onnx::AttributeProto* auto_pad = find_attribute(node, "auto_pad");
  const bool is_same = auto_pad != nullptr && auto_pad->s().starts_with("SAME");
  for (std::size_t axis = 0; axis < axes; ++axis) {
    const int64_t reach = (w.kernel[axis] - 1) * w.dilations[axis] + 1;
    int64_t padded = w.image[axis] + w.begins[axis] + w.begins[axes + axis];
    if (is_same) {
      const int64_t outputs = (w.image[axis] + w.strides[axis] - 1) / w.strides[axis];
      const int64_t pad = std::max<int64_t>(0, (outputs - 1) * w.strides[axis] + reach - w.image[axis]);
      w.begins[axis] = auto_pad->s() == "SAME_LOWER" ? pad - pad / 2 : pad / 2;
      padded = w.image[axis] + pad;
    }
    w.outputs.push_back(padded < reach ? 0 : (padded - reach) / w.strides[axis] + 1);
  }
  return w;
}

int64_t product(const std::vector<int64_t>& extents) {
  return std::accumulate(extents.begin(), extents.end(), int64_t{1}, std::multiplies<>());
}

/// Advances an index like an odometer; false when it is back at the start.
bool advance(std::vector<int64_t>& index, const std::vector<int64_t>& extents) {
  for (std::size_t axis = index.size(); axis-- > 0;) {
    if (++index[axis] < extents[axis]) return true;
    index[axis] = 0;
  }
  return false;
}

/// The patch of one output pixel, channel by channel, as the rows of the weights of all groups lie.
void copy_patch(const Windows& w, const float* image, int64_t channels, int64_t pixel, std::vector<float>& row) {
  std::vector<int64_t> at(w.image.size()), tap(w.image.size());
  for (std::size_t axis = at.size(); axis-- > 0;) {
    at[axis] = pixel % w.outputs[axis] * w.strides[axis] - w.begins[axis];
    pixel /= w.outputs[axis];
  }
  const int64_t taps = product(w.kernel), pixels = product(w.image);
  row.assign(static_cast<std::size_t>(channels * taps), 0.0f);
  for (int64_t t = 0; t < taps; ++t) {
    int64_t from = 0;
    bool is_inside = true;
    for (std::size_t axis = 0; axis < at.size(); ++axis) {
      const int64_t position = at[axis] + tap[axis] * w.dilations[axis];
      is_inside &= position >= 0 && position < w.image[axis];
      from = from * w.image[axis] + position;
    }
    for (int64_t c = 0; is_inside && c < channels; ++c) row[static_cast<std::size_t>(c * taps + t)] = image[c * pixels + from];
    advance(tap, w.kernel);
  }
}

}  // namespace

Moments::Moments(int64_t columns, int64_t groups, int64_t columns_of_block)
    : columns_(columns), groups_(groups), columns_of_block_(columns_of_block), sums_(static_cast<std::size_t>(columns * groups)) {
  for (int64_t g = 0; g < groups; ++g) {
    for (int64_t b = 0; b < blocks(); ++b) second_.emplace_back(static_cast<std::size_t>(block_columns(b) * block_columns(b)));
  }
}

void Moments::add(const Layer& layer, const onnx::NodeProto& node, const std::vector<int64_t>& weight_shape, const TensorData& input,
                  int64_t wanted) {
  const auto values = input.as<float>();
  const auto draw = [&](int64_t below) {
    random_ = random_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<int64_t>((random_ >> 33) % static_cast<uint64_t>(below));
  };
  std::vector<float> row(static_cast<std::size_t>(columns_ * groups_));
  if (layer.kind != Layer::Kind::Conv) {
    const int64_t rows = columns_ == 0 ? 0 : static_cast<int64_t>(values.size()) / columns_;
    for (int64_t i = 0; i < std::min(rows, wanted); ++i) {
      const float* const from = values.data() + (rows <= wanted ? i : draw(rows)) * columns_;
      std::copy(from, from + columns_, row.begin());
      add_row(row);
    }
    return;
  }
  const Windows w = windows_of(node, weight_shape, input.shape);
  const int64_t channels = input.shape[1], pixels = product(w.outputs), all = input.shape[0] * pixels;
  if (channels * product(w.kernel) != columns_ * groups_) return;
  for (int64_t i = 0; i < std::min(all, wanted); ++i) {
    const int64_t at = all <= wanted ? i : draw(all);
    copy_patch(w, values.data() + at / pixels * channels * product(w.image), channels, at % pixels, row);
    add_row(row);
  }
}

void Moments::add_row(const std::vector<float>& row) {
  ++rows_;
  for (std::size_t i = 0; i < row.size(); ++i) sums_[i] += static_cast<double>(row[i]);
  for (int64_t g = 0; g < groups_; ++g) {
    for (int64_t b = 0; b < blocks(); ++b) {
      const int64_t n = block_columns(b);
      const float* const x = row.data() + g * columns_ + b * columns_of_block_;
      double* const matrix = second_[static_cast<std::size_t>(g * blocks() + b)].data();
      for (int64_t i = 0; i < n; ++i) {
        const double factor = static_cast<double>(x[i]);
        if (factor == 0) continue;
        for (int64_t j = 0; j <= i; ++j) matrix[i * n + j] += factor * static_cast<double>(x[j]);
      }
    }
  }
}

std::vector<double> Moments::block(int64_t group, int64_t block) const {
  const int64_t n = block_columns(block);
  std::vector<double> matrix = second_[static_cast<std::size_t>(group * blocks() + block)];
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      const double value = rows_ == 0 ? 0 : matrix[static_cast<std::size_t>(i * n + j)] / static_cast<double>(rows_);
      matrix[static_cast<std::size_t>(i * n + j)] = matrix[static_cast<std::size_t>(j * n + i)] = value;
    }
  }
  return matrix;
}

double Moments::power(int64_t group, int64_t column) const {
  const int64_t b = column / columns_of_block_, i = column % columns_of_block_, n = block_columns(b);
  return rows_ == 0
             ? 0
             : second_[static_cast<std::size_t>(group * blocks() + b)][static_cast<std::size_t>(i * n + i)] / static_cast<double>(rows_);
}

double Moments::power(int64_t group, const float* d) const {
  double sum = 0;
  for (int64_t b = 0; b < blocks(); ++b) {
    const int64_t n = block_columns(b);
    const float* const x = d + b * columns_of_block_;
    const double* const matrix = second_[static_cast<std::size_t>(group * blocks() + b)].data();
    for (int64_t i = 0; i < n; ++i) {
      double inner = 0;
      for (int64_t j = 0; j < i; ++j) inner += matrix[i * n + j] * static_cast<double>(x[j]);
      sum += static_cast<double>(x[i]) * (2 * inner + matrix[i * n + i] * static_cast<double>(x[i]));
    }
  }
  return rows_ == 0 ? 0 : sum / static_cast<double>(rows_);
}

Moments moments_for_inputs(const Layer& layer, const onnx::GraphProto& graph, const GraphIndex& index, int64_t columns_of_block) {
  if (!layer.multiplies() || index.readers(layer.weight).size() != 1) return {};
  const onnx::NodeProto& node = graph.node(layer.node);
  const onnx::TensorProto& weight = *index.initialiser(layer.weight);
  const int64_t groups = layer.kind == Layer::Kind::Conv ? std::max<int64_t>(1, integer_attribute(node, "group", 1)) : 1;
  const int64_t rows = weight.dims(static_cast<int>(row_axis(layer, node)));
  if (rows == 0 || rows % groups != 0) return {};
  return {to_tensor(weight).count() / rows, groups, columns_of_block};
}

}  // namespace onnxc
