// Expand and Tile: repetition, by broadcasting and by copies side by side.
#include <fmt/format.h>

#include "compiler/ops/broadcast.h"
#include "compiler/ops/tensor/moves.h"

namespace onnxc {
namespace {

// ---- Expand: y has the shape that x and `shape` broadcast to.

Moves move_expand(const Operands& operands) {
  const Extents &in = operands.in[0], &out = operands.out[0];
  Move move;
  const int ahead = static_cast<int>(out.size() - in.size());
  for (int k = 0; k < static_cast<int>(out.size()); ++k) {
    const Dim extent = out[static_cast<std::size_t>(k)],
              step = k < ahead ? Dim(0) : repeat_factor(in[static_cast<std::size_t>(k - ahead)], extent);
    move.axes.push_back({.extent = extent, .from = step == Dim(0) ? -1 : k - ahead, .to = k, .from_step = step});
  }
  return {{std::move(move)}, nullptr};
}

void infer_expand(Inference& n) {
  const DimList shape = n.known_elements(1, "the shape");
  for (Dim d : shape) {
    if (d.max_value() < 0) n.fail(fmt::format("the shape has extent {}", d.text()));
  }
  n.output(0, n.element(0), n.broadcast({n.extents(0), shape}));
  infer_moved_elements(n, move_expand);
}

// ---- Tile: repeats[k] copies along axis k. In opset 1 the inputs were tiles and axis, one number each.

void resolve_tile(GraphBuilder& b, Node& node) {
  if (node.version >= 6) return;
  const TensorData *tiles = b.graph().constant(node.input(1)), *axis = b.graph().constant(node.input(2));
  if (tiles == nullptr || axis == nullptr)
    node.fail(ErrorKind::Unsupported, "tiles and axis are not constant", "convert the model to opset 13");
  const auto to_integer = [&](const TensorData& t) {
    const std::vector<double> list = to_doubles(t);
    if (list.size() != 1) node.fail(ErrorKind::Invalid, "tiles and axis are one number each");
    return static_cast<int64_t>(list[0]);
  };
  std::vector<int64_t> repeats(static_cast<std::size_t>(b.rank(node.inputs[0])), 1);
  const int64_t at = to_integer(*axis);
  if (at < 0 || at >= static_cast<int64_t>(repeats.size()))
    node.fail(ErrorKind::Invalid, fmt::format("axis {} is out of range for rank {}", at, repeats.size()));
  repeats[static_cast<std::size_t>(at)] = to_integer(*tiles);
  node.inputs = {node.inputs[0], b.integers(std::move(repeats))};
}

Moves move_tile(const Operands& operands) {
  const auto& repeats = operands.known(1);
  Move move;
  for (int k = 0; k < static_cast<int>(repeats.size()); ++k) {
    const Dim extent = operands.in[0][static_cast<std::size_t>(k)];
    move.axes.push_back({.extent = repeats[static_cast<std::size_t>(k)], .from = -1, .to = k, .to_step = extent});
    move.axes.push_back({.extent = extent, .from = k, .to = k});
  }
  return {{std::move(move)}, nullptr};
}

void infer_tile(Inference& n) {
  const DimList repeats = n.known_elements(1, "the repeats");
  Extents out = n.extents(0);
  if (repeats.size() != out.size()) n.fail(fmt::format("has {} repeats for rank {}", repeats.size(), out.size()));
  for (std::size_t k = 0; k < out.size(); ++k) {
    if (repeats[k].max_value() < 0) n.fail(fmt::format("axis {} is repeated {} times", k, repeats[k].text()));
    out[k] *= repeats[k];
  }
  n.output(0, n.element(0), std::move(out));
  infer_moved_elements(n, move_tile);
}

}  // namespace

extern const Operator op_Expand, op_Tile;
const Operator op_Expand{.name = "Expand",
                         .min_inputs = 2,
                         .max_inputs = 2,
                         .max_outputs = 1,
                         .infer = infer_expand,
                         .evaluate = evaluate_as<move_expand>,
                         .lower = lower_as<move_expand>};
const Operator op_Tile{.name = "Tile",
                       .min_inputs = 2,
                       .max_inputs = 3,
                       .max_outputs = 1,
                       .resolve = resolve_tile,
                       .infer = infer_tile,
                       .evaluate = evaluate_as<move_tile>,
                       .lower = lower_as<move_tile>,
                       .layout = LayoutRule::Follows};

}  // namespace onnxc
