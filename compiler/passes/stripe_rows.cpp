#include "compiler/passes/stripe_rows.h"

#include <algorithm>

#include "compiler/ops/nn/window.h"

namespace onnxc {
namespace {

bool is_window(const Node& node) { return node.is("Conv") || node.is("MaxPool") || node.is("AveragePool"); }

Window window_of(const Graph& graph, const Node& node) {
  const auto spatial = [&](int i) {
    return Extents(graph[node.input(i)].type.extents.begin() + kRowAxis, graph[node.input(i)].type.extents.end());
  };
  return read_window(node, spatial(0), node.is("Conv") ? spatial(1) : DimList{});
}

/// The window along the first spatial axis, in constants.
struct RowWindow {
  int64_t stride, dilated, pad;  ///< dilated: the number of rows from a window's first one to its last
  int64_t rows;                  ///< of the input
  /// The rows under the windows of `out`. They may lie outside the input, in its padding.
  Rows seen(Rows out) const { return {out.begin * stride - pad, (out.end - 1) * stride - pad + dilated}; }
  Rows read(Rows out) const { return {std::max<int64_t>(0, seen(out).begin), std::min(rows, seen(out).end)}; }
};

RowWindow row_window(const Graph& graph, const Node& node) {
  const Window w = window_of(graph, node);
  return {w.strides[0], (w.kernel[0].value() - 1) * w.dilations[0] + 1, w.pads_begin[0].value(), *image_rows(graph[node.input(0)].type)};
}

/// Whether an operand that broadcasts to images of `rank` axes is the same for all of their rows.
bool is_same_for_rows(const Type& type, int rank) {
  const int axis = static_cast<int>(kRowAxis) - (rank - type.rank());
  return axis < 0 || type.extents[static_cast<std::size_t>(axis)] == Dim(1);
}

/// Whether an operand that broadcasts to such images with `rows` rows is an image of as many rows, or the same for
/// all rows.
bool is_operand(const Value& value, int rank, int64_t rows) {
  const Type& type = value.type;
  if (!type.is_tensor() || !type.ranked || !is_static(type.extents) || type.rank() > rank) return false;
  return is_same_for_rows(type, rank) || (value.constant == nullptr && type.rank() == rank && image_rows(type) == rows);
}

/// The first input that broadcasts to the output as operands of expressions do.
std::size_t first_operand(const Node& node) { return node.is_map() ? 0 : static_cast<std::size_t>(node.own_inputs()); }

bool window_works_by_rows(const Graph& graph, const Node& node) {
  if (!image_rows(graph[node.input(0)].type) || node.outputs.size() != 1) return false;
  if (node.is("Conv") && (graph.constant(node.input(1)) == nullptr || (node.has_input(2) && graph.constant(node.input(2)) == nullptr)))
    return false;
  // Windows that end beyond the padding would count fewer elements.
  return node.integer("ceil_mode", 0) == 0 || !node.is("AveragePool") || node.integer("count_include_pad", 0) == 0;
}

}  // namespace

std::optional<int64_t> image_rows(const Type& type) {
  if (!type.is_tensor() || !type.ranked || type.rank() < 3 || type.rank() > 5 || !is_static(type.extents) || !(type.extents[0] == Dim(1)))
    return std::nullopt;
  return type.extents[kRowAxis].value();
}

bool works_by_rows(const Graph& graph, const Node& node) {
  if (!node.regions.empty() || !node.binds.empty() || node.outputs[0] == kAbsent) return false;
  const auto rows = image_rows(graph[node.outputs[0]].type);
  if (!rows || *rows == 0) return false;
  const int rank = graph[node.outputs[0]].type.rank();
  const bool by_channels = (node.is("Concat") || node.is("Split")) && (node.integer("axis", 0) == 1 || node.integer("axis", 0) == 1 - rank);
  if (is_window(node) ? !window_works_by_rows(graph, node) : !node.is_map() && !by_channels) return false;
  for (ValueId out : node.outputs) {
    if (out == kAbsent || graph[out].type.rank() != rank || image_rows(graph[out].type) != rows) return false;
  }
  if (by_channels) {
    const int images = node.is("Concat") ? node.own_inputs() : 1;
    for (int i = 0; i < images; ++i) {
      if (graph.constant(node.input(i)) != nullptr || image_rows(graph[node.input(i)].type) != rows) return false;
    }
  }
  for (std::size_t i = first_operand(node); i < node.inputs.size(); ++i) {
    if (node.inputs[i] == kAbsent || !is_operand(graph[node.inputs[i]], rank, *rows)) return false;
  }
  return true;
}

std::optional<Rows> rows_read(const Graph& graph, const Node& node, std::size_t i, Rows out) {
  const ValueId value = node.inputs[i];
  if (value == kAbsent || graph[value].constant != nullptr) return std::nullopt;
  if (i < first_operand(node) && is_window(node)) return row_window(graph, node).read(out);
  if (is_same_for_rows(graph[value].type, graph[node.outputs[0]].type.rank())) return std::nullopt;
  return out;
}

void restrict_rows(const Graph& graph, Node& node, Rows out) {
  if (!is_window(node)) return;
  const Window w = window_of(graph, node);
  const RowWindow rows = row_window(graph, node);
  const Rows seen = rows.seen(out), read = rows.read(out);
  std::vector<int64_t> pads = values(w.pads_begin), ends = values(w.pads_end);
  // Along the other axes a pool with ceil_mode may reach beyond its padding.
  const Type &x = graph[node.input(0)].type, &y = graph[node.outputs[0]].type;
  for (std::size_t k = 1; k < w.rank(); ++k) {
    const int64_t dilated = (w.kernel[k].value() - 1) * w.dilations[k] + 1;
    ends[k] = std::max(ends[k], (y.extents[kRowAxis + k].value() - 1) * w.strides[k] + dilated - pads[k] - x.extents[kRowAxis + k].value());
  }
  pads[0] = read.begin - seen.begin;
  ends[0] = seen.end - read.end;
  pads.insert(pads.end(), ends.begin(), ends.end());
  node.attributes.erase("auto_pad");
  node.attributes.erase("ceil_mode");
  node.attributes["pads"] = std::move(pads);
}

int64_t row_elements(const Type& image) {
  int64_t elements = image.extents[1].value();
  for (std::size_t axis = kRowAxis + 1; axis < image.extents.size(); ++axis) elements *= image.extents[axis].value();
  return elements;
}

double work_of_row(const Graph& graph, const Node& node) {
  auto work = static_cast<double>(row_elements(graph[node.outputs[0]].type));
  if (node.is("Conv")) {
    const Extents& w = graph[node.input(1)].type.extents;
    for (std::size_t axis = 1; axis < w.size(); ++axis) work *= static_cast<double>(w[axis].value());
  } else if (is_window(node)) {
    for (Dim k : window_of(graph, node).kernel) work *= static_cast<double>(k.value());
  }
  return work;
}

}  // namespace onnxc
