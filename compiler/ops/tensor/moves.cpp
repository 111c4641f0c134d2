#include "compiler/ops/tensor/moves.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/ops/shape_arithmetic.h"
#include "compiler/support/error_codes.h"

namespace onnxc {

bool only_moves(const Node& node) {
  static constexpr std::string_view kMovers[] = {"DepthToSpace", "Expand",       "Flatten", "Gather", "Identity",  "Reshape",
                                                 "Slice",        "SpaceToDepth", "Squeeze", "Tile",   "Transpose", "Unsqueeze"};
  return node.domain.empty() && node.outputs.size() == 1 && std::ranges::find(kMovers, node.op) != std::end(kMovers);
}

namespace {

/// A move over memory: one loop for each axis, in elements.
struct Loops {
  DimList extents, to, from;
  Dim to_offset = 0, from_offset = 0;
};

Loops loops_of(const Move& move, const DimList& to_strides, const DimList& from_strides) {
  Loops loops;
  for (const Move::Axis& axis : move.axes) {
    loops.extents.push_back(axis.extent);
    loops.to.push_back(axis.to < 0 ? Dim(0) : to_strides[static_cast<std::size_t>(axis.to)] * axis.to_step);
    loops.from.push_back(axis.from < 0 ? Dim(0) : from_strides[static_cast<std::size_t>(axis.from)] * axis.from_step);
  }
  for (std::size_t k = 0; k < move.to.size(); ++k) loops.to_offset += move.to[k] * to_strides[k];
  for (std::size_t k = 0; k < move.from.size(); ++k) loops.from_offset += move.from[k] * from_strides[k];
  return loops;
}

/// Calls visit(to, from, length, to_step, from_step) for every innermost row. Everything is constant.
template <class Visit>
void for_each_row(const Loops& loops, Visit&& visit) {
  std::vector<int64_t> extents, to, from;
  for (std::size_t k = 0; k < loops.extents.size(); ++k) {
    if (loops.extents[k].value() <= 0) return;
    extents.push_back(loops.extents[k].value());
    to.push_back(loops.to[k].value());
    from.push_back(loops.from[k].value());
  }
  if (extents.empty()) {
    extents = {1};
    to = from = {1};
  }
  const std::size_t inner = extents.size() - 1;
  std::vector<int64_t> at(inner, 0);
  int64_t t = loops.to_offset.value(), f = loops.from_offset.value();
  for (;;) {
    visit(t, f, extents[inner], to[inner], from[inner]);
    std::size_t k = inner;
    while (k-- > 0) {
      t += to[k];
      f += from[k];
      if (++at[k] < extents[k]) break;
      t -= to[k] * extents[k];
      f -= from[k] * extents[k];
      at[k] = 0;
    }
    if (k == static_cast<std::size_t>(-1)) return;
  }
}

std::size_t index(int i) { return static_cast<std::size_t>(i); }

int64_t width_of(const Node& node, ElementType type) {
  if (held_bits(type) == 0) node.fail(ErrorCode::ElementType, fmt::format("element type {} is not supported yet", name(type)));
  return held_bits(type) / 8;
}

DimList from_strides_of(const Operands& operands, const Move& move) {
  return move.input == Move::kFill ? DimList{} : strides_of(operands.in[index(move.input)], {});
}

/// True if the move is the whole output, and its elements are contiguous and in the same order in the input.
bool is_contiguous(const Move& move, const Loops& loops) {
  return std::all_of(move.to.begin(), move.to.end(), [](Dim d) { return d == Dim(0); }) &&
         same_strides(loops.extents, loops.to, loops.from);
}

}  // namespace

Operands::Operands(const Graph& graph, const Node& n) : node(n) {
  for (int i = 0; i < node.own_inputs(); ++i) {
    in.emplace_back(node.has_input(i) ? graph[node.input(i)].type.extents : Extents{});
    elements.emplace_back();
    if (!node.has_input(i)) continue;
    const Value& v = graph[node.input(i)];
    if (v.elements) {
      elements.back() = v.elements;
    } else if (v.constant && is_integer(v.constant->type) && v.constant->count() <= kMostShapeElements) {
      const auto list = to_integers(*v.constant);
      elements.back().emplace(list.begin(), list.end());
    }
  }
  for (ValueId v : node.outputs) out.push_back(v == kAbsent ? Extents{} : graph[v].type.extents);
}

Operands::Operands(Evaluation& e) : node(e.node()) {
  for (int i = 0; i < node.own_inputs(); ++i) {
    in.emplace_back(e.has(i) ? to_extents(e.input(i).shape) : Extents{});
    elements.emplace_back();
    if (!e.has(i) || !is_integer(e.type(i)) || e.input(i).count() > kMostShapeElements) continue;
    const auto list = to_integers(e.input(i));
    elements.back().emplace(list.begin(), list.end());
  }
  for (int i = 0; i < static_cast<int>(node.outputs.size()); ++i)
    out.push_back(node.has_output(i) ? to_extents(e.output(i).shape) : Extents{});
}

const DimList& Operands::known(int i) const {
  ONNXC_CHECK(elements[index(i)].has_value(), "the shape rule refuses what it does not know");
  return *elements[index(i)];
}

Move move_all(const Operands& operands, int input, int output, DimList to) {
  Move move{.input = input, .output = output, .axes = {}, .from = {}, .to = std::move(to)};
  const Extents& extents = operands.in[index(input)];
  for (int k = 0; k < static_cast<int>(extents.size()); ++k) move.axes.push_back({.extent = extents[index(k)], .from = k, .to = k});
  return move;
}

void fill_around(Moves& moves, const Extents& output, const DimList& from, const Extents& extents, int source) {
  // Before and after the box on axis k: inside the box on axes before k, and the whole output on axes after it.
  for (std::size_t k = 0; k < output.size(); ++k) {
    for (const bool after : {false, true}) {
      const Dim start = after ? from[k] + extents[k] : Dim(0), length = after ? output[k] - start : from[k];
      if (length.max_value() <= 0) continue;
      Move move{.input = source, .output = 0, .axes = {}, .from = {}, .to = DimList(output.size(), 0)};
      for (std::size_t j = 0; j < output.size(); ++j) {
        move.axes.push_back({.extent = j < k ? extents[j] : j > k ? output[j] : length, .from = -1, .to = static_cast<int>(j)});
        if (j < k) move.to[j] = from[j];
        if (j == k) move.to[j] = start;
      }
      moves.list.push_back(std::move(move));
    }
  }
}

void infer_moved_elements(Inference& n, MoveRule rule) {
  const Node& node = n.node();
  std::vector<DimList> results;
  for (ValueId v : node.outputs) {
    results.emplace_back();
    if (v == kAbsent) continue;
    const Type& type = n.graph()[v].type;
    if (!(is_integer(type.element) || type.element == ElementType::Bool) || !type.is_static()) return;
    if (element_count(type.extents).value() > kMostShapeElements) return;
    results.back().resize(index(static_cast<int>(element_count(type.extents).value())));
  }
  const Operands operands(n.graph(), node);
  const Moves moves = rule(operands);
  for (const Move& move : moves.list) {
    if (!node.has_output(move.output)) continue;
    const bool fill = move.input == Move::kFill;
    if (!fill && !operands.elements[index(move.input)]) return;
    const Dim filler = moves.fill ? Dim(to_integers(*moves.fill)[0]) : Dim(0);
    const Loops loops = loops_of(move, strides_of(operands.out[index(move.output)], {}), from_strides_of(operands, move));
    const auto constant = [](const DimList& list) { return std::all_of(list.begin(), list.end(), [](Dim d) { return d.is_constant(); }); };
    if (!constant(loops.extents) || !loops.to_offset.is_constant() || !loops.from_offset.is_constant()) return;
    for_each_row(loops, [&](int64_t to, int64_t from, int64_t length, int64_t to_step, int64_t from_step) {
      for (int64_t i = 0; i < length; ++i) {
        Dim& result = results[index(move.output)][static_cast<std::size_t>(to + i * to_step)];
        result = fill ? filler : (*operands.elements[index(move.input)])[static_cast<std::size_t>(from + i * from_step)];
      }
    });
  }
  for (std::size_t i = 0; i < results.size(); ++i) n.output_elements(static_cast<int>(i), std::move(results[i]));
}

void evaluate_moves(Evaluation& e, MoveRule rule) {
  const Operands operands(e);
  const Moves moves = rule(operands);
  const Bytes filler = moves.fill ? unpacked(*moves.fill).bytes : Bytes();
  for (const Move& move : moves.list) {
    if (!e.has_output(move.output)) continue;
    TensorData& y = e.output(move.output);
    const int64_t width = width_of(e.node(), y.type);
    const std::vector<std::byte> zero(16, std::byte{0});
    const std::byte* source = move.input != Move::kFill       ? e.input(move.input).bytes.data()
                              : moves.fill && !filler.empty() ? filler.data()
                                                              : zero.data();
    std::byte* target = y.bytes.data();
    const Loops loops = loops_of(move, strides_of(operands.out[index(move.output)], {}), from_strides_of(operands, move));
    for_each_row(loops, [&](int64_t to, int64_t from, int64_t length, int64_t to_step, int64_t from_step) {
      std::byte* t = target + to * width;
      const std::byte* f = source + from * width;
      if (to_step == 1 && from_step == 1) {
        std::memcpy(t, f, static_cast<std::size_t>(length * width));
      } else {
        for (int64_t i = 0; i < length; ++i)
          std::memcpy(t + i * to_step * width, f + i * from_step * width, static_cast<std::size_t>(width));
      }
    });
  }
}

/// The view of an output's elements if all of them exist already: a part of the input (Split, Slice), or adjoining
/// parts (Concat).
std::optional<View> find_in_inputs(KernelQuery& l, const std::vector<const Move*>& parts, const Extents& extents) {
  std::optional<View> found;
  for (const Move* move : parts) {
    if (move->input == Move::kFill) return std::nullopt;
    View x = l.in_any(move->input);
    const Layout layout = x.layout.channels_last ? Layout{true, x.layout.pixel_stride} : Layout{};
    if (layout.channels_last && extents.size() != x.extents.size()) return std::nullopt;
    const Loops loops = loops_of(*move, strides_of(extents, layout), x.strides());
    if (!same_strides(loops.extents, loops.to, loops.from)) return std::nullopt;
    x.layout = layout;
    x.pointer.offset += loops.from_offset - loops.to_offset;
    if (found && !(found->pointer.buffer == x.pointer.buffer && found->pointer.offset == x.pointer.offset && found->layout == layout))
      return std::nullopt;
    found = x;
  }
  return found;
}

void lower_moves(KernelQuery& l, MoveRule rule) {
  const Operands operands(l.graph(), l.node());
  const Moves moves = rule(operands);
  for (int output = 0; output < static_cast<int>(l.node().outputs.size()); ++output) {
    if (!l.has_output(output)) continue;
    std::vector<const Move*> parts;
    for (const Move& move : moves.list) {
      if (move.output == output && !std::any_of(move.axes.begin(), move.axes.end(), [](const Move::Axis& a) { return a.extent == Dim(0); }))
        parts.push_back(&move);
    }
    const ElementType element = l.output_type(output).element;
    // A part of the input that has the output's layout needs no copy.
    if (parts.size() == 1 && parts[0]->input != Move::kFill && !l.out_layout(output).channels_last) {
      const View x = l.in_any(parts[0]->input);
      const Loops loops = loops_of(*parts[0], strides_of(operands.out[index(output)], {}), x.strides());
      if (!x.layout.channels_last && is_contiguous(*parts[0], loops)) {
        l.alias(output, parts[0]->input, loops.from_offset);
        continue;
      }
    }
    if (!parts.empty() && l.optimise() && !l.is_defined(output)) {
      if (const auto view = find_in_inputs(l, parts, operands.out[index(output)])) {
        l.out_view(output, *view);
        continue;
      }
    }
    const View y = l.out_any(output);
    for (const Move* move : parts) {
      View x;
      if (move->input != Move::kFill) {
        x = l.in_any(move->input);
      } else {
        const TensorData filler = moves.fill ? *moves.fill : TensorData::zeros(element, {1});
        x.pointer = element == ElementType::String ? l.weights("fill", filler) : l.weights("fill", element, unpacked(filler).bytes);
      }
      const Loops loops = loops_of(*move, y.strides(), x.strides());
      const auto depth = std::count_if(loops.extents.begin(), loops.extents.end(), [](Dim d) { return !(d == Dim(1)); });
      if (depth > kMaxRank)
        l.fail(ErrorCode::RankTooHigh, fmt::format("it moves elements along {} axes; at most {} are supported", depth, kMaxRank));
      PointerArg to = y.pointer, from = x.pointer;
      to.offset += loops.to_offset;
      from.offset += loops.from_offset;
      l.copy(loops.extents, to, loops.to, from, loops.from, element);
    }
  }
}

}  // namespace onnxc
