// Gather: picks slices along an axis by index.
#include "compiler/ops/tensor/gather.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/ops/dispatch.h"
#include "compiler/ops/selected.h"
#include "runtime_stub/onnxc/scalar/gather.hpp"

namespace onnxc {

int64_t gather_axis(const Node& node, int rank) {
  const int64_t axis = node.integer("axis", 0);
  return axis < 0 ? axis + rank : axis;
}

std::optional<std::vector<int64_t>> picked_channels(const Graph& graph, const Node& node) {
  if (!node.is("Gather")) return std::nullopt;
  const Type& x = graph[node.input(0)].type;
  const TensorData* indices = graph.constant(node.input(1));
  if (indices == nullptr || indices->shape.size() != 1 || !is_image(x) || x.element != ElementType::F32 ||
      gather_axis(node, x.rank()) != 1 || !x.extents[1].is_constant())
    return std::nullopt;
  std::vector<int64_t> channels = to_integers(*indices);
  const int64_t count = x.extents[1].value();
  for (int64_t& channel : channels) {
    if (channel < 0) channel += count;
    if (channel < 0 || channel >= count) return std::nullopt;
  }
  return channels;
}

std::optional<Dim> known_index(const KernelQuery& l) {
  const Value &x = l.graph()[l.node().input(0)], &indices = l.graph()[l.node().input(1)];
  if (x.constant || gather_axis(l.node(), x.type.rank()) != 0) return std::nullopt;
  if (indices.constant || !indices.elements || indices.elements->size() != 1 || !indices.type.extents.empty()) return std::nullopt;
  const Dim extent = x.type.extents[0], given = indices.elements->front();
  const Dim index = given.max_value() < 0 ? given + extent : given;
  const auto most = index.upper_bound(), least = (Dim(0) - index).upper_bound();
  if (!most || !least || !always_at_least(extent, *most + 1) || !always_at_least(0, *least)) return std::nullopt;
  return index;
}

int64_t interleaved_groups(const std::vector<int64_t>& channels, int64_t count) {
  if (static_cast<int64_t>(channels.size()) != count || count < 4 || channels[1] < 2 || count % channels[1] != 0) return 0;
  const int64_t each = channels[1], groups = count / each;
  for (int64_t i = 0; i < count; ++i) {
    if (channels[static_cast<std::size_t>(i)] != i % groups * each + i / groups) return 0;
  }
  return groups;
}

namespace {

void infer_gather(Inference& n) {
  const Extents &x = n.extents(0), &indices = n.extents(1);
  const int axis = n.axis(n.node().integer("axis", 0), n.rank(0));
  if (n.element(1) != ElementType::I32 && n.element(1) != ElementType::I64)
    n.fail(fmt::format("the indices are {}, not i32 or i64", name(n.element(1))));
  Extents out(x.begin(), x.begin() + axis);
  out.insert(out.end(), indices.begin(), indices.end());
  out.insert(out.end(), x.begin() + axis + 1, x.end());
  // Elements picked from a shape are extents.
  const auto elements = n.value(0).elements;
  const TensorData* picked = n.constant(1);
  if (elements && picked != nullptr && x.size() == 1) {
    DimList list;
    const auto count = static_cast<int64_t>(elements->size());
    for (int64_t i : to_integers(*picked)) {
      if (i < -count || i >= count) n.fail("an index is out of range");
      list.push_back((*elements)[static_cast<std::size_t>(i < 0 ? i + count : i)]);
    }
    n.output_elements(0, std::move(list));
  }
  n.output(0, n.element(0), std::move(out));
}

void evaluate_gather(Evaluation& e) {
  for_size(e.type(0), [&]<class T>() {
    for_index(e.type(1), [&]<class I>() {
      e.check(scalar::gather<T, I>(e.out<T>(), e.in<T>(0), e.in<I>(1), {.axis = gather_axis(e.node(), e.rank(0))}));
    });
  });
}

/// Picks channels of a channels-last image, pixel by pixel.
void lower_channels_last(KernelQuery& l, const std::vector<int64_t>& channels) {
  constexpr int64_t kMostGroups = 8;  // a register for each, and one for each result
  const Extents &in = l.extents(0), &out = l.output_type(0).extents;
  const int64_t groups = interleaved_groups(channels, in[1].value());
  const bool interleaves = groups > 1 && groups <= kMostGroups;
  const View x = l.in(0, channels_last(l.type(0), l.target().vector_floats)), y = l.out_any(0);
  StepBuilder step = l.call(interleaves ? "interleave_channels" : "pick_channels");
  if (interleaves) step.template_arg(groups);
  step.pointer(x).pointer(y);
  if (!interleaves) step.pointer(l.weights("channels", ElementType::I32, std::vector<int32_t>(channels.begin(), channels.end())));
  step.params({{"pixels", dim_arg(out[0] * element_count(Extents(out.begin() + 2, out.end())))},
               {"channels", dim_arg(out[1])},
               {"x_pixel", dim_arg(x.layout.pixel_stride)},
               {"y_pixel", dim_arg(y.layout.pixel_stride)}})
      .emit();
}

/// Shuffles the channels of a row-major image: two axes are exchanged.
void lower_interleaved_planes(KernelQuery& l, int64_t groups) {
  const View x = l.in(0), y = l.out(0);
  const int64_t each = x.extents[1].value() / groups;
  DimList extents = x.extents, to = y.strides(), from = x.strides();
  extents[1] = groups;
  extents.insert(extents.begin() + 1, each);
  to.insert(to.begin() + 1, to[1] * groups);
  from.insert(from.begin() + 2, from[1] * each);
  l.copy(extents, y.pointer, to, x.pointer, from, y.element);
}

void lower_gather(KernelQuery& l) {
  if (const auto channels = picked_channels(l.graph(), l.node()); channels && l.optimise()) {
    if (l.out_layout(0).channels_last) return lower_channels_last(l, *channels);
    if (const int64_t groups = interleaved_groups(*channels, l.extents(0)[1].value()); groups > 1)
      return lower_interleaved_planes(l, groups);
  }
  const int64_t axis = gather_axis(l.node(), static_cast<int>(l.extents(0).size()));
  if (const auto index = known_index(l)) return l.alias(0, 0, *index * element_count(l.output_type(0).extents));
  if (axis == 0 && lower_stored_table(l)) return;
  const View x = l.in(0), indices = l.in(1);
  l.call("scalar_gather").tensor(l.out(0)).tensor(x).tensor(indices).params({{"axis", dim_arg(axis)}}).emit();
}

}  // namespace

extern const Operator op_Gather;
const Operator op_Gather{.name = "Gather",
                         .min_inputs = 2,
                         .max_inputs = 2,
                         .max_outputs = 1,
                         .infer = infer_gather,
                         .evaluate = evaluate_gather,
                         .lower = lower_gather,
                         .layout = LayoutRule::Follows,
                         .has_layout = [](const Graph& graph, const Node& node) { return picked_channels(graph, node).has_value(); }};

}  // namespace onnxc
