// ConvTranspose of dequantised values by constant dequantised weights, as a convolution whose outputs are the phases of the stride, and DepthToSpace:
//
//   y[s q + r] = sum over k with (r + pad - k) divisible by s of x[q + (r + pad - k) / s] w[k]
//
// so that phase r of an output is the convolution of x by some of the taps, at offsets d = (r + pad - k) / s. All phases read the same window, whose other
// weights are the zero point. Where the kernel is as large as the stride, each phase has one tap, and nothing is computed in vain.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/ops/nn/conv_transpose.h"
#include "compiler/passes/quantised_rules.h"

namespace onnxc {
namespace {

/// The window of all phases along an axis.
struct Phases {
  int64_t kernel, stride, pad, out;
  int64_t first = 0, taps = 0;  ///< offsets d in [first, first + taps)
  int64_t positions = 0;        ///< q in [0, positions)
  int64_t pad_end = 0;

  /// The index k of the tap at offset `first + t` in phase r; may lie outside of the kernel.
  int64_t tap(int64_t r, int64_t t) const { return r + pad - stride * (first + t); }
  bool has(int64_t k) const { return k >= 0 && k < kernel; }
};

std::optional<Phases> phases_of(const ConvTransposeWindow& t, std::size_t axis, const Dim& in) {
  if (!in.is_constant() || !t.out[axis].is_constant() || t.window.dilations[axis] != 1) return std::nullopt;
  Phases p{.kernel = t.window.kernel[axis].value(),
           .stride = t.window.strides[axis],
           .pad = t.window.pads_begin[axis].value(),
           .out = t.out[axis].value()};
  if (p.out <= 0) return std::nullopt;
  // The greatest offset is that of the last phase at k = 0, or of the first phase that k = 0 has; the least that of the last tap.
  const int64_t last = (p.stride - 1 + p.pad) / p.stride;
  p.first = p.pad - p.kernel + 1 > 0 ? (p.pad - p.kernel + p.stride) / p.stride : -((p.kernel - 1 - p.pad) / p.stride);
  p.taps = last - p.first + 1;
  p.positions = (p.out + p.stride - 1) / p.stride;
  p.pad_end = p.positions - 1 + last - (in.value() - 1);
  if (p.first > 0 || p.taps <= 0 || p.pad_end < 0) return std::nullopt;
  return p;
}

ValueId constant(GraphBuilder& b, ElementType type, std::vector<int64_t> shape, const std::vector<int64_t>& values) {
  TensorData tensor = TensorData::zeros(type, std::move(shape));
  const std::size_t size = tensor.bytes.size() / values.size();
  for (std::size_t i = 0; i < values.size(); ++i) std::memcpy(tensor.bytes.data() + i * size, &values[i], size);  // the low bytes
  return b.graph().add_constant("phases", std::make_shared<const TensorData>(std::move(tensor)));
}

/// A value for each output channel, for all phases: those of a phase are neighbours.
template <class T>
std::vector<T> for_phases(const std::vector<T>& values, int64_t phases) {
  std::vector<T> out;
  for (int64_t i = 0; i < phases; ++i) out.insert(out.end(), values.begin(), values.end());
  return out;
}

ValueId floats_for_phases(GraphBuilder& b, const TensorData& values, int64_t phases) {
  const std::vector<double> list = to_doubles(values);
  const std::vector<float> all = for_phases(std::vector<float>(list.begin(), list.end()), phases);
  TensorData tensor = TensorData::zeros(ElementType::F32, {std::ssize(all)});
  std::memcpy(tensor.bytes.data(), all.data(), tensor.bytes.size());
  return b.graph().add_constant("phases", std::make_shared<const TensorData>(std::move(tensor)));
}

}  // namespace

Attempt<ValueId> transposed_convolution(QuantisedGraph& g, GraphBuilder& b, const Node& node) {
  constexpr double kMostTaps = 2.5;  // of those that contribute
  const Graph& graph = g.graph();
  if (!node.is("ConvTranspose")) return std::nullopt;
  const Extents x = b.extents(node.input(0)), w = b.extents(node.input(1));
  const auto image = g.dequantised_evenly(node.input(0));
  if (!image && !g.multiplies_digits()) return image.refusal();
  const auto weights = g.dequantised_weights(node.input(1));
  if (!weights) return weights.refusal();
  if (node.integer("group", 1) != 1) return Refusal{"it has groups, and bytes are convolved without them"};
  if (x.size() != 4) return Refusal{fmt::format("it has {} spatial axes; two would do", std::ssize(x) - 2)};
  if (!is_static(w) || element_count(w).value() == 0) return std::nullopt;
  const ConvTransposeWindow t = read_conv_transpose(node, x, w);
  if (!t.window.is_static() || t.window.strides[0] != t.window.strides[1] || t.window.strides[0] > 8)
    return Refusal{"its strides differ, or exceed 8"};
  const auto down = phases_of(t, 0, x[2]), across = phases_of(t, 1, x[3]);
  if (!down || !across) return Refusal{"its extents are known only to a run, or it has dilations"};
  const int64_t stride = down->stride, phases = stride * stride, cin = w[0].value(), cout = w[1].value();
  if (static_cast<double>(phases * down->taps * across->taps) > kMostTaps * static_cast<double>(down->kernel * across->kernel))
    return Refusal{"too many products would be in vain: its kernel is no multiple of its stride"};

  // Constants: weights, scales and zero points for each channel, or one.
  const TensorData *q = graph.constant(weights->q), *scale = graph.constant(weights->scale), *zero = graph.constant(weights->zero);
  if (q == nullptr || scale == nullptr || (weights->zero != kAbsent && zero == nullptr)) return Refusal{"its weights are not constant"};
  if (scale->count() != 1 && (scale->shape.size() != 1 || weights->axis != 1))
    return Refusal{"the scales of its weights do not run along its output channels"};
  const std::vector<int64_t> list = to_integers(*q), zeros = zero != nullptr ? to_integers(*zero) : std::vector<int64_t>{0};
  const auto zero_of = [&](int64_t channel) { return zeros[zeros.size() == 1 ? 0 : static_cast<std::size_t>(channel)]; };
  std::vector<int64_t> all;
  for (int64_t phase = 0; phase < phases; ++phase) {
    for (int64_t co = 0; co < cout; ++co) {
      for (int64_t ci = 0; ci < cin; ++ci) {
        for (int64_t ty = 0; ty < down->taps; ++ty) {
          for (int64_t tx = 0; tx < across->taps; ++tx) {
            const int64_t ky = down->tap(phase / stride, ty), kx = across->tap(phase % stride, tx);
            const bool is_tap = down->has(ky) && across->has(kx);
            all.push_back(is_tap ? list[static_cast<std::size_t>(((ci * cout + co) * down->kernel + ky) * across->kernel + kx)]
                                 : zero_of(co));
          }
        }
      }
    }
  }
  const bool each = scale->count() != 1;
  GraphBuilder parts(g.graph(), node.name, g.fresh());
  const ElementType byte = is_signed(q->type) ? ElementType::I8 : ElementType::U8;
  std::vector<ValueId> inputs{constant(b, byte, {phases * cout, cin, down->taps, across->taps}, all),
                              each ? floats_for_phases(b, *scale, phases) : weights->scale};
  const std::vector<int64_t> each_zero = zeros.size() == 1 ? std::vector<int64_t>(static_cast<std::size_t>(cout), zeros[0]) : zeros;
  if (zero != nullptr)
    inputs.push_back(each ? constant(b, byte, {phases * cout}, for_phases(each_zero, phases)) : constant(b, byte, scale->shape, zeros));
  Node conv;
  conv.op = "Conv";
  conv.name = node.name;
  conv.inputs = {node.input(0), parts.op("DequantizeLinear", std::move(inputs), {{"axis", int64_t{0}}})};
  if (const ValueId bias = node.input(2); bias != kAbsent) {
    const auto d = g.dequantised(bias, 32);
    if (d && graph.constant(d->q) != nullptr && graph.constant(d->scale) != nullptr && g.has_same_zero(d->zero, kAbsent)) {
      const ValueId sums = constant(b, ElementType::I32, {phases * cout}, for_phases(to_integers(*graph.constant(d->q)), phases));
      const bool one = graph.constant(d->scale)->count() == 1;
      conv.inputs.push_back(parts.op("DequantizeLinear", {sums, one ? d->scale : floats_for_phases(b, *graph.constant(d->scale), phases)},
                                     {{"axis", int64_t{0}}}));
    } else if (graph.constant(bias) != nullptr && graph[bias].type.element == ElementType::F32) {
      conv.inputs.push_back(floats_for_phases(b, *graph.constant(bias), phases));
    } else {
      return Refusal{"its bias is not constant"};
    }
  }
  for (Node& part : parts.take()) g.append(std::move(part));
  conv.attributes = {{"pads", std::vector<int64_t>{-down->first, -across->first, down->pad_end, across->pad_end}}};
  const auto r = product_of_bytes(g, b, conv);
  if (!r) return r;
  const ValueId y = b.op("DepthToSpace", {*r}, {{"blocksize", stride}});
  if (down->positions * stride == down->out && across->positions * stride == across->out) return y;
  return b.op("Slice", {y, b.integers({0, 0}), b.integers({down->out, across->out}), b.integers({2, 3})});
}

}  // namespace onnxc
