// The loops of Winograd's convolutions in two directions: winograd.hpp, winograd_stride2.hpp. A block of output tiles
// is transformed to v [frequency][tile][cin]. Then, for each panel of NR output channels, all frequencies are
// multiplied to m [frequency][tile][NR], and m is transformed back at once. m stays in L1 or L2, v in L2; u streams by
// once a block.
//
// A form says what a tile, its transforms and its products are (WinogradForm in winograd.hpp). Transforms, products and
// the end of a block are functions of their own: in one function g++ 12 keeps pointers and accumulators on the stack,
// which more than doubles the overhead of each product.
#pragma once
#include "winograd_spoilt.hpp"

namespace onnxc::inline ONNXC_ISA {

namespace detail {

/// Whether a tile of A x A inputs lies inside of the image, and pixels are whole vectors of channels.
template <int A>
ONNXC_INLINE bool winograd_inside(int64_t top, int64_t left, const ConvParams& p) {
  return top >= 0 && top + A <= p.h && left >= 0 && left + A <= p.w && p.cin % Vec::width == 0;
}

/// The inputs of the tile that begins at (top, left) of `image`; `inside`: winograd_inside holds.
template <int A, bool inside>
struct WinogradPixels {
  const ConvParams& p;
  int64_t left, row;
  const float* rows[A];  // null: outside of the image

  ONNXC_INLINE WinogradPixels(const float* image, int64_t top, int64_t tile_left, const ConvParams& params)
      : p(params), left(tile_left), row(p.w * p.x_pixel) {
    for (int64_t i = 0; i < A; ++i) rows[i] = inside || (top + i >= 0 && top + i < p.h) ? image + (top + i) * row : nullptr;
  }
  /// Where channel c of pixel column j lies in each row. Opaque, because g++ would keep a pointer for each pixel, most
  /// of them on the stack.
  ONNXC_INLINE int64_t column(int j, int64_t c) const { return opaque((left + j) * p.x_pixel + c); }
  /// A vector of channels from c on of pixel (i, j), which lies at `at` as `column` returned it.
  ONNXC_INLINE Vec load(int i, int j, int64_t at, int64_t c) const {
    if (!inside && (rows[i] == nullptr || left + j < 0 || left + j >= p.w)) return Vec::all(0.0f);
    const float* const pixel = inside ? rows[0] + at + i * row : rows[i] + at;
    return inside || p.cin - c >= Vec::width ? Vec::load(pixel) : Vec::load(pixel, p.cin - c);
  }
};

/// The transformed tile of a slice that lies outside of the volume: zeros.
template <int frequencies>
ONNXC_INLINE void winograd_nothing(float* v, int64_t plane, int64_t cin) {
  for (int f = 0; f < frequencies; ++f) {
    for (int64_t c = 0; c < cin; c += Vec::width) Vec::all(0.0f).store(v + f * plane + c);
  }
}

/// Transforms `count` tiles from `point` on, NR channels from `channel` on, from m to y. marks: null, or where the
/// marks of the tiles lie, `next` floats apart; for a spoilt tile m holds its outputs already.
template <class Form, int NV, class Epi>
ONNXC_NOCLONE void winograd_finish(const float* m, int64_t plane, GridPoint point, int64_t count, int64_t channel, float* y,
                                   const ConvParams& p, const float* marks, int64_t next, const Epi& epi) {
  constexpr int T = Form::outputs;
  for (int64_t t = 0; t < count; ++t, point.advance()) {
    const bool spoilt = marks != nullptr && marks[t * next] != 0;
    const int64_t oy = point.y * T, ox = point.x * T, corner = (point.n * p.oh + oy) * p.ow + ox;
    const int64_t rows = p.oh - oy < T ? p.oh - oy : T, columns = p.ow - ox < T ? p.ow - ox : T;
    for (int64_t col = channel; col < channel + NV * Vec::width; col += Vec::width, m += Vec::width) {
      const int64_t lanes = p.cout - col;
      if (lanes <= 0) continue;
      const Vec bias = p.bias != nullptr ? Vec::load(p.bias + col) : Vec::all(0.0f);
      float* const to = y + corner * p.y_pixel + col;
      Vec out[T * T];
      if (spoilt) {
        ONNXC_UNROLL for (int i = 0; i < T * T; ++i) out[i] = Vec::load(m + i * plane);
      } else {
        Form::back(m, plane, out);
      }
      if (rows == T && columns == T && lanes >= Vec::width) {
        ONNXC_UNROLL for (int i = 0; i < T * T; ++i) {
          const int64_t pixel = i / T * p.ow + i % T;
          finish_vector(epi, out[i] + bias, corner + pixel, col, to + pixel * p.y_pixel);
        }
      } else {
        alignas(64) float whole[T * T * Vec::width];
        ONNXC_UNROLL for (int i = 0; i < T * T; ++i)(out[i] + bias).store(whole + i * Vec::width);
        for (int64_t i = 0; i < rows; ++i) {
          for (int64_t j = 0; j < columns; ++j) {
            const int64_t pixel = i * p.ow + j;
            finish_lanes(epi, Vec::load(whole + (i * T + j) * Vec::width), corner + pixel, col, to + pixel * p.y_pixel, lanes);
          }
        }
      }
    }
  }
}

/// What the products of a block read and write, for `count` tiles. Frequency f reads v + f * v_plane, whose rows of
/// `steps` channels lie `pitch` apart and those of the next tap `tap_step` further, multiplies them by u
/// [tap][steps][NR], and writes to m + f * m_plane [tile][NR]. u moves on by u_plane floats after every
/// `frequencies_per_u` frequencies.
struct WinogradProducts {
  const float* v;
  int64_t v_plane, pitch, count, steps, taps, tap_step;
  const float* u;
  int64_t u_plane;
  float* m;
  int64_t m_plane;
  int64_t frequencies_per_u = 1;

  /// The products after the first `frequencies`; `per_u` of them share u.
  WinogradProducts after(int64_t frequencies, int64_t per_u) const {
    WinogradProducts rest = *this;
    rest.v += frequencies * v_plane;
    rest.u += frequencies / frequencies_per_u * u_plane;
    rest.m += frequencies * m_plane;
    rest.frequencies_per_u = per_u;
    return rest;
  }
};

/// Sets `count` rows of m to the sum over `taps` of rows of v by u, or adds it to them where `onto`.
template <int MR, int NV, bool onto>
ONNXC_INLINE void winograd_rows(const float* v, int64_t pitch, int64_t steps, int64_t taps, int64_t tap_step, const float* u,
                                Prefetcher& ahead, float* m, int64_t count) {
  constexpr int NR = NV * Vec::width, kHalf = (MR + 1) / 2;
  const float* const end = u + taps * steps * NR;
  for (; count >= MR; count -= MR, v += MR * pitch, m += MR * NR) {
    Tile<MR, NV> tile;
    if (onto) tile.load([&](int64_t i) { return m + i * NR; });
    else tile.start(kZeros);
    const float* row = v;
    const float* b = u;
    do {  // there is at least one tap
      tile.add(EvenRows{row, pitch}, steps, b, ahead);
      ahead.advance(steps);
      row += tap_step;
      b += steps * NR;
    } while (b < end);
    m = opaque(m);
    tile.store([&](int64_t i) { return m + i * NR; }, MR);
  }
  for (; count > 0; count -= kHalf, v += kHalf * pitch, m += kHalf * NR) {
    const auto last = [&](int64_t i) { return i < count ? i : count - 1; };
    Tile<kHalf, NV> tile;
    if (onto) tile.load([&](int64_t i) { return m + last(i) * NR; });
    else tile.start(kZeros);
    for (int64_t tap = 0; tap < taps; ++tap, ahead.advance(steps)) {
      const float* rows[kHalf];
      for (int64_t i = 0; i < kHalf; ++i) rows[i] = v + last(i) * pitch + tap * tap_step;
      tile.add(static_cast<const float* const*>(rows), steps, u + tap * steps * NR, ahead);
    }
    tile.store([&](int64_t i) { return m + i * NR; }, count);
  }
}

/// Multiplies all frequencies. `fetch`: prefetches what lies behind u. A short function of its own, because g++ 12 runs
/// out of registers amid the transforms.
template <int MR, int NV>
ONNXC_NOCLONE void winograd_products(WinogradProducts g, int frequencies, Prefetcher& shared, bool fetch, bool onto) {
  constexpr int NR = NV * Vec::width;
  constexpr int64_t kFew = 8192;  // floats, which stay in L1; more go in slices, tap by tap, past all rows, with the sums in m
  const int64_t slices = (g.steps * NR + kFew - 1) / kFew, depth = (g.steps + slices - 1) / slices,
                taps_at_once = g.taps * g.steps * NR > kFew ? 1 : g.taps;
  Prefetcher ahead = shared;
  int64_t left_of_u = g.frequencies_per_u;
  for (int f = 0; f < frequencies; ++f, g.v += g.v_plane, g.m += g.m_plane) {
    const float* u = g.u;
    if (fetch) ahead.move(g.u + g.u_plane, g.steps, NR * 4 * MR / g.count);
    bool more = onto;
    for (int64_t tap = 0; tap < g.taps; tap += taps_at_once) {
      for (int64_t c = 0; c < g.steps; c += depth, more = true) {
        const int64_t steps = g.steps - c < depth ? g.steps - c : depth;
        const float* const v = g.v + tap * g.tap_step + c;
        if (more) winograd_rows<MR, NV, true>(v, g.pitch, steps, taps_at_once, g.tap_step, u, ahead, g.m, g.count);
        else winograd_rows<MR, NV, false>(v, g.pitch, steps, taps_at_once, g.tap_step, u, ahead, g.m, g.count);
        u += taps_at_once * steps * NR;
      }
    }
    if (--left_of_u == 0) {
      g.u += g.u_plane;
      left_of_u = g.frequencies_per_u;
    }
  }
  shared = ahead;
}

/// Floats of scratch for one share.
template <class Form, int NV, bool untransformed>
constexpr int64_t winograd_room(int64_t cin, int64_t block, int64_t taps) {
  return contract::winograd_scratch(Form::sizes, contract::winograd_planes(cin, taps, block, NV * Vec::width, untransformed));
}

/// The taps of a frequency: for each slice of a volume's kernel, its pieces of R x R.
struct WinogradTaps {
  int64_t slices = 1, down = 1, across = 1;
  int64_t count() const { return slices * down * across; }
};
template <class Form, bool many_taps>
ONNXC_INLINE WinogradTaps winograd_taps(const ConvParams& p) {
  constexpr int64_t R = Form::kernel_extent;
  if constexpr (many_taps) return {p.kd, (p.kh + R - 1) / R, (p.kw + R - 1) / R};
  else return {};
}

/// Calls visit(tap, image, top, left) for all taps of the tile at `point`. (top, left) is where its inputs begin; the
/// image is null outside of the volume.
template <class Form, bool many_taps, class Visit>
ONNXC_INLINE void winograd_each_tap(const float* x, GridPoint point, const WinogradTaps& taps, const ConvParams& p, Visit visit) {
  const int64_t top = point.y * Form::step - p.pad_top, left = point.x * Form::step - p.pad_left, image = p.h * p.w * p.x_pixel;
  if constexpr (many_taps) {
    const int64_t first_slice = point.n / p.od * p.d, front = point.n % p.od - p.pad_front;
    int64_t tap = 0;
    for (int64_t kz = 0; kz < taps.slices; ++kz) {
      const int64_t z = front + kz * p.dilation_z;
      for (int64_t piece = 0; piece < taps.down * taps.across; ++piece, ++tap) {
        const int64_t piece_top = piece / taps.across * Form::kernel_extent, piece_left = piece % taps.across * Form::kernel_extent;
        visit(tap, z >= 0 && z < p.d ? x + (first_slice + z) * image : nullptr, top + piece_top, left + piece_left);
      }
    }
  } else {
    visit(int64_t{0}, x + point.n * image, top, left);
  }
}

/// Transforms the tile at `point` for all taps, each `next` floats behind the one before. Marks the tile as spoilt or
/// not, and returns which.
template <class Form, bool many_taps>
ONNXC_INLINE bool winograd_inputs(const float* x, GridPoint point, const WinogradTaps& taps, float* v, int64_t next, int64_t plane,
                                  const ConvParams& p) {
  bool spoilt = false;
  winograd_each_tap<Form, many_taps>(x, point, taps, p,
                                     [&](int64_t tap, const float* image, int64_t top, int64_t left) ONNXC_INLINE_LAMBDA {
                                       if (image != nullptr) spoilt |= Form::forward(image, top, left, v + tap * next, plane, p);
                                       else winograd_nothing<Form::frequencies>(v + tap * next, plane, p.cin);
                                     });
  v[contract::winograd_mark(p.cin)] = spoilt ? 1.0f : 0.0f;
  return spoilt;
}

/// Sums the outputs of a spoilt tile at `point` directly, for the NR channels of a panel, to m: output i at
/// m + i * plane. kernel(tap, c, j, w) finds the taps w of input channel c and vector j of the panel.
template <class Form, int NV, bool many_taps, class Kernel>
ONNXC_INLINE void winograd_direct(const float* x, GridPoint point, const WinogradTaps& all, float* m, int64_t plane, const ConvParams& p,
                                  Kernel kernel) {
  constexpr int T = Form::outputs, R = Form::kernel_extent;
  for (int j = 0; j < NV; ++j) {
    Vec sums[T * T], w[R * R];
    for (Vec& sum : sums) sum = Vec::all(0.0f);
    winograd_each_tap<Form, many_taps>(
        x, point, all, p, [&](int64_t tap, const float* image, int64_t top, int64_t left) ONNXC_INLINE_LAMBDA {
          if (image == nullptr) return;
          const int64_t piece = tap % (all.down * all.across), rows = many_taps ? p.kh - piece / all.across * R : R,
                        columns = many_taps ? p.kw - piece % all.across * R : R;  // of the kernel
          constexpr int kSide = (T - 1) * Form::stride + R;
          const float* pixel[kSide * kSide];  // outside of the image: a zero, from which `step` does not move on
          int64_t step[kSide * kSide];
          for (int i = 0; i < kSide * kSide; ++i) {
            const int64_t iy = top + i / kSide, ix = left + i % kSide;
            const bool inside = iy >= 0 && iy < p.h && ix >= 0 && ix < p.w;
            pixel[i] = inside ? image + (iy * p.w + ix) * p.x_pixel : kZeros;
            step[i] = inside ? 1 : 0;
          }
          for (int64_t c = 0; c < p.cin; ++c) {
            kernel(tap, c, j, w);
            ONNXC_UNROLL for (int k = 0; k < R * R; ++k) {
              if (many_taps && (k / R >= rows || k % R >= columns)) continue;
              ONNXC_UNROLL for (int i = 0; i < T * T; ++i) {
                const int at = (i / T * Form::stride + k / R) * kSide + i % T * Form::stride + k % R;
                sums[i] = fma(Vec::all(pixel[at][c * step[at]]), w[k], sums[i]);
              }
            }
          }
        });
    for (int i = 0; i < T * T; ++i) sums[i].store(m + i * plane + j * Vec::width);
  }
}

/// Does so for all marked ones of the `count` tiles from `point` on. w: the weights of the panel, frequencies u_plane
/// apart, or untransformed ones.
template <class Form, int NV, bool untransformed, bool many_taps, class Row>
ONNXC_NOCLONE void winograd_direct_tiles(const float* x, GridPoint point, int64_t count, const WinogradTaps& all, const float* v, Row w,
                                         int64_t u_plane, float* m, int64_t plane, const ConvParams& p) {
  constexpr int NR = NV * Vec::width;
  const int64_t taps = all.count();
  for (int64_t t = 0; t < count; ++t, point.advance()) {
    if (v[t * contract::winograd_pitch(p.cin) + contract::winograd_mark(p.cin)] == 0) continue;
    winograd_direct<Form, NV, many_taps>(x, point, all, m + t * NR, plane, p,
                                         [&](int64_t tap, int64_t c, int j, Vec* kernel) ONNXC_INLINE_LAMBDA {
                                           if constexpr (untransformed) {
                                             for (int i = 0; i < Form::taps; ++i)
                                               kernel[i] = onnxc::load(w + ((c * taps + tap) * Form::taps + i) * NR, j * Vec::width);
                                           } else {
                                             Form::kernel_of(w + (tap * p.cin + c) * NR + j * Vec::width, u_plane, kernel);
                                           }
                                         });
  }
}

/// Computes all blocks of this share. v: winograd_room floats of this share. `untransformed`: u holds w as it is.
/// `many_taps`: there may be more than one tap.
template <class Form, int MR, int NV, bool untransformed, bool many_taps, class W, class Epi>
ONNXC_INLINE void winograd_blocks(Share share, const float* x, const W* u, float* y, float* v, const ConvParams& p, int64_t block,
                                  const Epi& epi) {
  static_assert(untransformed || std::is_same_v<W, float>);
  constexpr int T = Form::outputs, NR = NV * Vec::width, kFrequencies = Form::frequencies;
  constexpr int kKept = untransformed ? Form::taps : Form::kept;  // weights for each pair of channels
  const WinogradTaps all = winograd_taps<Form, many_taps>(p);
  const int64_t taps = all.count(), pitch = contract::winograd_pitch(p.cin);
  const contract::WinogradPlanes planes = contract::winograd_planes(p.cin, taps, block, NR, untransformed);
  const int64_t v_plane = planes.inputs, m_plane = planes.products;
  const int64_t panels = (p.cout + NR - 1) / NR;
  const int64_t down = (p.oh + T - 1) / T, across = (p.ow + T - 1) / T, tiles = p.n * p.od * down * across;
  // Threads divide the tiles. But if the weights fit no L2, each thread should read as few of them as it can, so they
  // divide the panels, though each then transforms the whole image.
  constexpr int64_t kMany = int64_t{1} << 20;  // floats
  const bool by_tiles = tiles >= int64_t{MR} * share.count && (kKept * taps * p.cin * p.cout < kMany || panels < share.count);
  const auto [first, last] = by_tiles ? share.slice(tiles) : Share::Range{0, tiles};
  const auto [first_panel, last_panel] = by_tiles ? Share::Range{0, panels} : share.slice(panels);
  float* const m = v + kFrequencies * v_plane;
  float* const transformed = m + kFrequencies * m_plane;  // of untransformed weights
  const int64_t depth = untransformed ? contract::winograd_depth(p.cin, taps) : int64_t{p.cin},
                u_plane = untransformed ? planes.weights : taps * depth * NR;
  for (int64_t from = first; from < last && first_panel < last_panel; from += block) {
    const int64_t count = last - from < block ? last - from : block;
    const GridPoint start(from, down, across);
    GridPoint point = start;
    bool spoilt = false;
    for (int64_t t = 0; t < count; ++t, point.advance())
      spoilt |= winograd_inputs<Form, many_taps>(x, point, all, v + t * pitch, block * pitch, v_plane, p);
    Prefetcher ahead(u + panels * kKept * taps * p.cin * NR, p.weights_end);
    for (int64_t panel = first_panel; panel < last_panel; ++panel) {
      for (int64_t c = 0; c < p.cin; c += depth) {
        const int64_t steps = p.cin - c < depth ? p.cin - c : depth;
        const auto given = panel_of(u, p.scales, panel, taps * p.cin * kKept, NR) + c * taps * kKept * NR;
        const float* frequencies = transformed;
        if constexpr (untransformed) {
          ahead.move(address_of(given + steps * taps * kKept * NR), steps,
                     taps * kKept * NR * int64_t{sizeof(W)} * MR / (kFrequencies * count));
          for (int64_t tap = 0; tap < taps; ++tap)
            Form::template weights<NV>(given + tap * kKept * NR, taps * kKept * NR, steps, transformed + tap * steps * NR, u_plane);
        } else {
          frequencies = given;
        }
        Form::template products<MR, NV>({v + c, v_plane, pitch, count, steps, taps, block * pitch, frequencies, u_plane, m, m_plane}, ahead,
                                        !untransformed, c > 0);
      }
      if (spoilt)
        winograd_direct_tiles<Form, NV, untransformed, many_taps>(
            x, start, count, all, v, panel_of(u, p.scales, panel, taps * p.cin * kKept, NR), u_plane, m, m_plane, p);
      winograd_finish<Form, NV>(m, m_plane, start, count, panel * NR, y, p, spoilt ? v + contract::winograd_mark(p.cin) : nullptr, pitch,
                                epi);
    }
  }
}

}  // namespace detail

}  // namespace onnxc
