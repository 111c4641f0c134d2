// com.microsoft: earlier forms of ONNX's operators, windows and distances, transforms of real signals, and T5's
// relative positions.
#include <algorithm>
#include <cmath>

#include "compiler/ops/contrib/composition.h"
#include "compiler/support/error_codes.h"

namespace onnxc {
namespace {

Results expand_dims(GraphBuilder& b, const Node& node) {
  Composition c(b, node);
  if (const Value& given = b.graph()[node.input(1)]; !given.constant && !given.elements) {  // only a run knows it
    const ValueId axes = b.op("Reshape", {c.raw(1), b.integers({1})});
    return {{b.op("Unsqueeze", {c.raw(0), b.op("Cast", {axes}, {{"to", static_cast<int64_t>(ElementType::I64)}})})}};
  }
  const DimList axis = c.elements(1, "the axis");
  if (axis.size() != 1 || !axis[0].is_constant()) c.fail("the axis is not one number");
  return {{c.unsqueeze(c.raw(0), {axis[0].value()})}};
}

Results range(GraphBuilder& b, const Node& node) {
  Composition c(b, node);
  return {{c.op("Range", {c.raw(0), c.raw(1), c.has(2) ? c.raw(2) : b.number(c.result, 1)})}};
}

Results pad(GraphBuilder& b, const Node& node) {
  Composition c(b, node);
  const ValueId pads = b.op("Reshape", {c.raw(1), b.integers({2 * static_cast<int64_t>(c.rank(c.raw(0)))})}),
                value = c.has(2) ? b.op("Reshape", {c.raw(2), b.integers({})}) : kAbsent;
  return {{c.op("Pad", {c.raw(0), pads, value}, {{"mode", node.string("mode", "constant")}})}};
}

Results trilu(GraphBuilder& b, const Node& node) {
  Composition c(b, node);
  return {{c.op("Trilu", {c.raw(0), c.raw(1)}, {{"upper", c.integer("upper", 1)}})}};
}

Results gather_nd(GraphBuilder& b, const Node& node) {
  Composition c(b, node);
  return {{c.op("GatherND", {c.raw(0), cast_to(b, c.raw(1), ElementType::I64)})}};
}

Results grid_sample(GraphBuilder& b, const Node& node) {
  Composition c(b, node);
  return {{c.op("GridSample", {c.raw(0), c.raw(1)}, node.attributes)}};
}

/// In the order of first occurrence, and without the indices of ONNX's Unique.
Results unique(GraphBuilder& b, const Node& node) {
  Composition c(b, node);
  c.need_rank(0, 1, "[n]");
  const auto all = b.ops("Unique", {c.raw(0)}, 4, {{"sorted", int64_t{0}}});
  return {{all[0], all[2], all[3]}};
}

Results sample_op(GraphBuilder& b, const Node& node) {
  Composition c(b, node);
  return {{c.op("Identity", {c.raw(0)})}};
}

// ---- UnfoldTensor: the windows of an axis, their elements along a new last one

Results unfold_tensor(GraphBuilder& b, const Node& node) {
  Composition c(b, node);
  const int64_t rank = c.rank(c.raw(0)), given = c.integer("dim", -1), axis = given < 0 ? given + rank : given, size = c.positive("size"),
                step = c.integer("step", 1);
  if (axis < 0 || axis >= rank) c.fail(fmt::format("dim {} is out of range for rank {}", given, rank));
  if (step < 1) c.fail(fmt::format("step is {}", step));
  const Dim windows = floor_div(max(c.extent(c.raw(0), static_cast<int>(axis)) - (size - step), 0), step);
  const ValueId first = c.mul(c.unsqueeze(c.count(windows), {1}), b.number(ElementType::I64, static_cast<double>(step)));
  const ValueId picked = c.op("Gather", {c.raw(0), c.add(first, c.unsqueeze(c.count(size), {0}))}, {{"axis", axis}});
  std::vector<int64_t> perm;
  for (int64_t k = 0; k <= rank; ++k) {
    if (k != axis + 1) perm.push_back(k);
  }
  perm.push_back(axis + 1);
  return {{c.transpose(picked, std::move(perm))}};
}

// ---- CDist: the distances of each row of the first matrix to each row of the second. They are computed from
// differences, since products of rows would cancel where rows are close. Distances to constant rows are an operator of their
// own, unless a gradient may have to pass.

bool has_gradient(const Graph& graph) {
  return std::ranges::any_of(graph.nodes, [](const Node& n) { return n.op == "Gradient"; });
}

Results cdist(GraphBuilder& b, const Node& node) {
  Composition c(b, node);
  c.need_float();
  for (int i : {0, 1}) c.need_rank(i, 2, "[rows, columns]");
  const std::string metric = node.string("metric", "sqeuclidean");
  const bool known = metric == "sqeuclidean" || metric == "euclidean" || metric == "cityblock" || metric == "chebyshev";
  if (known && c.result == ElementType::F32 && b.graph().constant(c.raw(1)) != nullptr && !has_gradient(b.graph()))
    return {{c.op("onnxc.Distances", {c.raw(0), c.raw(1)}, {{"metric", metric}})}};
  const ValueId d = c.sub(c.unsqueeze(c.in(0), {1}), c.unsqueeze(c.in(1), {0})), last = b.integers({2});
  const Attributes drop{{"keepdims", int64_t{0}}};
  if (metric == "sqeuclidean") return {{c.out(c.op("ReduceSumSquare", {d, last}, drop))}};
  if (metric == "euclidean") return {{c.out(c.op("ReduceL2", {d, last}, drop))}};
  if (metric == "cityblock") return {{c.out(c.op("ReduceL1", {d, last}, drop))}};
  if (metric == "chebyshev") return {{c.out(c.op("ReduceMax", {c.op("Abs", {d}), last}, drop))}};
  c.unsupported(fmt::format("metric is '{}'", metric), "sqeuclidean, euclidean, cityblock and chebyshev are supported");
}

// ---- Rfft, Irfft: over the last signal_ndim axes; the last of them has half of the spectrum

int64_t signal_axes(Composition& c, int pairs) {
  const int64_t axes = c.integer("signal_ndim", 1);
  if (axes < 1 || axes + pairs > c.rank(c.raw(0))) c.fail(fmt::format("signal_ndim is {} for shape {}", axes, text(c.extents(c.raw(0)))));
  if (c.integer("onesided", 1) != 1) c.unsupported("onesided is not 1");
  if (c.integer("normalized", 0) != 0) c.unsupported("normalized is not 0");
  c.need_float();
  return axes;
}
ValueId dft(Composition& c, ValueId x, int64_t axis, bool inverse, bool onesided) {
  return c.op("DFT", {x, kAbsent, c.b.integers({axis})}, {{"inverse", int64_t{inverse}}, {"onesided", int64_t{onesided}}});
}

Results rfft(GraphBuilder& b, const Node& node) {
  Composition c(b, node);
  const int64_t axes = signal_axes(c, 0);
  ValueId y = dft(c, c.unsqueeze(c.in(0), {-1}), -2, false, true);
  for (int64_t k = 1; k < axes; ++k) y = dft(c, y, -2 - k, false, false);
  return {{c.out(y)}};
}
Results irfft(GraphBuilder& b, const Node& node) {
  Composition c(b, node);
  const int64_t axes = signal_axes(c, 1);
  ValueId y = c.in(0);
  for (int64_t k = axes - 1; k > 0; --k) y = dft(c, y, -2 - k, true, false);
  return {{c.out(c.op("Squeeze", {dft(c, y, -2, true, true), b.integers({-1})}))}};
}

// ---- RelativePositionBias: rows of a table by the bucket of the distance between query and key, as T5 numbers them

int64_t bucket_of(int64_t distance, int64_t buckets, int64_t furthest, bool both_ways) {
  int64_t first = 0, n = -distance;
  if (both_ways) {
    buckets /= 2;
    first = distance > 0 ? buckets : 0;
    n = std::abs(distance);
  } else {
    n = std::max<int64_t>(n, 0);
  }
  const int64_t exact = buckets / 2;
  if (n < exact) return first + n;
  const float along =
      std::log(static_cast<float>(n) / static_cast<float>(exact)) / std::log(static_cast<float>(furthest) / static_cast<float>(exact));
  return first + std::min(exact + static_cast<int64_t>(along * static_cast<float>(buckets - exact)), buckets - 1);
}

Results relative_position_bias(GraphBuilder& b, const Node& node) {
  Composition c(b, node);
  c.need_rank(0, 2, "[buckets, heads]");
  const auto length = [&](int i, const char* what) {
    const DimList list = c.elements(i, what);
    if (list.size() != 1 || !list[0].is_constant() || list[0].value() < 1 || list[0].value() > 1 << 14)
      c.fail(ErrorCode::OpenDimension, fmt::format("{} is not one constant", what), "fix the dimension with --dim");
    return list[0].value();
  };
  const int64_t q = length(1, "the query's length"), k = length(2, "the key's length"), buckets = c.known_extent(c.raw(0), 0),
                furthest = c.positive("max_distance");
  const bool both_ways = c.integer("is_bidirectional", 0) != 0;
  if (buckets / (both_ways ? 4 : 2) < 1 || furthest <= buckets / (both_ways ? 4 : 2))
    c.fail(fmt::format("{} buckets for distances up to {}", buckets, furthest));
  auto rows = std::make_shared<TensorData>(TensorData::zeros(ElementType::I64, {q, k}));
  for (int64_t i = 0; i < q; ++i) {
    for (int64_t j = 0; j < k; ++j)
      rows->as<int64_t>()[static_cast<std::size_t>(i * k + j)] = bucket_of(j - i, buckets, furthest, both_ways);
  }
  const ValueId bias = c.op("Gather", {c.raw(0), b.graph().add_constant(node.name, std::move(rows))}, {{"axis", int64_t{0}}});
  return {{c.unsqueeze(c.transpose(bias, {2, 0, 1}), {0})}};
}

}  // namespace

std::span<const Operator> table_contrib_tensors() {
  const auto row = [](std::string_view name, int least, int most, Results (*decompose)(GraphBuilder&, const Node&)) {
    return Operator{.name = name, .domain = kMicrosoft, .min_inputs = least, .max_inputs = most, .max_outputs = 1, .decompose = decompose};
  };
  static const Operator rows[] = {
      row("ExpandDims", 2, 2, expand_dims),
      row("Range", 2, 3, range),
      row("Pad", 2, 3, pad),
      row("Trilu", 1, 2, trilu),
      row("GatherND", 2, 2, gather_nd),
      row("GridSample", 2, 2, grid_sample),
      row("SampleOp", 1, 1, sample_op),
      row("UnfoldTensor", 1, 1, unfold_tensor),
      row("CDist", 2, 2, cdist),
      {.name = "Unique", .domain = kMicrosoft, .min_inputs = 1, .max_inputs = 1, .max_outputs = 3, .decompose = unique},
      row("Rfft", 1, 1, rfft),
      row("Irfft", 1, 1, irfft),
      row("RelativePositionBias", 3, 3, relative_position_bias),
  };
  return rows;
}

}  // namespace onnxc
