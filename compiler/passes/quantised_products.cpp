// Products and averages of dequantised values:
//
//   r = Conv (DequantizeLinear x sx zx) (DequantizeLinear w sw zw) (DequantizeLinear b sx*sw)
//
// becomes r = cast(sums) * (sx sw), with sums = ByteConv x w, whose start has b and the zero points.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "compiler/ops/in_float.h"
#include "compiler/ops/nn/window.h"
#include "compiler/ops/pool/pool.h"
#include "compiler/ops/quant/integer_product.h"
#include "compiler/ops/quant/linear.h"
#include "compiler/ops/reduce/reduce.h"
#include "compiler/passes/quantised_digits.h"
#include "compiler/passes/quantised_rules.h"

namespace onnxc {
namespace {

/// Constants of at most 8 bits with one scale, or one for each index of `axis`, which is that of the output channels.
Attempt<Dequantised> weights(QuantisedGraph& g, ValueId v, int64_t axis) {
  auto d = g.dequantised_weights(v);
  if (!d) return d;
  const Graph& graph = g.graph();
  if (graph.constant(d->q) == nullptr) return Refusal{"its weights are not constant"};
  const TensorData* scale = graph.constant(d->scale);
  if (scale == nullptr) return Refusal{"the scale of its weights is known only to a run"};
  if (!std::ranges::all_of(to_doubles(*scale), [](double s) { return std::isfinite(s); }))
    return Refusal{"a scale of its weights is not finite"};
  if (!has_one_element(graph[d->scale].type) && (graph[d->scale].type.rank() != 1 || d->axis != axis))
    return Refusal{"the scales of its weights do not run along its output channels"};
  return d;
}

/// Why there is no product of bytes, if an operand is none.
Refusal refusal_of(const Attempt<Dequantised>& x, const Attempt<Dequantised>& w) {
  if (!x.why().empty()) return x.refusal();
  if (!w.why().empty()) return w.refusal();
  return {fmt::format("{} not quantised; QuantizeLinear and DequantizeLinear before would do", !x && !w ? "its operands are"
                                                                                               : !x     ? "its input is"
                                                                                                        : "its weights are")};
}

/// The quantised bias of a product whose factor is known, if its scale is that factor: it is added to the sums.
ValueId bias_of_sums(QuantisedGraph& g, ValueId bias, ValueId x_scale, ValueId w_scale) {
  const Graph& graph = g.graph();
  const auto d = g.dequantised(bias, 32);
  const TensorData *x = graph.constant(x_scale), *w = graph.constant(w_scale);
  if (!d || graph.constant(d->q) == nullptr || graph.constant(d->scale) == nullptr || x == nullptr || w == nullptr) return kAbsent;
  if (graph[d->q].type.rank() != 1) return kAbsent;
  constexpr int64_t kMost = int64_t{1} << 30;  // so that sums do not overflow
  if (std::ranges::any_of(to_integers(*graph.constant(d->q)), [](int64_t v) { return v > kMost || v < -kMost; })) return kAbsent;
  if (const TensorData* zero = graph.constant(d->zero); d->zero != kAbsent) {
    if (zero == nullptr || std::ranges::any_of(to_integers(*zero), [](int64_t z) { return z != 0; })) return kAbsent;
  }
  const std::vector<double> own = to_doubles(*graph.constant(d->scale)), factors = to_doubles(*w);
  const double x_factor = to_doubles(*x)[0];
  const std::size_t count = std::max(own.size(), factors.size());
  for (std::size_t i = 0; i < count; ++i) {
    const double wanted = x_factor * factors[factors.size() == 1 ? 0 : i], found = own[own.size() == 1 ? 0 : i];
    if (!(std::abs(found - wanted) <= 1e-6 * std::abs(wanted))) return kAbsent;
  }
  return d->q;
}

ValueId as_scalar_if_one(GraphBuilder& b, ValueId v) { return has_one_element(b.type(v)) ? as_scalar(b, v) : v; }

/// Activations that products by constant weights take.
Attempt<Dequantised> activations(QuantisedGraph& g, const Node& node) {
  auto bytes = g.dequantised_evenly(node.input(0));
  if (bytes || !g.multiplies_digits() || !is_faster_by_digits(g.graph(), node)) return bytes;
  return g.dequantised_evenly(node.input(0), 16);
}

/// The sums of x times weights in f32. `sums_of` gives those of bytes, in i32 that begin from a bias.
template <class SumsOf>
Attempt<ValueId> real_sums(GraphBuilder& b, const Dequantised& x, ValueId bias, SumsOf sums_of) {
  if (is_byte(b.type(x.q).element)) {
    const Attempt<ValueId> sums = sums_of(Centred{x.q, as_scalar(b, x.zero)}, bias);
    if (!sums) return sums;
    return cast_to(b, *sums, ElementType::F32);
  }
  const auto digits = digits_of(b, x);
  if (!digits) return Refusal{"the zero point of its activations is known only to a run"};
  const Attempt<ValueId> high = sums_of(digits->high, kAbsent), low = sums_of(digits->low, bias);
  if (!high) return high;
  if (!low) return low;
  return join_digits(b, *high, *low);
}

/// real * (x_scale * w_scale) + bias, which run along `axis` of a result of that rank.
ValueId scaled(QuantisedGraph& g, GraphBuilder& b, ValueId real, const Dequantised& x, const Dequantised& w, ValueId bias, int64_t axis,
               int64_t rank) {
  const ValueId factor = along(b, b.op("Mul", {as_scalar(b, x.scale), as_scalar_if_one(b, w.scale)}), axis, rank);
  const ValueId addend = bias == kAbsent ? kAbsent : along(b, bias, axis, rank);
  ValueId result = b.op("Mul", {real, factor});
  if (addend != kAbsent) result = b.op("Add", {result, addend});
  g.scaled[result] = {real, factor, addend};
  return result;
}

Attempt<ValueId> conv(QuantisedGraph& g, GraphBuilder& b, const Node& node) {
  const auto x = activations(g, node), w = weights(g, node.input(1), 0);
  if (!x || !w) return refusal_of(x, w);
  const int64_t rank = b.rank(node.input(1));
  const ValueId bias = bias_of_sums(g, node.input(2), x->scale, w->scale);
  const Centred centred{w->q, w->zero == kAbsent ? kAbsent : along(b, w->zero, 0, rank)};
  const auto sums =
      real_sums(b, *x, bias, [&](const Centred& bytes, ValueId start) { return byte_conv(b, bytes, centred, node.attributes, start); });
  if (!sums) return sums.refusal();
  return scaled(g, b, *sums, *x, *w, bias == kAbsent ? node.input(2) : kAbsent, 1, rank);
}

/// A product of two values that only a run knows.
Attempt<ValueId> matmul_of_values(QuantisedGraph& g, GraphBuilder& b, const Node& node) {
  const auto x = g.dequantised_evenly(node.input(0)), y = g.dequantised_evenly(node.input(1));
  if (!x || !y) return refusal_of(x, y);
  const auto sums = centred_matmul(b, {x->q, as_scalar(b, x->zero)}, {y->q, as_scalar(b, y->zero)});
  if (!sums) return sums.refusal();
  const int64_t rank = b.rank(*sums);
  return scaled(g, b, cast_to(b, *sums, ElementType::F32), *x, *y, kAbsent, rank - 1, rank);
}

Attempt<ValueId> matmul(QuantisedGraph& g, GraphBuilder& b, const Node& node) {
  const bool gemm = node.op == "Gemm", transposed = gemm && node.integer("transB", 0) != 0;
  const auto a = activations(g, node), w = weights(g, node.input(1), transposed ? 0 : 1);
  if (!a || !w) return refusal_of(a, w);
  if (gemm && node.integer("transA", 0) != 0) return Refusal{"it has transA; a Transpose before it would do"};
  if (gemm && (node.number("alpha", 1) != 1 || node.number("beta", 1) != 1))
    return Refusal{"it has alpha or beta; scales that have these factors would do"};
  if (b.rank(w->q) != 2) return Refusal{fmt::format("its weights have {} axes; a matrix would do", b.rank(w->q))};
  if (gemm && node.has_input(2) && (b.rank(node.input(2)) != 1 || b.extents(node.input(2))[0] != b.extents(w->q)[transposed ? 0 : 1]))
    return Refusal{"its bias is no vector with an element for each column"};
  const ValueId bias = gemm ? bias_of_sums(g, node.input(2), a->scale, w->scale) : kAbsent;
  const Centred centred{transposed ? transposed_bytes(b, w->q) : w->q, w->zero == kAbsent ? kAbsent : as_scalar_if_one(b, w->zero)};
  const auto sums = real_sums(b, *a, bias, [&](const Centred& bytes, ValueId start) { return byte_matmul(b, bytes, centred, start); });
  if (!sums) return sums.refusal();
  const int64_t rank = b.rank(*sums);
  return scaled(g, b, *sums, *a, *w, bias == kAbsent && gemm ? node.input(2) : kAbsent, rank - 1, rank);
}

/// (sums - count * zero) * (scale / count), where no sum exceeds `count` bytes.
ValueId mean(QuantisedGraph& g, GraphBuilder& b, ValueId sums, ValueId count, const Dequantised& x, ValueId zero) {
  ValueId real = cast_to(b, sums, ElementType::F32);
  if (zero != kAbsent) real = b.op("Sub", {real, b.op("Mul", {cast_to(b, zero, ElementType::F32), count})});
  const ValueId factor = b.op("Div", {as_scalar(b, x.scale), count}), result = b.op("Mul", {real, factor});
  g.scaled[result] = {real, factor, kAbsent};
  return result;
}

/// The axes that are averaged, if all of them are; sums of the elements that a static shape has there stay exact in f32.
Attempt<std::vector<int64_t>> averaged_axes(const Graph& graph, const Node& node) {
  const Extents& x = graph[node.input(0)].type.extents;
  std::vector<int64_t> axes;
  if (node.op == "GlobalAveragePool") {
    for (int64_t axis = 2; axis < std::ssize(x); ++axis) axes.push_back(axis);
  } else {
    const auto reduced = reduced_axes(graph, node);
    if (!reduced) return Refusal{"its axes are known only to a run"};
    axes.assign(reduced->begin(), reduced->end());
  }
  if (axes.empty()) return std::nullopt;
  if (axes.back() - axes.front() + 1 != std::ssize(axes)) return Refusal{"its axes are not beside each other"};
  Dim count = 1;
  for (const int64_t axis : axes) count *= x[static_cast<std::size_t>(axis)];
  constexpr int64_t kMost = (int64_t{1} << 24) / 255;
  if (!count.is_constant()) return Refusal{"how many values it averages is known only to a run; --dim would fix that"};
  if (count.value() <= 0) return std::nullopt;
  if (count.value() > kMost) return Refusal{fmt::format("it averages {} values, and f32 holds sums of up to {}", count.value(), kMost)};
  return axes;
}

Attempt<ValueId> average_along_axes(QuantisedGraph& g, GraphBuilder& b, const Node& node) {
  const auto x = g.dequantised_evenly(node.input(0));
  if (!x) return x.why().empty() ? Refusal{"its input is not quantised"} : x.refusal();
  const auto axes = averaged_axes(g.graph(), node);
  if (!axes) return axes.refusal();
  const Centred bytes = as_unsigned(b, {x->q, as_scalar(b, x->zero)});
  const ValueId sums = b.op("onnxc.ByteSum", {bytes.value, b.integers(*axes)}),
                average = mean(g, b, sums, count_along(b, x->q, *axes, ElementType::F32), *x, bytes.zero);
  if (node.op == "GlobalAveragePool" || node.integer("keepdims", 1) != 0) return average;
  return b.op("Squeeze", {average, b.integers(*axes)});
}

/// The elements of the padded image that each window averages, [output...]; pads count, or do not.
std::vector<int64_t> window_counts(const Window& window, const Extents& in, const Extents& out, bool pads_count) {
  std::vector<int64_t> counts{1};
  for (std::size_t axis = 0; axis < window.rank(); ++axis) {
    const int64_t begin = window.pads_begin[axis].value(), dilation = window.dilations[axis];
    const int64_t end = in[axis].value() + (pads_count ? window.pads_end[axis].value() : 0);
    // Taps of a window from `origin` on that lie before `limit`.
    const auto taps_before = [&](int64_t origin, int64_t limit) {
      return std::clamp((limit - origin + dilation - 1) / dilation, int64_t{0}, window.kernel[axis].value());
    };
    std::vector<int64_t> next;
    for (const int64_t outer : counts) {
      for (int64_t o = 0; o < out[axis].value(); ++o) {
        const int64_t origin = o * window.strides[axis] - begin;
        next.push_back(outer * (taps_before(origin, end) - (pads_count ? 0 : taps_before(origin, 0))));
      }
    }
    counts = std::move(next);
  }
  return counts;
}

/// The same windows, as many of them, by pads alone.
std::map<std::string, Attribute> padded_windows(const Node& node, const Window& window, const Extents& in, const Extents& out) {
  std::vector<int64_t> pads;
  for (const Dim pad : window.pads_begin) pads.push_back(pad.value());
  for (std::size_t axis = 0; axis < window.rank(); ++axis) {
    const int64_t reach = (out[axis].value() - 1) * window.strides[axis] + (window.kernel[axis].value() - 1) * window.dilations[axis] + 1;
    pads.push_back(std::max(reach - in[axis].value() - pads[axis], int64_t{0}));
  }
  std::map<std::string, Attribute> attributes = node.attributes;
  attributes.erase("auto_pad");
  attributes["pads"] = std::move(pads);
  return attributes;
}

/// A depthwise convolution with weights of 1, whose sums are divided by the number of elements of each window: pads are the zero point.
Attempt<ValueId> average_of_windows(QuantisedGraph& g, GraphBuilder& b, const Node& node) {
  const auto x = g.dequantised_evenly(node.input(0));
  if (!x) return x.why().empty() ? Refusal{"its input is not quantised"} : x.refusal();
  const Extents extents = b.extents(node.input(0)), in = spatial_extents(extents);
  if (extents.size() < 3 || extents.size() > 4)
    return Refusal{fmt::format("it has {} spatial axes, and bytes are averaged along one or two", std::ssize(extents) - 2)};
  if (!extents[1].is_constant()) return Refusal{"the number of its channels is known only to a run; --dim would fix that"};
  const Refusal too_large{"its windows are too large for weights of 1"};
  const int64_t channels = extents[1].value();
  std::vector<int64_t> shape{channels, 1};
  int64_t taps = 1;
  for (const int64_t k : node.integers("kernel_shape")) {
    if (k <= 0 || k > (int64_t{1} << 16)) return too_large;
    shape.push_back(k);
    taps *= k;
  }
  constexpr int64_t kMost = int64_t{1} << 24;
  if (taps > (int64_t{1} << 16) || channels <= 0 || taps * channels > kMost) return too_large;
  const Window window = pool_window(node, extents);
  const bool pads_count = node.integer("count_include_pad", 0) != 0, same = node.string("auto_pad", "NOTSET").starts_with("SAME");
  const bool rounds_up = node.integer("ceil_mode", 0) != 0 && !same;
  const auto is_zero = [](const Dim& pad) { return pad == Dim(0); };
  std::map<std::string, Attribute> attributes = node.attributes;
  ValueId count = b.number(ElementType::F32, static_cast<double>(taps));
  if (rounds_up || same ||
      (!pads_count && !(std::ranges::all_of(window.pads_begin, is_zero) && std::ranges::all_of(window.pads_end, is_zero)))) {
    const Extents out = window_output(node, window, in, rounds_up);
    if (!window.is_static() || !is_static(in) || !is_static(out))
      return Refusal{"how many elements its windows have is known only to a run; --dim would fix that"};
    if (element_count(out).value() > kMost) return too_large;
    const std::vector<int64_t> counts = window_counts(window, in, out, pads_count);
    if (counts.empty() || std::ranges::find(counts, 0) != counts.end()) return Refusal{"a window of it has no elements"};
    TensorData numbers = TensorData::zeros(ElementType::F32, values(out));
    const std::vector<float> floats(counts.begin(), counts.end());
    std::memcpy(numbers.bytes.data(), floats.data(), numbers.bytes.size());
    const bool equal = std::ranges::all_of(counts, [&](int64_t n) { return n == counts[0]; });
    count = equal ? b.number(ElementType::F32, static_cast<double>(counts[0]))
                  : b.graph().add_constant("counts", std::make_shared<const TensorData>(std::move(numbers)));
    attributes = padded_windows(node, window, in, out);
  }
  for (const char* own : {"ceil_mode", "count_include_pad"}) attributes.erase(own);
  attributes["group"] = channels;
  TensorData ones;
  ones.type = ElementType::I8;
  ones.shape = shape;
  ones.bytes.assign(static_cast<std::size_t>(taps * channels), std::byte{1});
  const ValueId w = b.graph().add_constant("ones", std::make_shared<const TensorData>(std::move(ones)));
  const auto sums = byte_conv(b, {x->q, as_scalar(b, x->zero)}, {w, kAbsent}, std::move(attributes));
  if (!sums) return sums.refusal();
  return mean(g, b, *sums, count, *x, kAbsent);
}

}  // namespace

Attempt<ValueId> product_of_bytes(QuantisedGraph& g, GraphBuilder& b, const Node& node) {
  if (!node.domain.empty()) return std::nullopt;
  if (node.op == "Conv") return conv(g, b, node);
  if (node.op == "MatMul" || node.op == "Gemm") {
    auto product = matmul(g, b, node);
    const auto right = g.dequantised(node.input(1));
    if (product || node.op == "Gemm" || (right && g.graph().constant(right->q) != nullptr)) return product;
    return matmul_of_values(g, b, node);
  }
  return std::nullopt;
}

Attempt<ValueId> average_of_bytes(QuantisedGraph& g, GraphBuilder& b, const Node& node) {
  if (!node.domain.empty()) return std::nullopt;
  if (node.op == "GlobalAveragePool" || node.op == "ReduceMean") return average_along_axes(g, b, node);
  if (node.op == "AveragePool") return average_of_windows(g, b, node);
  return std::nullopt;
}

}  // namespace onnxc
