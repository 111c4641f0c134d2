#include "compiler/select/conv/conv_winograd.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "compiler/select/weights/stored.h"
#include "runtime_stub/onnxc/contract/gemm.hpp"
#include "runtime_stub/onnxc/contract/winograd.hpp"

namespace onnxc {
namespace {

using Form = contract::WinogradForm;

/// Whether the form has the convolution's kernel and stride, so that the kernel is not cut into pieces.
bool takes_all_of(const Form& form, const ConvCall& c) {
  return form.taps == c.kh && form.taps == c.kw && form.stride == c.window.strides[0] && (form.stride == 1 || !c.is_deep());
}

std::string row_name(std::string_view kernel, const Form& form) {
  return fmt::format("{}{}_{}_{}", kernel, form.stride == 1 ? "" : "_stride2", form.outputs, form.taps);
}

StepBuilder& form_args(StepBuilder& step, const Form& form, const Tile& tile) {
  step.template_arg(form.outputs);
  if (form.stride == 1) step.template_arg(form.taps);
  return tile_args(step, tile);
}

// The fewest tiles of a block that is made smaller than the cache requires: twice the rows of the highest register
// tiles.
constexpr int64_t kLeastTiles = 28;

/// The number of blocks for `items`, with at most `fits` in each. It is a multiple of the threads, for equal shares,
/// as long as a block keeps at least `least` items.
int64_t blocks_of(int64_t items, int64_t fits, int64_t least, int64_t threads) {
  const int64_t needed = std::max<int64_t>(1, (items + fits - 1) / fits), even = (needed + threads - 1) / threads * threads;
  return even * least <= items ? even : needed;
}

/// Considers a form in both directions. `untransformed`: the kernel itself transforms the weights, which are stored
/// untransformed.
void consider_winograd(KernelQuery& l, const ConvCall& c, const Form& form, bool untransformed) {
  const int outputs = form.outputs;
  const int64_t frequencies = int64_t{form.points()} * form.points(), kept = int64_t{form.kept()} * form.kept(),
                taps = int64_t{form.taps} * form.taps;
  // Taps of a frequency: the kernel's slices and pieces, whose products all add to the same frequency.
  const int64_t frequency_taps = c.kd() * form.pieces(c.kh) * form.pieces(c.kw);
  const int64_t down = (c.likely(c.oh) + outputs - 1) / outputs, across = (c.likely(c.ow) + outputs - 1) / outputs;
  const int64_t tiles = c.likely_slices() * down * across, channels = frequency_taps * c.cin;
  // All blocks have the same size. Each reads all weights once, so the more weights there are, the more of L2 a block
  // may fill.
  const int64_t constants = 4 * kept * channels * c.cout, share = l.target().workspace_bytes() * 3 / 8;
  const int64_t fits =
      std::max<int64_t>(16, (share + std::min(share, constants)) / (4 * frequencies * frequency_taps * contract::winograd_pitch(c.cin)));
  const int64_t blocks = blocks_of(tiles, fits, kLeastTiles, tiles > fits ? l.threads() : 1), even = (tiles + blocks - 1) / blocks;
  const auto [tile, relative] = choose_winograd_tile(l.target(), even, channels, c.cout, !untransformed);
  const int64_t block = blocks == 1 ? tiles : (even + tile.rows - 1) / tile.rows * tile.rows;
  const contract::WinogradPlanes planes = contract::winograd_planes(c.cin, frequency_taps, block, tile.nr, untransformed);
  const int64_t transformed = kept * planes.weights, room = contract::winograd_scratch(form, planes);
  // Even the smallest block exceeds the memory that may be spent.
  if (room > l.target().workspace_bytes()) return;
  const WinogradCosts& costs = l.target().machine->winograd;
  const double rate = form.stride == 1 ? costs.transform_rate : costs.stride2_transform_rate;
  // The cost of transforming weights, counted in tiles, by the cache that holds their transforms. l2_bytes is half of
  // L2, hence the factor 2.
  const bool in_l2 =
      4 * (frequencies * block * contract::winograd_pitch(c.cin) + transformed + taps * channels * c.cout) <= 2 * l.target().l2_bytes;
  // May exceed L1 by a little: the transforms are only stored there, and beyond L1 the rate is that of stores.
  const bool in_l1 = 4 * transformed <= 2 * l.target().l1_bytes;
  const double transform_tiles = in_l1 ? costs.weights_in_l1 : (in_l2 ? costs.weights_in_l2 : costs.weights_beyond_l2) * rate;
  const int64_t whole = block == 0 ? 0 : tiles / block,
                rows = whole * contract::half_padded_rows(block, tile.rows) + contract::half_padded_rows(tiles - whole * block, tile.rows);
  const int64_t columns = (c.cout + tile.nr - 1) / tile.nr * tile.nr, bytes = 4 * (untransformed ? taps : kept) * channels * columns;
  const double transforms = rate * static_cast<double>(tiles * frequencies) *
                            (costs.input * static_cast<double>((channels + 15) / 16 * 16) + costs.output * static_cast<double>(columns));
  const double macs =
      ((static_cast<double>(rows * frequencies) + (untransformed ? transform_tiles * static_cast<double>(blocks * kept) : 0)) *
           static_cast<double>(channels) * static_cast<double>(columns) +
       transforms) *
      relative * costs.earned;
  const std::string row = row_name("winograd", form);
  const auto build = [&l, c, row, form, taps, frequency_taps, channels, untransformed, block, room, bytes,
                      tile = tile](const Storage& storage) {
    const View x = l.in(0, conv_input_layout(l)), y = l.out_any(0);
    const pack::ConvShape shape{.cout = c.cout, .cin = c.cin, .kh = frequency_taps * form.taps, .kw = form.taps, .group = 1, .nr = tile.nr};
    const Packed packed{conv_weights(l), bytes / 4, [&l, c, shape, untransformed, form] {
                          const auto panels = [&](std::span<const float> weights) {
                            if (untransformed) return pack::conv_stem(weights, shape);
                            return form.stride == 1 ? pack::winograd(weights, shape, form.outputs)
                                                    : pack::winograd_stride2(weights, shape, form.outputs);
                          };
                          return takes_all_of(form, c) ? panels(conv_weights(l))
                                                       : panels(pack::square_pieces(conv_weights(l), c.kd(), c.kh, c.kw, form.taps));
                        }};
    NamedArgs scales;
    const std::vector<float> factors = storage.scales.empty() ? std::vector<float>() : pack::conv_bias(storage.scales, shape);
    const PointerArg w = add_stored(l, conv_weights_name(l), packed, taps * channels, tile.nr, storage, factors, scales);
    const PointerArg scratch = l.thread_workspace("tiles", ElementType::F32, Dim(room));
    auto params = c.params(x, y, conv_bias(l, shape));
    params.insert(params.end(), scales.begin(), scales.end());
    params.emplace_back("weights_end", UnitArg::WeightsEnd);
    StepBuilder step = l.call(row);
    form_args(step, form, tile);
    if (untransformed || frequency_taps > 1) step.template_arg(untransformed);
    if (frequency_taps > 1) step.template_arg(true);
    step.pointer(x).pointer(w).pointer(y).pointer(scratch).params(std::move(params)).dim(block);
    finish_conv(l, step, c, y);
  };
  if (untransformed)
    consider_stored(l,
                    {row, macs, static_cast<double>(blocks), taps * channels, columns, "untransformed weights",
                     (taps * frequency_taps - c.taps()) * c.cin * c.cout},
                    candidate_storages(l, {{conv_weights(l), c.cout, true}}, c.pixels, tile.rows), build);
  else l.consider(row, macs, static_cast<double>(bytes), [build] { build(Storage()); }, bytes - 4 * c.taps() * c.cin * c.cout);
}

/// One direction of a convolution: its kernel's length and dilation, and the length of the result.
struct Direction {
  int64_t taps, dilation, outputs;
};

constexpr Form kLineForm{4, 3};

/// Considers F(4, 3) along one direction: along columns where `down`, otherwise along rows.
void consider_winograd_line(KernelQuery& l, const ConvCall& c, bool down) {
  const Direction vertical{c.kh, c.window.dilations[0], c.likely(c.oh)}, horizontal{c.kw, c.window.dilations[1], c.likely(c.ow)};
  const Direction &along = down ? vertical : horizontal, &across = down ? horizontal : vertical;
  const int64_t points = kLineForm.points(), n = c.n.is_constant() ? c.n.value() : 1, pieces = kLineForm.pieces(along.taps),
                taps = across.taps * pieces;
  const int64_t tiles = std::max<int64_t>(1, contract::winograd_line_tiles(kLineForm.outputs, along.outputs, along.dilation));
  // A block is a part of one line if lines are long, otherwise several whole lines. Its transformed input fits in
  // most of L2.
  const int64_t fits = std::max<int64_t>(28, l.target().workspace_bytes() * 3 / 4 / (4 * points * pieces * (c.cin + 16)));
  const int64_t sharers = n * across.outputs == 1 ? l.threads() : 1, ranges = blocks_of(tiles, fits, kLeastTiles, sharers);
  const int64_t halo = (across.taps - 1) * across.dilation, most = std::max<int64_t>(1, fits / tiles - halo);
  const int64_t bands = ranges > 1 ? across.outputs : blocks_of(across.outputs, most, (kLeastTiles + tiles - 1) / tiles, l.threads());
  const int64_t lines = std::max<int64_t>(1, (across.outputs + bands - 1) / std::max<int64_t>(1, bands));
  const int64_t even = (tiles + ranges - 1) / ranges;
  const auto [tile, relative] = choose_winograd_tile(l.target(), lines * even, taps * c.cin, c.cout);
  const int64_t width = ranges > 1 ? (even + tile.rows - 1) / tile.rows * tile.rows : tiles;
  const int64_t blocks = n * ((across.outputs + lines - 1) / lines) * ((tiles + width - 1) / width);
  const int64_t columns = (c.cout + tile.nr - 1) / tile.nr * tile.nr, bytes = 4 * points * taps * c.cin * columns;
  const double macs = static_cast<double>(blocks * contract::half_padded_rows(lines * width, tile.rows) * points) *
                      static_cast<double>(taps * c.cin) * static_cast<double>(columns) * relative;
  const std::string row = row_name("winograd_line", kLineForm);
  l.consider(
      row, macs, static_cast<double>(bytes * blocks),
      [&l, c, row, down, across, lines, width, pieces, bytes, tile = tile] {
        const View x = l.in(0, conv_input_layout(l)), y = l.out_any(0);
        const pack::ConvShape shape{.cout = c.cout, .cin = c.cin, .kh = c.kh, .kw = c.kw, .group = 1, .nr = tile.nr};
        const PointerArg w =
            l.weights(conv_weights_name(l), {conv_weights(l), bytes / 4, [&l, shape, down] {
                                               return pack::winograd_line(conv_weights(l), shape, kLineForm.outputs, kLineForm.taps, down);
                                             }});
        const contract::WinogradPlanes planes =
            contract::winograd_line_planes(c.cin, pieces, across.taps, across.dilation, lines, width, tile.nr);
        const PointerArg scratch = l.thread_workspace("tiles", ElementType::F32, Dim(contract::winograd_line_scratch(kLineForm, planes)));
        auto params = c.params(x, y, conv_bias(l, shape));
        params.emplace_back("weights_end", UnitArg::WeightsEnd);
        StepBuilder step = l.call(row);
        form_args(step, kLineForm, tile);
        if (down) step.template_arg(true);
        step.pointer(x).pointer(w).pointer(y).pointer(scratch).params(std::move(params)).dim(lines).dim(width);
        finish_conv(l, step, c, y);
      },
      bytes - 4 * c.kh * c.kw * c.cin * c.cout);
}

/// Whether F(4, 3) along a line takes a kernel of such a length: in pieces of 3 where there is one tap across.
bool takes_line(int64_t length, int64_t across) { return length == 3 || (length > 3 && across == 1); }

}  // namespace

void consider_winograd(KernelQuery& l, const ConvCall& c) {
  if (c.group != 1 || c.over.z.stride != 1 || c.cin < 8 || c.cout < 8) return;
  const std::vector<int64_t>&strides = c.window.strides, &dilations = c.window.dilations;
  if (strides[0] != strides[1] || dilations[0] != 1 || dilations[1] != 1) return;
  const auto consider = [&](const Form& form) {
    for (const bool untransformed : {false, true}) consider_winograd(l, c, form, untransformed);
  };
  // Some form takes the whole kernel without cutting it.
  bool whole = false;
  for (const Form& form : {Form{2, 3}, Form{4, 3}, Form{3, 4}, Form{2, 3, 2}, Form{4, 3, 2}}) {
    if (!takes_all_of(form, c)) continue;
    whole = true;
    consider(form);
  }
  if (!whole && strides[0] == 1 && std::min(c.kh, c.kw) >= 3) consider({4, 3});
}

void consider_winograd_line(KernelQuery& l, const ConvCall& c) {
  if (c.is_deep() || c.group != 1 || c.window.strides[0] != 1 || c.window.strides[1] != 1 || c.cin < 8 || c.cout < 8) return;
  if (takes_line(c.kw, c.kh)) consider_winograd_line(l, c, false);
  else if (takes_line(c.kh, c.kw)) consider_winograd_line(l, c, true);
}

}  // namespace onnxc
