#include "compiler/ops/nn/conv_winograd.h"

#include <algorithm>

#include "compiler/lowering/narrow.h"

namespace onnxc {
namespace {

/// `exact`: our own attribute, of convolutions of integers that f32 holds. Sums of products are exact then, transforms are not.
bool is_exact(const Node& node) { return node.integer("exact", 0) != 0; }

/// As in winograd.hpp: floats from one tile to the next, from one frequency to the next.
int64_t pitch(int64_t channels) { return (channels + 15) / 16 * 16 + 16; }
int64_t plane(int64_t floats) { return ((floats + 15) / 16 | 1) * 16; }

/// F(outputs, 3) in both directions; `plain`: its kernel transforms the weights.
void consider_winograd(Lowering& l, const ConvCall& c, int outputs, bool plain) {
  constexpr int64_t kPlainDepth = 64, kPlainTiles = 6;  // as in winograd.hpp; what the transform costs
  const int64_t side = outputs + 2, down = (c.likely(c.oh) + outputs - 1) / outputs, across = (c.likely(c.ow) + outputs - 1) / outputs;
  const int64_t tiles = (c.n.is_constant() ? c.n.value() : 1) * down * across;
  // Blocks of one size. For each all constants stream by once, so the more these are, the more of L2 a block may take.
  const int64_t constants = 4 * side * side * c.cin * c.cout, share = l.target().workspace_bytes() * 3 / 8;
  const int64_t fits = std::max<int64_t>(16, (share + std::min(share, constants)) / (4 * side * side * pitch(c.cin)));
  const int64_t blocks = std::max<int64_t>(1, (tiles + fits - 1) / fits), even = (tiles + blocks - 1) / blocks;
  const auto [tile, relative] = choose_winograd_tile(l.target(), even, c.cout);
  const int64_t block = blocks == 1 ? tiles : (even + tile.rows - 1) / tile.rows * tile.rows;
  const int64_t transformed = plain ? plane(std::min(c.cin, kPlainDepth) * tile.nr) : 0;
  const int64_t room = side * side * (plane(block * pitch(c.cin)) + plane(block * tile.nr) + transformed);  // floats
  if (room > l.target().workspace_bytes()) return;  // even the least block is far beyond what is to be spent
  const int64_t whole = block == 0 ? 0 : tiles / block, rows = whole * padded_rows(block, tile.rows) + padded_rows(tiles - whole * block, tile.rows) + (plain ? kPlainTiles * blocks : 0);
  const int64_t columns = (c.cout + tile.nr - 1) / tile.nr * tile.nr, bytes = 4 * (plain ? 9 : side * side) * c.cin * columns;
  const double macs = static_cast<double>(rows * side * side) * static_cast<double>(c.cin) * static_cast<double>(columns) * relative;
  const char* const row = outputs == 2 ? "winograd_2" : "winograd_4";
  const auto build = [&l, c, row, outputs, plain, block, room, bytes, tile = tile](const Storage& storage) {
    const View x = l.in(0, conv_input_layout(l)), y = l.out_any(0);
    const pack::ConvShape shape{.cout = c.cout, .cin = c.cin, .kh = 3, .kw = 3, .group = 1, .nr = tile.nr};
    const Packed packed{conv_weights(l), bytes / 4, [&l, shape, plain, outputs] {
                          return plain ? pack::conv_stem(conv_weights(l), shape) : pack::winograd(conv_weights(l), shape.cout, shape.cin, shape.nr, outputs);
                        }};
    std::vector<std::pair<std::string, Arg>> scales;
    const std::vector<float> factors = storage.scales.empty() ? std::vector<float>() : pack::conv_bias(storage.scales, shape);
    const PointerArg w = add_stored(l, conv_weights_name(l), packed, 9 * c.cin, tile.nr, storage, factors, scales);
    const PointerArg scratch = l.workspace("tiles", ElementType::F32, Dim(room) * l.threads());
    auto params = c.params(x, y, conv_bias(l, shape));
    params.insert(params.end(), scales.begin(), scales.end());
    params.emplace_back("weights_end", name_arg("weights_end"));
    StepBuilder step = l.call(row);
    step.template_name(std::to_string(outputs));
    tile_args(step, tile);
    if (plain) step.template_name("true");
    step.pointer(x).pointer(w).pointer(y).pointer(scratch).params(std::move(params)).dim(block);
    finish_conv(l, step, c, y);
  };
  if (plain)
    consider_stored(l, {row, macs, static_cast<double>(blocks), 9 * c.cin, columns, "plain weights"}, candidate_storages(l, {{conv_weights(l), c.cout, true}}, c.pixels, tile.rows), build);
  else
    l.consider(row, macs, static_cast<double>(bytes), [build] { build(Storage()); }, bytes - 4 * 9 * c.cin * c.cout);
}

}  // namespace

void consider_winograd(Lowering& l, const ConvCall& c) {
  if (is_exact(l.node()) || c.kh != 3 || c.kw != 3 || c.group != 1 || !c.plain_window() || c.cin < 8 || c.cout < 8) return;
  for (const int outputs : {2, 4}) {
    for (const bool plain : {false, true}) consider_winograd(l, c, outputs, plain);
  }
}

void consider_winograd_line(Lowering& l, const ConvCall& c) {
  if (is_exact(l.node()) || c.kw != 3 || c.group != 1 || c.window.strides[0] != 1 || c.window.strides[1] != 1 || c.cin < 8 || c.cout < 8) return;
  const int64_t dilation = c.window.dilations[1], dilation_y = c.window.dilations[0], height = c.likely(c.oh), n = c.n.is_constant() ? c.n.value() : 1;
  for (const int outputs : {2, 4}) {
    const int side = outputs + 2;
    const int64_t tiles = std::max<int64_t>(1, ((c.likely(c.ow) + dilation - 1) / dilation + outputs - 1) / outputs * dilation);
    // A block: tiles of one row if that is long, else rows, whose transformed input fits most of L2.
    const int64_t fits = std::max<int64_t>(28, l.target().workspace_bytes() * 3 / 4 / (4 * side * (c.cin + 16)));
    const int64_t ranges = (tiles + fits - 1) / fits, most = std::max<int64_t>(1, fits / tiles - (c.kh - 1) * dilation_y);
    const int64_t bands = ranges > 1 ? height : (height + most - 1) / most, rows = std::max<int64_t>(1, (height + bands - 1) / std::max<int64_t>(1, bands));
    const int64_t even = (tiles + ranges - 1) / ranges;
    const auto [tile, relative] = choose_winograd_tile(l.target(), rows * even, c.cout);
    const int64_t width = ranges > 1 ? (even + tile.rows - 1) / tile.rows * tile.rows : tiles;
    const int64_t blocks = n * ((height + rows - 1) / rows) * ((tiles + width - 1) / width);
    const int64_t columns = (c.cout + tile.nr - 1) / tile.nr * tile.nr, bytes = 4 * side * c.kh * c.cin * columns;
    const double macs = static_cast<double>(blocks * padded_rows(rows * width, tile.rows) * side) * static_cast<double>(c.kh * c.cin) * static_cast<double>(columns) * relative;
    l.consider(outputs == 2 ? "winograd_line_2" : "winograd_line_4", macs, static_cast<double>(bytes * blocks), [&l, c, outputs, side, rows, width, dilation_y, tile = tile] {
      const View x = l.in(0, conv_input_layout(l)), y = l.out_any(0);
      const pack::ConvShape shape{.cout = c.cout, .cin = c.cin, .kh = c.kh, .kw = 3, .group = 1, .nr = tile.nr};
      const PointerArg w = l.weights(conv_weights_name(l), {conv_weights(l), pack::panels_size(c.kh * c.cin * side, c.cout, tile.nr),
                                                            [&l, &c, tile, outputs] { return pack::winograd_line(conv_weights(l), c.cout, c.cin, c.kh, tile.nr, outputs); }});
      const int64_t floats = side * (plane((rows + (c.kh - 1) * dilation_y) * width * pitch(c.cin)) + plane(rows * width * tile.nr));
      const PointerArg scratch = l.workspace("tiles", ElementType::F32, Dim(floats) * l.threads());
      const auto bias = conv_bias(l, shape);
      auto params = c.params(x, y, bias);
      params.emplace_back("weights_end", name_arg("weights_end"));
      StepBuilder step = l.call(outputs == 2 ? "winograd_line_2" : "winograd_line_4");
      step.template_name(std::to_string(outputs));
      tile_args(step, tile).pointer(x).pointer(w).pointer(y).pointer(scratch).params(std::move(params)).dim(rows).dim(width);
      finish_conv(l, step, c, y);
    }, bytes - 4 * 3 * c.kh * c.cin * c.cout);
  }
}

}  // namespace onnxc
