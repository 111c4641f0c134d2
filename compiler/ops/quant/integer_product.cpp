#include "compiler/ops/quant/integer_product.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "compiler/ops/in_float.h"
#include "compiler/ops/quant/byte_products.h"
#include "compiler/ops/quant/linear.h"

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

/// weights - zero| of a constant tensor. Empty if it is not constant. The zero point has one element, or one for each output channel.
std::optional<std::vector<double>> magnitudes(Graph& graph, const Centred& w) {
  const TensorData* values = graph.constant(w.value);
  const TensorData* zero = graph.constant(w.zero);
  if (values == nullptr || (w.zero != kAbsent && zero == nullptr)) return std::nullopt;
  std::vector<double> list = to_doubles(*values), zeros = zero != nullptr ? to_doubles(*zero) : std::vector<double>{0};
  const auto channels = static_cast<std::size_t>(values->shape[0]);
  const std::size_t inner = list.size() / channels;
  if (zeros.size() != 1 && zeros.size() != channels) return std::nullopt;
  for (std::size_t i = 0; i < list.size(); ++i) list[i] = std::abs(list[i] - zeros[zeros.size() == 1 ? 0 : i / inner]);
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

namespace {

/// Sums of so many products of bytes, with what zero points add, stay far within 32 bits.
constexpr int64_t kMostTerms = (int64_t{1} << 29) / (255 * 128);

/// Weights as i8: less their zero points where that fits, else less 128 if they are u8. Element i belongs to output channel i / inner % channels.
struct ByteWeights {
  std::vector<int8_t> weights;
  std::vector<int32_t> sums;   ///< of each channel
  std::vector<int32_t> zeros;  ///< of each channel, what is still to be subtracted from weights; empty if that is nothing
};
Attempt<ByteWeights> byte_weights(Graph& graph, const Centred& w, std::size_t inner, std::size_t channels) {
  const TensorData *values = graph.constant(w.value), *zero = graph.constant(w.zero);
  if (values == nullptr) return Refusal{"its weights are not constant"};
  if (values->count() == 0) return std::nullopt;
  if (w.zero != kAbsent && zero == nullptr) return Refusal{"the zero point of its weights is known only to a run"};
  const std::vector<int64_t> list = to_integers(*values), zeros = zero != nullptr ? to_integers(*zero) : std::vector<int64_t>{0};
  if (zeros.size() != 1 && zeros.size() != channels)
    return Refusal{"the zero points of its weights are not one, nor one for each output channel"};
  if (const int64_t terms = values->count() / static_cast<int64_t>(channels); terms > kMostTerms)
    return Refusal{fmt::format("its sums have {} products, and those of more than {} may exceed 32 bits", terms, kMostTerms)};
  const auto zero_of = [&](std::size_t channel) { return zeros[zeros.size() == 1 ? 0 : channel]; };
  const auto fill = [&](auto shift) -> std::optional<ByteWeights> {
    ByteWeights out{.weights = {}, .sums = std::vector<int32_t>(channels, 0), .zeros = {}};
    for (std::size_t i = 0; i < list.size(); ++i) {
      const std::size_t channel = i / inner % channels;
      const int64_t value = list[i] - shift(channel);
      if (value < -128 || value > 127) return std::nullopt;
      out.weights.push_back(static_cast<int8_t>(value));
      out.sums[channel] += static_cast<int32_t>(value);
    }
    return out;
  };
  if (auto centred = fill(zero_of)) return *std::move(centred);
  const int64_t shift = is_signed(values->type) ? 0 : 128;
  auto shifted = fill([shift](std::size_t) { return shift; });
  for (std::size_t channel = 0; channel < channels && shifted; ++channel)
    shifted->zeros.push_back(static_cast<int32_t>(zero_of(channel) - shift));
  ONNXC_CHECK(shifted.has_value(), "bytes fit in i8, less 128 if they are unsigned");
  return *std::move(shifted);
}

template <class T>
ValueId constant(GraphBuilder& b, ElementType type, std::vector<int64_t> shape, const std::vector<T>& values) {
  TensorData tensor;
  tensor.type = type;
  tensor.shape = std::move(shape);
  const auto* const first = reinterpret_cast<const std::byte*>(values.data());
  tensor.bytes.assign(first, first + values.size() * sizeof(T));
  return b.graph().add_constant("bytes", std::make_shared<const TensorData>(std::move(tensor)));
}

/// bias - zero * sums, per channel; absent if it is zero.
ValueId start_of(GraphBuilder& b, ValueId zero, const std::vector<int32_t>& sums, ValueId bias) {
  if (zero == kAbsent) return bias;
  const ValueId moved =
      b.op("Mul", {cast_to(b, as_scalar(b, zero), ElementType::I32), constant(b, ElementType::I32, {std::ssize(sums)}, sums)});
  return bias == kAbsent ? b.op("Neg", {moved}) : b.op("Sub", {bias, moved});
}

/// Zero points of weights, as i32 of that shape, or as one value if they are equal.
ValueId zeros_of(GraphBuilder& b, const ByteWeights& w, std::vector<int64_t> shape) {
  const bool equal = std::ranges::all_of(w.zeros, [&](int32_t z) { return z == w.zeros[0]; });
  return equal ? b.number(ElementType::I32, w.zeros[0]) : constant(b, ElementType::I32, std::move(shape), w.zeros);
}

}  // namespace

Centred as_unsigned(GraphBuilder& b, const Centred& x) {
  if (b.type(x.value).element == ElementType::U8) return x;
  const auto moved = [&](ValueId v) {
    return cast_to(b, b.op("Add", {cast_to(b, v, ElementType::F32), b.number(ElementType::F32, 128)}), ElementType::U8);
  };
  return {moved(x.value), x.zero == kAbsent ? b.number(ElementType::U8, 128) : moved(x.zero)};
}

Attempt<ValueId> byte_matmul(GraphBuilder& b, const Centred& left, const Centred& right, ValueId bias) {
  const Extents& shape = b.extents(right.value);
  if (b.graph().constant(right.value) == nullptr) return Refusal{"its weights are not constant"};
  if (shape.size() != 2) return Refusal{fmt::format("its weights have {} axes; a matrix would do", shape.size())};
  if (left.zero != kAbsent && !(element_count(b.extents(left.zero)) == Dim(1)))
    return Refusal{"its input has several zero points; one would do"};
  const int64_t k = shape[0].value(), n = shape[1].value();
  const auto w = byte_weights(b.graph(), right, 1, static_cast<std::size_t>(n));
  if (!w) return w.refusal();
  const Centred a = as_unsigned(b, left);
  const ValueId sums =
      b.op("onnxc.ByteMatMul", {a.value, constant(b, ElementType::I8, {k, n}, w->weights), start_of(b, a.zero, w->sums, bias)});
  if (w->zeros.empty()) return sums;
  // What is still to be subtracted from each weight meets the sum of a row.
  const int64_t last = b.rank(a.value) - 1;
  ValueId rows = b.op("onnxc.ByteSum", {a.value, b.integers({last})});
  if (a.zero != kAbsent)
    rows =
        b.op("Sub",
             {rows, b.op("Mul", {cast_to(b, as_scalar(b, a.zero), ElementType::I32), b.number(ElementType::I32, static_cast<double>(k))})});
  if (last == 0) rows = as_scalar(b, rows);
  return b.op("Sub", {sums, b.op("Mul", {rows, zeros_of(b, *w, {n})})});
}

Attempt<ValueId> centred_matmul(GraphBuilder& b, const Centred& left, const Centred& right) {
  const auto is_one = [&](ValueId zero) { return zero == kAbsent || element_count(b.extents(zero)) == Dim(1); };
  if (!is_one(left.zero) || !is_one(right.zero)) return Refusal{"an operand has several zero points; one would do"};
  if (b.rank(left.value) < 2 || b.rank(right.value) < 2) return Refusal{"an operand is a vector; a matrix of one row or column would do"};
  const Centred a = as_unsigned(b, left), w = as_unsigned(b, right);
  return b.op("onnxc.CentredMatMul", {a.value, w.value, a.zero, w.zero});
}

ValueId integer_matmul(GraphBuilder& b, const Centred& left, const Centred& right) {
  const auto by_constant = byte_matmul(b, left, right);
  if (by_constant) return *by_constant;
  const auto product = centred_matmul(b, left, right);
  if (product) return *product;
  b.in_floats(b.graph().constant(right.value) != nullptr ? by_constant.why() : product.why());
  return b.op("MatMul", {centre(b, left, ElementType::I32), centre(b, right, ElementType::I32)});
}

namespace {

int64_t group_of(const std::map<std::string, Attribute>& attributes) {
  const auto group = attributes.find("group");
  return group == attributes.end() ? 1 : std::get<int64_t>(group->second);
}

/// How many neighbouring groups of a convolution become one, whose weights for the channels of other groups are zeros, so that kernels for bytes can
/// compute it; 0: it would take too many products in vain.
int64_t groups_to_join(const Extents& w, int64_t group) {
  constexpr int64_t kMost = 8;
  for (int64_t joined = 1; joined <= std::min(group, kMost); ++joined) {
    Extents shape = w;
    shape[1] *= joined;
    if (group % joined == 0 && has_byte_groups(shape, group / joined)) return joined;
  }
  return 0;
}

/// The weights of so many neighbouring groups as those of one.
std::vector<int8_t> join_groups(const std::vector<int8_t>& w, const std::vector<int64_t>& shape, int64_t group, int64_t joined) {
  const int64_t outputs = shape[0] / group, channels = shape[1], taps = std::ssize(w) / (shape[0] * channels);
  std::vector<int8_t> out(w.size() * static_cast<std::size_t>(joined));
  for (int64_t m = 0; m < shape[0]; ++m) {
    const int64_t own = m / outputs % joined;
    std::copy_n(w.begin() + m * channels * taps, channels * taps, out.begin() + (m * joined + own) * channels * taps);
  }
  return out;
}

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
  const auto list = magnitudes(graph, w);
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

Attempt<ValueId> byte_conv(GraphBuilder& b, const Centred& x, const Centred& w, std::map<std::string, Attribute> attributes, ValueId bias) {
  const Extents shape = b.extents(w.value);
  if (b.graph().constant(w.value) == nullptr) return Refusal{"its weights are not constant"};
  if (shape.size() < 3 || shape.size() > 4)
    return Refusal{fmt::format("it has {} spatial axes, and bytes are convolved along one or two", std::ssize(shape) - 2)};
  if (element_count(shape).value() == 0) return std::nullopt;
  const int64_t group = group_of(attributes), joined = groups_to_join(shape, group);
  if (joined == 0)
    return Refusal{fmt::format("its groups read {} channels and give {}; one of each, or a multiple of 4 that they read, would do",
                               shape[1].value(), shape[0].value() / std::max<int64_t>(group, 1))};
  const auto channels = static_cast<std::size_t>(shape[0].value());
  const auto bytes = byte_weights(b.graph(), w, static_cast<std::size_t>(element_count(shape).value()) / channels, channels);
  if (!bytes) return bytes.refusal();
  int64_t outside = 0;
  if (x.zero != kAbsent) {
    const TensorData* zero = b.graph().constant(x.zero);
    if (zero == nullptr) return Refusal{"the zero point of its input is known only to a run"};
    if (zero->count() != 1) return Refusal{"its input has several zero points; one would do"};
    outside = to_integers(*zero)[0];
  }
  if (b.type(x.value).element == ElementType::I8) outside += 128;
  const Centred image = as_unsigned(b, x);
  std::vector<int64_t> dims;
  for (Dim d : shape) dims.push_back(d.value());
  const bool depthwise = dims[1] == 1 && group == dims[0];
  if (!bytes->zeros.empty() && group != 1 && !depthwise)
    return Refusal{"its weights have groups, and less their zero points they are no i8; zero points of 0, or 128 for u8, would do"};
  attributes["outside"] = outside;
  std::vector<int64_t> joined_dims = dims;
  joined_dims[1] *= joined;
  if (joined > 1) attributes["group"] = group / joined;
  const ValueId weights = constant(b, ElementType::I8, joined_dims, join_groups(bytes->weights, dims, group, joined));
  const ValueId sums = b.op("onnxc.ByteConv", {image.value, weights, start_of(b, image.zero, bytes->sums, bias)}, attributes);
  if (bytes->zeros.empty()) return sums;
  // What is still to be subtracted from each weight meets the sum of a window.
  std::vector<int64_t> ones_shape = dims, along_channels(dims.size() - 1, 1);
  if (group == 1) ones_shape[0] = 1;
  int64_t count = 1;
  for (const int64_t extent : ones_shape) count *= extent;
  const std::vector<int8_t> ones(static_cast<std::size_t>(count), 1);
  const std::vector<int32_t> of_ones(static_cast<std::size_t>(ones_shape[0]), static_cast<int32_t>(count / ones_shape[0]));
  const ValueId windows =
      b.op("onnxc.ByteConv", {image.value, constant(b, ElementType::I8, ones_shape, ones), start_of(b, image.zero, of_ones, kAbsent)},
           std::move(attributes));
  along_channels[0] = dims[0];
  return b.op("Sub", {sums, b.op("Mul", {windows, zeros_of(b, *bytes, along_channels)})});
}

ValueId integer_conv(GraphBuilder& b, const Centred& x, const Centred& w, std::map<std::string, Attribute> attributes, ValueId bias) {
  const auto product = byte_conv(b, x, w, attributes, bias);
  if (product) return *product;
  b.in_floats(product.why());
  const bool grouped = group_of(attributes) != 1;
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
