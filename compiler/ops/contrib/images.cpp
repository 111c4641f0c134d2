// com.microsoft: CropAndResize, MaxpoolWithMask, ConvTransposeWithDynamicPads.
#include <limits>

#include "compiler/ops/contrib/composition.h"
#include "compiler/ops/nn/window.h"

namespace onnxc {
namespace {

// ---- CropAndResize: boxes [y1, x1, y2, x2], where 0 and 1 are the centres of an image's first and last pixels, as
// in TensorFlow

/// The positions of each crop's pixels along one axis, [boxes, count]: from the box's first end to its last one, or
/// its middle if there is only one.
ValueId positions_in(Composition& c, ValueId first, ValueId last, Dim extent, Dim count) {
  const ValueId last_pixel = cast_to(c.b, c.b.shape({extent - 1}), c.type);
  const ValueId begin = c.mul(first, last_pixel), end = c.mul(last, last_pixel);  // [boxes, 1]
  if (count == Dim(1)) return c.mul(c.constant(0.5), c.mul(c.add(first, last), last_pixel));
  const ValueId at = c.unsqueeze(c.count(count), {0}), steps = c.b.shape({count - 1});
  const ValueId apart = c.op("Div", {c.mul(c.sub(last, first), last_pixel), cast_to(c.b, c.op("Max", {steps, c.b.integers({1})}), c.type)});
  const ValueId between = c.add(begin, c.mul(cast_to(c.b, at, c.type), apart));
  const ValueId row = c.op("Where", {c.op("Equal", {at, steps}), end, between});
  if (count.is_constant()) return row;
  const ValueId middle = c.mul(c.constant(0.5), c.mul(c.add(first, last), last_pixel));
  return c.op("Where", {c.op("Equal", {steps, c.b.integers({0})}), middle, row});
}

Results crop_and_resize(GraphBuilder& b, const Node& node) {
  Composition c(b, node);
  c.need_float();
  c.need_rank(0, 4, "[n, c, h, w]");
  c.need_rank(1, 2, "[boxes, 4]");
  c.need_rank(2, 1, "[boxes]");
  const std::string mode = node.string("mode", "bilinear");
  if (mode != "bilinear" && mode != "nearest") c.fail(fmt::format("mode is '{}'; bilinear and nearest are allowed", mode));
  const Extents crop = c.extents(c.op("ConstantOfShape", {cast_to(b, c.raw(3), ElementType::I64)})), x = c.extents(c.raw(0));
  if (crop.size() != 2) c.fail(fmt::format("crop_size has {} elements, not 2", crop.size()));
  const Dim rows = crop[0], columns = crop[1];
  const ValueId pixels = c.reshape(c.transpose(c.in(0), {0, 2, 3, 1}), {x[0] * x[2] * x[3], x[1]});
  const auto ends = c.split(c.in(1), {1, 1, 1, 1}, 1);
  const ValueId y = c.unsqueeze(positions_in(c, ends[0], ends[2], x[2], rows), {2}),
                z = c.unsqueeze(positions_in(c, ends[1], ends[3], x[3], columns), {1});
  const auto outside = [&](ValueId at, Dim extent) {
    return c.op("Or", {c.op("Less", {at, c.constant(0)}), c.op("Greater", {at, cast_to(b, b.shape({extent - 1}), c.type)})});
  };
  const ValueId out = c.unsqueeze(c.op("Or", {outside(y, x[2]), outside(z, x[3])}), {3});  // [boxes, rows, columns, 1]
  const ValueId image = c.unsqueeze(cast_to(b, c.raw(2), ElementType::I64), {1, 2});
  const auto whole = [&](ValueId at, Dim extent) {  // a place outside reads any pixel: its value is replaced
    return c.op("Clip", {cast_to(b, at, ElementType::I64), b.number(ElementType::I64, 0), c.op("Squeeze", {b.shape({extent - 1})})});
  };
  const auto pixel = [&](ValueId row, ValueId column) {
    const ValueId above = c.add(c.mul(image, b.shape({x[2]})), whole(row, x[2]));
    return c.op("Gather", {pixels, c.add(c.mul(above, b.shape({x[3]})), whole(column, x[3]))}, {{"axis", int64_t{0}}});
  };
  ValueId value;
  if (mode == "nearest") {
    const auto nearest = [&](ValueId at) {
      const ValueId below = c.op("Floor", {at});
      return c.op("Where", {c.op("Less", {c.sub(at, below), c.constant(0.5)}), below, c.op("Ceil", {at})});
    };
    value = pixel(nearest(y), nearest(z));
  } else {
    const ValueId top = c.op("Floor", {y}), left = c.op("Floor", {z}), bottom = c.op("Ceil", {y}), right = c.op("Ceil", {z});
    const auto mixed = [&](ValueId p, ValueId q, ValueId share) { return c.add(p, c.mul(c.sub(q, p), c.unsqueeze(share, {3}))); };
    const ValueId across = c.sub(z, left);
    value =
        mixed(mixed(pixel(top, left), pixel(top, right), across), mixed(pixel(bottom, left), pixel(bottom, right), across), c.sub(y, top));
  }
  value = c.op("Where", {out, c.constant(c.number("extrapolation_value", 0)), value});
  return {{c.out(c.transpose(value, {0, 3, 1, 2}))}};
}

// ---- MaxpoolWithMask: the maximum over the pixels of each row of a window that precede the first pixel whose mask
// is 0. The mask of an image's very first pixel is ignored, except in lines (images of one spatial axis).

Results maxpool_with_mask(GraphBuilder& b, const Node& node) {
  Composition c(b, node);
  c.need_float();
  const int rank = c.rank(c.raw(0));
  if (rank < 3 || c.rank(c.raw(1)) != rank)
    c.fail(fmt::format("the input has rank {}, the mask {}; [n, c, spatial...] is needed", rank, c.rank(c.raw(1))));
  const Extents x = c.extents(c.raw(0)), spatial(x.begin() + 2, x.end());
  const std::vector<int64_t> kernel = node.integers("kernel_shape");
  if (kernel.size() != spatial.size()) c.fail(fmt::format("kernel_shape has {} values for rank {}", kernel.size(), rank));
  const Window window = read_window(node, spatial, {kernel.begin(), kernel.end()});
  const Extents windows = window_output(node, window, spatial);
  ValueId there = c.op("Not", {c.op("Equal", {c.raw(1), b.number(b.type(c.raw(1)).element, 0)})});
  if (spatial.size() > 1) {
    Dim all = 1;
    for (Dim d : spatial) all *= d;
    Extents shape{1, 1};
    shape.insert(shape.end(), spatial.begin(), spatial.end());
    there = c.op("Or", {there, c.reshape(c.op("Equal", {c.count(all), b.number(ElementType::I64, 0)}), shape)});
  }
  // The padding has no values, and ends no row.
  Extents pads(2, Dim(0)), begins = window.pads_begin, ends = window.pads_end;
  pads.insert(pads.end(), begins.begin(), begins.end());
  pads.insert(pads.end(), 2, Dim(0));
  pads.insert(pads.end(), ends.begin(), ends.end());
  const ValueId lowest = c.constant(c.type == ElementType::F64 ? std::numeric_limits<double>::lowest()
                                                               : static_cast<double>(std::numeric_limits<float>::lowest()));
  const ValueId padded = c.op("Pad", {c.in(0), b.shape(pads), lowest}),
                mask = c.op("Pad", {there, b.shape(pads), b.number(ElementType::Bool, 1)});
  std::vector<int64_t> axes, at(spatial.size(), 0);
  for (int64_t axis = 2; axis < rank; ++axis) axes.push_back(axis);
  const auto seen_at = [&](ValueId v) {  // element `at` of each window
    Extents first, last;
    for (std::size_t k = 0; k < at.size(); ++k) {
      first.push_back(at[k]);
      last.push_back((windows[k] - 1) * window.strides[k] + at[k] + 1);
    }
    return c.op("Slice", {v, b.shape(first), b.shape(last), b.integers(axes), b.integers(window.strides)});
  };
  ValueId most = kAbsent, goes_on = kAbsent;
  for (bool more = true; more;) {
    const ValueId own = seen_at(mask);
    goes_on = at.back() == 0 ? own : c.op("And", {goes_on, own});
    const ValueId value = c.op("Where", {goes_on, seen_at(padded), lowest});
    most = most == kAbsent ? value : c.op("Max", {most, value});
    more = false;
    for (std::size_t k = at.size(); k-- > 0 && !more;) {
      more = ++at[k] < kernel[k];
      if (!more) at[k] = 0;
    }
  }
  return {{c.out(most)}};
}

// ---- ConvTransposeWithDynamicPads: pads are an input

Results conv_transpose(GraphBuilder& b, const Node& node) {
  Composition c(b, node);
  const int64_t spatial = std::max(c.rank(c.raw(0)) - 2, 0);
  const std::string auto_pad = node.string("auto_pad", "NOTSET");
  const auto convolved = [&](Attributes attributes) {
    return c.op("ConvTranspose", {c.raw(0), c.raw(1), c.raw(3)}, std::move(attributes));
  };
  if (!c.has(2) || (auto_pad != "NOTSET" && !auto_pad.empty())) return {{convolved(node.attributes)}};
  if (!(element_count(c.extents(c.raw(2))) == Dim(2 * spatial)))
    c.fail(fmt::format("the pads have shape {} for {} axes", text(c.extents(c.raw(2))), spatial));
  Attributes attributes = node.attributes;
  attributes.erase("pads");
  if (const TensorData* pads = b.graph().constant(c.raw(2))) {
    attributes["pads"] = to_integers(*pads);
    return {{convolved(std::move(attributes))}};
  }
  // Pads that only a run knows are cut off the complete result.
  const auto ends = c.split(c.op("Neg", {c.raw(2)}), {spatial, spatial}, 0);
  const ValueId none = b.integers({0, 0});
  return {{c.op("Pad", {convolved(std::move(attributes)), c.concat({none, ends[0], none, ends[1]}, 0)})}};
}

}  // namespace

std::span<const Operator> table_contrib_images() {
  const auto row = [](std::string_view name, int least, int most, Results (*decompose)(GraphBuilder&, const Node&)) {
    return Operator{.name = name, .domain = kMicrosoft, .min_inputs = least, .max_inputs = most, .max_outputs = 1, .decompose = decompose};
  };
  static const Operator rows[] = {row("CropAndResize", 4, 4, crop_and_resize), row("MaxpoolWithMask", 2, 2, maxpool_with_mask),
                                  row("ConvTransposeWithDynamicPads", 2, 4, conv_transpose)};
  return rows;
}

}  // namespace onnxc
