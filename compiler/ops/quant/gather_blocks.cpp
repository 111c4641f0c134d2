// GatherBlockQuantized: data, indices, scales, zero_points. An index out of range gives 0. Data of a float type of 8 or 4 bits has no zero points, and
// scales of extent 1 along an axis apply to all of it.
//
// Rows of a constant table of bytes have kernels. All else is a composition.
#include <fmt/format.h>

#include <bit>

#include "compiler/ops/in_float.h"
#include "compiler/ops/kernel_query.h"
#include "compiler/ops/quant/linear.h"
#include "compiler/ops/selected.h"

namespace onnxc {
namespace {

bool is_scale_type(ElementType type) { return is_float(type) && info(type).bits >= 16; }
bool is_small_float(ElementType type) { return is_float(type) && info(type).bits <= 8 && type != ElementType::F8E8M0; }
struct Look {
  int64_t rank, gather_axis, quantize_axis, block, bits;
  bool in_bytes;  ///< a byte of data has several elements, along its last axis
};
Look look_of(const Graph& graph, const Node& node) {
  const Type& data = graph[node.inputs[0]].type;
  Look look{data.rank(), node.integer("gather_axis", 0), node.integer("quantize_axis", 1), node.integer("block_size", 128), 8, false};
  if (look.gather_axis < 0) look.gather_axis += look.rank;
  if (look.quantize_axis < 0) look.quantize_axis += look.rank;
  if (data.element == ElementType::U8) look.bits = node.integer("bits", 4);
  look.in_bytes = look.bits < 8;
  return look;
}

void need_block_size(Inference& n) {
  const int64_t block = n.node().integer("block_size", 128);
  if (block < 16 || block > INT32_MAX || !std::has_single_bit(static_cast<uint64_t>(block)))
    n.fail(fmt::format("block_size is {}; a power of two from 16 on is needed", block));
}

void infer_gather_blocks(Inference& n) {
  const int rank = n.rank(0);
  const ElementType type = n.element(0);
  static_cast<void>(n.axis(n.node().integer("gather_axis", 0), rank));
  static_cast<void>(n.axis(n.node().integer("quantize_axis", 1), rank));
  const bool floats = is_small_float(type);
  if (type != ElementType::U8 && type != ElementType::I4 && type != ElementType::U4 && !floats)
    n.fail(fmt::format("data is {}", name(type)));
  const Look look = look_of(n.graph(), n.node());
  if (look.gather_axis == look.quantize_axis) n.fail("gather_axis is quantize_axis");
  if (look.bits != 2 && look.bits != 4 && look.bits != 8) n.fail(fmt::format("bits is {}", look.bits));
  if (type == ElementType::U8 && look.quantize_axis != rank - 1) n.fail("data of bytes is quantised along its last axis");
  if (!floats || look.block != 0) need_block_size(n);
  if (floats && n.has(3)) n.fail(fmt::format("zero points for data of {}", name(type)));
  if (n.element(1) != ElementType::I32 && n.element(1) != ElementType::I64) n.fail(fmt::format("the indices are {}", name(n.element(1))));
  if (!is_scale_type(n.element(2))) n.fail(fmt::format("the scales are {}", name(n.element(2))));
  if (n.has(3) && n.element(3) != type) n.fail(fmt::format("the zero points are {}, data {}", name(n.element(3)), name(type)));
  Extents whole = n.extents(0);
  if (look.in_bytes) whole.back() *= 8 / look.bits;
  for (int k = 0; k < rank; ++k) {
    const auto at = static_cast<std::size_t>(k);
    if (n.rank(2) != rank) n.fail(fmt::format("the scales have rank {}, data {}", n.rank(2), rank));
    if (floats && k != look.quantize_axis && n.extents(2)[at] == Dim(1)) continue;
    n.unify(n.extents(2)[at],
            k != look.quantize_axis ? whole[at]
            : look.block == 0       ? Dim(1)
                                    : ceil_div(whole[at], look.block),
            "the scales and data");
  }
  Extents out(whole.begin(), whole.begin() + look.gather_axis);
  for (Dim d : n.extents(1)) out.push_back(d);
  out.insert(out.end(), whole.begin() + look.gather_axis + 1, whole.end());
  n.output(0, n.element(2), std::move(out));
}

/// The scales of blocks along an axis, each repeated for the elements of its block; `length` in total. A single scale
/// is not repeated, since it broadcasts.
ValueId of_blocks(GraphBuilder& b, ValueId scales, int64_t axis, int64_t block, Dim length) {
  Extents wide = b.extents(scales);
  Dim& count = wide[static_cast<std::size_t>(axis)];
  if (count == Dim(1)) return scales;
  Extents apart = wide;
  apart.insert(apart.begin() + axis + 1, Dim(block));
  count *= block;
  const ValueId all =
      b.op("Reshape", {b.op("Expand", {b.op("Unsqueeze", {scales, b.integers({axis + 1})}), b.shape(apart)}), b.shape(wide)},
           {{"allowzero", int64_t{1}}});
  return count == length ? all : b.op("Slice", {all, b.integers({0}), b.shape({length}), b.integers({axis})});
}

/// Whether kernels look up its rows as they are packed. Constant indices pick constants, by the parts of the composition.
bool has_packed_rows(const Graph& graph, const Node& node) {
  const auto is_constant = [&](int i) { return graph.constant(node.input(i)) != nullptr; };
  return is_constant(0) && is_constant(2) && (!node.has_input(3) || is_constant(3)) && !is_constant(1) &&
         graph[node.inputs[0]].type.element == ElementType::U8 && graph[node.inputs[2]].type.element == ElementType::F32 &&
         graph[node.inputs[0]].type.rank() == 2 && look_of(graph, node).gather_axis == 0;
}

void lower_gather_blocks(KernelQuery& l) {
  const Look look = look_of(l.graph(), l.node());
  const int64_t row_bytes = l.constant(0)->shape[1];
  const Dim count = element_count(l.extents(1));
  const double bytes = static_cast<double>(row_bytes) * (count.is_constant() ? static_cast<double>(count.value()) : 1);
  if (l.optimise()) consider_packed_rows(l, bytes);
  l.consider("scalar_gather_blocks", 0, bytes, [&l, look, row_bytes, count] {
    const View table = l.in(0), indices = l.in(1), scales = l.in(2);
    StepBuilder step = l.call("scalar_gather_blocks");
    step.template_arg(look.bits).pointer(l.out(0)).pointer(table).pointer(scales);
    step.optional_pointer(3).pointer(indices);
    step.params({{"rows", dim_arg(l.constant(0)->shape[0])},
                 {"k", dim_arg(row_bytes * 8 / look.bits)},
                 {"block", dim_arg(look.block)},
                 {"count", dim_arg(count)}})
        .emit();
  });
  l.build_cheapest();
}

std::optional<std::vector<ValueId>> decompose_gather_blocks(GraphBuilder& b, const Node& node) {
  if (has_packed_rows(b.graph(), node)) return std::nullopt;
  const Look look = look_of(b.graph(), node);
  const ElementType type = b.type(node.input(0)).element, out = b.type(node.outputs[0]).element;
  const Dim slices = b.extents(node.input(0))[static_cast<std::size_t>(look.gather_axis)];
  // Indices out of range read slice 0; their results become 0 in the end.
  const ValueId given = cast_to(b, node.input(1), ElementType::I64);
  const ValueId end = b.op("Squeeze", {b.shape({slices}), b.integers({0})});
  const ValueId inside = b.op("And", {b.op("Less", {given, end}), b.op("GreaterOrEqual", {given, b.op("Neg", {end})})});
  const ValueId indices = b.op("Where", {inside, given, b.number(ElementType::I64, 0)});
  const auto gather = [&](ValueId v) { return b.op("Gather", {v, indices}, {{"axis", look.gather_axis}}); };

  const int64_t shift = b.rank(indices) - 1, axis = look.quantize_axis + (look.quantize_axis > look.gather_axis ? shift : 0);
  const auto unpacked = [&](ValueId v, Dim elements) {  // from bytes: `elements` values along the last axis
    if (!look.in_bytes) return v;
    Extents wide = b.extents(v);
    wide.back() *= 8 / look.bits;
    const ValueId list = b.op("Reshape", {packed_codes(b, v, look.bits), b.shape(wide)}, {{"allowzero", int64_t{1}}});
    if (wide.back() == elements) return list;
    return b.op("Slice", {list, b.integers({0}), b.shape({elements}), b.integers({-1})});
  };
  ValueId scales = cast_to(b, node.input(2), ElementType::F32);
  const bool one = b.extents(scales)[static_cast<std::size_t>(look.gather_axis)] == Dim(1);  // the same for all indices
  scales = b.op("Gather", {scales, one ? b.op("Mul", {indices, b.number(ElementType::I64, 0)}) : indices}, {{"axis", look.gather_axis}});
  const Dim blocks = b.extents(scales)[static_cast<std::size_t>(axis)];
  std::vector<int64_t> inner;
  for (int64_t k = look.gather_axis + 1; k < look.rank; ++k) inner.push_back(b.rank(inside) + k - look.gather_axis - 1);
  const ValueId mask = inner.empty() ? inside : b.op("Unsqueeze", {inside, b.integers(inner)});
  const auto result = [&](ValueId y) { return std::vector{cast_to(b, b.op("Where", {mask, y, b.number(ElementType::F32, 0)}), out)}; };
  const ValueId bytes = gather(node.input(0));
  if (is_small_float(type))
    return result(b.op("Mul", {cast_to(b, bytes, ElementType::F32),
                               of_blocks(b, scales, axis, look.block, b.extents(bytes)[static_cast<std::size_t>(axis)])}));
  const ValueId codes = unpacked(bytes, b.extents(bytes).back() * (look.in_bytes ? 8 / look.bits : 1));
  ValueId zeros = kAbsent;
  if (node.has_input(3)) {
    zeros = unpacked(gather(node.input(3)), blocks);
  } else if (type == ElementType::U8) {
    zeros = b.op("Expand", {b.number(ElementType::U8, static_cast<double>(1 << (look.bits - 1))), b.shape(b.extents(scales))});
  }
  return result(b.op("DequantizeLinear", {codes, scales, zeros}, {{"axis", axis}, {"block_size", look.block}}));
}

}  // namespace

extern const Operator op_GatherBlockQuantized;
const Operator op_GatherBlockQuantized{.name = "GatherBlockQuantized",
                                       .domain = "com.microsoft",
                                       .min_inputs = 3,
                                       .max_inputs = 4,
                                       .max_outputs = 1,
                                       .infer = infer_gather_blocks,
                                       .decompose = decompose_gather_blocks,
                                       .lower = lower_gather_blocks};

}  // namespace onnxc
