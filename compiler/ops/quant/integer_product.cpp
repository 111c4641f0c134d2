#include "compiler/ops/quant/integer_product.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "compiler/ops/in_float.h"

namespace onnxc {
namespace {

constexpr double kExact = 16777216.0;  // 2^24: f32 holds all integers up to it

/// The largest possible |value - zero|.
double largest(const GraphBuilder& b, Graph& graph, const Centred& x) {
  const ElementType type = b.type(x.value).element;
  const double low = is_signed(type) ? -128 : 0, high = is_signed(type) ? 127 : 255;
  double zero_low = x.zero == kAbsent ? 0 : low, zero_high = x.zero == kAbsent ? 0 : high;
  if (const TensorData* zero = graph.constant(x.zero); zero != nullptr && zero->count() > 0) {
    const auto list = to_doubles(*zero);
    zero_low = *std::min_element(list.begin(), list.end());
    zero_high = *std::max_element(list.begin(), list.end());
  }
  return std::max(high - zero_low, zero_high - low);
}

ValueId centre(GraphBuilder& b, const Centred& x, ElementType type) {
  const ValueId value = cast_to(b, x.value, type);
  return x.zero == kAbsent ? value : b.op("Sub", {value, cast_to(b, x.zero, type)});
}

/// weights - zero| of a constant tensor. Empty if it is not constant. The zero point has one element, or one for each index along `axis`.
std::optional<std::vector<double>> magnitudes(Graph& graph, const Centred& w, std::size_t axis) {
  const TensorData* values = graph.constant(w.value);
  const TensorData* zero = graph.constant(w.zero);
  if (values == nullptr || (w.zero != kAbsent && zero == nullptr)) return std::nullopt;
  std::vector<double> list = to_doubles(*values), zeros = zero != nullptr ? to_doubles(*zero) : std::vector<double>{0};
  std::size_t inner = 1;
  for (std::size_t k = axis + 1; k < values->shape.size(); ++k) inner *= static_cast<std::size_t>(values->shape[k]);
  const auto channels = static_cast<std::size_t>(values->shape[axis]);
  if (zeros.size() != 1 && zeros.size() != channels) return std::nullopt;
  for (std::size_t i = 0; i < list.size(); ++i) list[i] = std::abs(list[i] - zeros[zeros.size() == 1 ? 0 : i / inner % channels]);
  return list;
}

/// Where to cut [0, length) so that in every part the sums of each column stay below `limit`. The sums of the first
/// part start from `sums`, and `add` adds the contribution of step i. Empty if a single step exceeds the limit.
std::vector<int64_t> cuts(int64_t length, std::vector<double> sums, double limit,
                          const std::function<void(int64_t, std::vector<double>&)>& add) {
  std::vector<int64_t> ends;
  std::vector<double> next;
  const std::size_t columns = sums.size();
  for (int64_t i = 0; i < length; ++i) {
    next = sums;
    add(i, next);
    if (std::ranges::any_of(next, [&](double s) { return s > limit; })) {
      if (i == (ends.empty() ? 0 : ends.back())) return {};
      ends.push_back(i);
      next.assign(columns, 0.0);
      add(i, next);
      if (std::ranges::any_of(next, [&](double s) { return s > limit; })) return {};
    }
    sums.swap(next);
  }
  ends.push_back(length);
  return ends;
}

ValueId slice(GraphBuilder& b, ValueId v, int64_t first, int64_t last, int64_t axis) {
  return b.op("Slice", {v, b.integers({first}), b.integers({last}), b.integers({axis})});
}

/// The sum of product(first, last) over all parts, added in i32 if there are several.
ValueId add_parts(GraphBuilder& b, const std::vector<int64_t>& ends, const std::function<ValueId(int64_t, int64_t)>& product) {
  ValueId sum = kAbsent;
  int64_t first = 0;
  for (int64_t last : ends) {
    const ValueId part = product(first, last);
    if (ends.size() == 1) return part;
    const ValueId whole = cast_to(b, part, ElementType::I32);
    sum = sum == kAbsent ? whole : b.op("Add", {sum, whole});
    first = last;
  }
  return sum;
}

}  // namespace

ValueId integer_matmul(GraphBuilder& b, const Centred& left, const Centred& right) {
  Graph& graph = b.graph();
  const Extents shape = b.extents(right.value);
  const std::size_t axis = shape.size() == 1 ? 0 : shape.size() - 2;
  std::vector<int64_t> ends;
  if (shape[axis].is_constant() && shape[axis].value() > 0) {
    const int64_t k = shape[axis].value();
    const double limit = kExact / largest(b, graph, left);
    if (const auto list = magnitudes(graph, right, shape.size() - 1)) {
      const std::size_t n = shape.size() == 1 ? 1 : static_cast<std::size_t>(shape.back().value());
      const std::size_t matrix = n * static_cast<std::size_t>(k), matrices = matrix == 0 ? 0 : list->size() / matrix;
      ends = cuts(k, std::vector<double>(n * matrices, 0.0), limit, [&](int64_t i, std::vector<double>& sums) {
        for (std::size_t column = 0; column < sums.size(); ++column)
          sums[column] += (*list)[column / n * matrix + static_cast<std::size_t>(i) * n + column % n];
      });
    } else {
      const double most = largest(b, graph, right);
      ends = cuts(k, {0.0}, limit, [&](int64_t, std::vector<double>& sums) { sums[0] += most; });
    }
  }
  if (ends.empty()) return b.op("MatMul", {centre(b, left, ElementType::I32), centre(b, right, ElementType::I32)});
  const ValueId x = centre(b, left, ElementType::F32), w = centre(b, right, ElementType::F32);
  return add_parts(b, ends, [&](int64_t first, int64_t last) {
    if (ends.size() == 1) return b.op("MatMul", {x, w}, {{"exact", int64_t{1}}});
    return b.op("MatMul", {slice(b, x, first, last, b.rank(x) - 1), slice(b, w, first, last, static_cast<int64_t>(axis))},
                {{"exact", int64_t{1}}});
  });
}

namespace {

/// The cuts along the input channels of a convolution. Empty if f32 is not exact.
std::vector<int64_t> conv_cuts(GraphBuilder& b, const Centred& x, const Centred& w, bool grouped, const TensorData* bias) {
  Graph& graph = b.graph();
  const Extents shape = b.extents(w.value);
  if (!is_static(shape) || element_count(shape).value() == 0) return {};
  const int64_t channels = shape[1].value(), outputs = shape[0].value(), taps = element_count(shape).value() / channels / outputs;
  const double most = largest(b, graph, x);
  std::vector<double> sums(static_cast<std::size_t>(outputs), 0.0);
  if (bias != nullptr) {
    const auto list = to_doubles(*bias);
    for (std::size_t m = 0; m < sums.size(); ++m) sums[m] = std::abs(list[m]) / most;
  }
  const auto list = magnitudes(graph, w, 0);
  const double each = list ? 0 : largest(b, graph, w) * static_cast<double>(taps);
  std::vector<int64_t> ends = cuts(channels, std::move(sums), kExact / most, [&](int64_t c, std::vector<double>& next) {
    for (std::size_t m = 0; m < next.size(); ++m) {
      if (!list) {
        next[m] += each;
        continue;
      }
      const double* first = list->data() + (static_cast<int64_t>(m) * channels + c) * taps;
      for (int64_t tap = 0; tap < taps; ++tap) next[m] += first[tap];
    }
  });
  if (grouped && ends.size() > 1) return {};
  return ends;
}

}  // namespace

ValueId integer_conv(GraphBuilder& b, const Centred& x, const Centred& w, std::map<std::string, Attribute> attributes, ValueId bias) {
  const auto group = attributes.find("group");
  const bool grouped = group != attributes.end() && std::get<int64_t>(group->second) != 1;
  const TensorData* known = b.graph().constant(bias);
  std::vector<int64_t> ends;
  if (known != nullptr) ends = conv_cuts(b, x, w, grouped, known);
  const bool joins = !ends.empty();  // the bias is added in f32
  if (!joins) ends = conv_cuts(b, x, w, grouped, nullptr);
  attributes["exact"] = int64_t{1};
  const ElementType type = ends.empty() ? ElementType::I32 : ElementType::F32;
  const ValueId image = centre(b, x, type), weights = centre(b, w, type);
  const ValueId addend = joins ? cast_to(b, bias, type) : kAbsent;
  ValueId sum;
  if (ends.empty()) {
    sum = b.op("Conv", {image, weights}, attributes);
  } else {
    sum = add_parts(b, ends, [&](int64_t first, int64_t last) {
      const ValueId of_first = first == 0 ? addend : kAbsent;
      if (ends.size() == 1) return b.op("Conv", {image, weights, of_first}, attributes);
      return b.op("Conv", {slice(b, image, first, last, 1), slice(b, weights, first, last, 1), of_first}, attributes);
    });
  }
  if (bias == kAbsent || joins) return sum;
  std::vector<int64_t> axes;
  for (int64_t k = 1; k + 1 < b.rank(sum); ++k) axes.push_back(k);
  return b.op("Add", {cast_to(b, sum, ElementType::I32), axes.empty() ? bias : b.op("Unsqueeze", {bias, b.integers(axes)})});
}

}  // namespace onnxc
