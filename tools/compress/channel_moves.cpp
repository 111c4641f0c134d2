// Operators that move channels to other axes and places, or have them with others.
#include <algorithm>
#include <numeric>

#include "tools/compress/channel_walk.h"
#include "tools/compress/reshaped_channels.h"

namespace onnxc {

void ChannelWalk::transpose(const onnx::NodeProto& node, const Followed& x, int rank) {
  std::vector<int64_t> order = integers_attribute(node, "perm");
  if (order.empty()) {
    order.resize(at(rank));
    std::iota(order.rbegin(), order.rend(), 0);
  }
  const auto found = std::ranges::find(order, x.axis);
  follow(node.output(0), static_cast<int>(found - order.begin()), x.sets);
}

void ChannelWalk::reshape(const onnx::NodeProto& node, const Followed& x, bool has_target) {
  const Type *const from = type(node.input(0)), *const to = type(node.output(0));
  const auto moved = from == nullptr || to == nullptr ? std::nullopt : reshaped_axis(from->extents, x.axis, to->extents);
  if (!moved) return stop(node);
  SetList sets;
  const int64_t extent = to->extents[at(moved->axis)].value();
  for (int64_t i = 0; i < extent; ++i) {
    const int64_t first = i * moved->channels_of_element / moved->elements_of_channel;
    sets.push_back(x.sets[static_cast<std::size_t>(first)]);
    for (int64_t k = 1; k < moved->channels_of_element; ++k) join(sets.back(), x.sets[static_cast<std::size_t>(first + k)]);
  }
  if (has_target) {
    std::optional<std::vector<int64_t>> target = integers(input(node, 1));
    if (!target) {  // computed: it is stated anew from what is known of the result
      target.emplace();
      for (const Dim extent_of : to->extents) target->push_back(extent_of.is_constant() ? extent_of.value() : -1);
    }
    // An extent of 0 copies that of the input's axis, and one of -1 is computed.
    const auto element = static_cast<std::size_t>(moved->axis);
    if (std::ranges::count(*target, -1) > 1 || element >= target->size()) return stop(node);
    CountedChannels counted{position_, 1, *target, {}};
    if ((*target)[element] > 0) counted.counts[moved->axis] = sets;
    else if ((*target)[element] == 0 && (moved->axis != x.axis || sets.size() != x.sets.size())) return stop(node);
    result_.counted.push_back(std::move(counted));
  }
  follow(node.output(0), moved->axis, std::move(sets));
}

void ChannelWalk::concat(const onnx::NodeProto& node) {
  const Type* const out = type(node.output(0));
  if (out == nullptr) return stop(node);
  const int axis = positive(integer_attribute(node, "axis", 0), out->rank());
  SetList sets;
  bool along = true, across = true;
  for (const std::string& name : node.input()) {
    const Followed* f = followed(name);
    along &= f == nullptr || f->axis == axis;
    across &= f != nullptr && f->axis != axis && f->axis == followed(node.input(0))->axis;
    across = across && followed(node.input(0)) != nullptr;
  }
  if (across) {
    const Followed first = *followed(node.input(0));
    for (const std::string& name : node.input()) join(first.sets, followed(name)->sets);
    return follow(node.output(0), first.axis, first.sets);
  }
  for (const std::string& name : node.input()) {
    const Type* const t = type(name);
    if (!along || t == nullptr || axis >= t->rank() || !t->extents[at(axis)].is_constant()) return stop(node);
    const Followed* f = followed(name);
    const SetList part =
        f != nullptr ? f->sets : add_sets(t->extents[at(axis)].value(), fmt::format("'{}' has no layer's channels", one_line(name)));
    sets.insert(sets.end(), part.begin(), part.end());
  }
  follow(node.output(0), axis, std::move(sets));
}

void ChannelWalk::split(const onnx::NodeProto& node, const Followed& x, int rank) {
  const int axis = positive(integer_attribute(node, "axis", 0), rank);
  CountedChannels counted{position_, 1, {}, {}};
  std::size_t first = 0;
  for (const std::string& name : node.output()) {
    const Type* const t = type(name);
    if (t == nullptr || !t->extents[at(axis)].is_constant()) return stop(node);
  }
  for (int k = 0; k < node.output_size(); ++k) {
    if (axis != x.axis) {
      follow(node.output(k), x.axis, x.sets);
      continue;
    }
    const auto extent = static_cast<std::size_t>(type(node.output(k))->extents[at(axis)].value());
    if (first + extent > x.sets.size()) return stop(node);
    const auto from = x.sets.begin() + static_cast<std::ptrdiff_t>(first);
    const SetList part(from, from + static_cast<std::ptrdiff_t>(extent));
    first += extent;
    counted.values.push_back(static_cast<int64_t>(extent));
    counted.counts[k] = part;
    follow(node.output(k), axis, part);
  }
  if (axis == x.axis) result_.counted.push_back(std::move(counted));
}

void ChannelWalk::slice(const onnx::NodeProto& node, const Followed& x, int rank) {
  const auto starts = integers(input(node, 1));
  auto cut_axes = axes(node, 3, rank);
  if (input(node, 3).empty() && starts) {
    cut_axes.emplace(starts->size());
    std::iota(cut_axes->begin(), cut_axes->end(), 0);
  }
  if (!cut_axes || std::ranges::count(*cut_axes, x.axis) > 0) return stop(node);
  pass(node, x);
}

void ChannelWalk::pad(const onnx::NodeProto& node, const Followed& x, int rank) {
  const auto pads = integers(input(node, 1));
  if (!pads || !input(node, 3).empty() || pads->size() != static_cast<std::size_t>(2 * rank)) return stop(node);
  if ((*pads)[at(x.axis)] != 0 || (*pads)[at(x.axis + rank)] != 0) return stop(node);
  pass(node, x);
}

void ChannelWalk::resize(const onnx::NodeProto& node, const Followed& x) {
  const onnx::AttributeProto* mode = find_attribute(node, "coordinate_transformation_mode");
  if (find_attribute(node, "axes") != nullptr || find_attribute(node, "keep_aspect_ratio_policy") != nullptr ||
      (mode != nullptr && mode->s() == "tf_crop_and_resize"))
    return stop(node);
  if (const auto sizes = integers(input(node, 3)); sizes) {
    if (at(x.axis) >= sizes->size() || (*sizes)[at(x.axis)] != static_cast<int64_t>(x.sets.size())) return stop(node);
    result_.counted.push_back({position_, 3, *sizes, {{x.axis, x.sets}}});
    return pass(node, x);
  }
  const std::vector<float> scales = floats_of(index_.initialiser(input(node, 2)));
  if (at(x.axis) >= scales.size() || scales[at(x.axis)] != 1) return stop(node);
  pass(node, x);
}

void ChannelWalk::reduce(const onnx::NodeProto& node, const Followed& x, int rank) {
  const auto reduced = axes(node, 1, rank);
  if (!reduced || reduced->empty() || std::ranges::count(*reduced, x.axis) > 0) return stop(node);
  const bool keeps = integer_attribute(node, "keepdims", 1) != 0;
  const auto before = std::ranges::count_if(*reduced, [&](int64_t axis) { return axis < x.axis; });
  follow(node.output(0), keeps ? x.axis : x.axis - static_cast<int>(before), x.sets);
}

void ChannelWalk::shape(const onnx::NodeProto& node) {
  const Followed& x = *followed(node.input(0));
  const int rank = type(node.input(0)) == nullptr ? 0 : type(node.input(0))->rank();
  const auto start = positive(integer_attribute(node, "start", 0), rank), end = positive(integer_attribute(node, "end", rank), rank);
  bool fits = !index_.is_seen_outside(node.output(0));
  for (const int reader : index_.readers(node.output(0))) {
    const onnx::NodeProto& gather = graph_.node(reader);
    const auto picked = is_op(gather, "Gather") ? integers(input(gather, 1)) : std::nullopt;
    fits &= picked && std::ranges::none_of(*picked, [&](int64_t i) { return start + positive(i, end - start) == x.axis; });
  }
  if (x.axis >= start && x.axis < end && !fits) stop(node);
}

}  // namespace onnxc
