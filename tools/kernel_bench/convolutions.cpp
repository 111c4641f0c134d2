// Convolutions of targets/kernels/linear.inc, on layers of well-known networks. Weights stream from beyond L2. Work
// is stated as in compiler/ops/nn.
#include <fmt/format.h>

#include <algorithm>

#include <onnxc/conv_3d.hpp>
#include <onnxc/conv_few_outputs.hpp>
#include <onnxc/conv_grouped.hpp>
#include <onnxc/conv_planar.hpp>
#include <onnxc/conv_quads.hpp>
#include <onnxc/conv_quads_planar.hpp>
#include <onnxc/conv_stem.hpp>
#include <onnxc/conv_windows.hpp>
#include <onnxc/depthwise_bytes.hpp>
#include <onnxc/depthwise_chain.hpp>
#include <onnxc/depthwise_taps.hpp>
#include <onnxc/gemm_quads.hpp>
#include <onnxc/stem_chain.hpp>
#include <onnxc/stem_winograd.hpp>
#include <onnxc/winograd.hpp>
#include <onnxc/winograd_line.hpp>
#include <onnxc/winograd_stride2.hpp>

#include "compiler/select/weights/pack.h"
#include "targets/target.h"
#include "tools/kernel_bench/suite.h"
#include "tools/kernel_bench/tile.h"

namespace onnxc::inline ONNXC_ISA::bench {
namespace {

/// A square layer with "same" padding.
struct Layer {
  int64_t side, cin, cout, k, stride = 1, dilation = 1, group = 1;

  int64_t out() const { return (side - 1) / stride + 1; }
  std::string name() const {
    return fmt::format("{}x{}x{}-{}_k{}{}{}", side, side, cin, cout, k, stride > 1 ? fmt::format("_s{}", stride) : "",
                       dilation > 1 ? fmt::format("_d{}", dilation) : "");
  }
  template <class Params = ConvParams>
  Params params() const {
    Params p{};
    p.h = p.w = side;
    p.oh = p.ow = out();
    p.cin = cin;
    if constexpr (requires { p.x_pixel; }) p.x_pixel = cin;
    p.cout = p.y_pixel = cout;
    p.kh = p.kw = k;
    p.stride_y = p.stride_x = stride;
    p.dilation_y = p.dilation_x = dilation;
    p.pad_top = p.pad_left = (k - 1) * dilation / 2;
    if constexpr (requires { p.group; }) p.group = group;
    return p;
  }
  double macs(int64_t columns) const { return double(out() * out()) * double(columns) * double(cin / group * k * k); }
  Work tiled() const { return {macs(padded_to(cout, kTile.nr)), 4.0 * double(cout * (cin / group) * k * k)}; }
  float* image(Data& d) const { return d.numbers(side * side * cin); }
  float* result(Data& d) const { return d.room(out() * out() * cout); }
  std::span<const float> weights(Data& d) const {
    return {d.numbers(cout * (cin / group) * k * k), static_cast<std::size_t>(cout * (cin / group) * k * k)};
  }
  pack::ConvShape shape(int64_t nr) const { return {.cout = cout, .cin = cin / group, .kh = k, .kw = k, .group = group, .nr = nr}; }
};

void add_conv(Suite& suite, Layer l) {
  suite.add("conv", l.name(), l.tiled(), [l](Data& d) {
    return [p = l.params(), x = l.image(d), &w = d.stream(pack::conv(l.weights(d), l.shape(kTile.nr))), y = l.result(d)] {
      conv<kTile.mr, kTile.nv>({}, x, w.next(), y, p);
    };
  });
}

void add_windows(Suite& suite, Layer l) {
  suite.add("conv_windows", l.name(), l.tiled(), [l](Data& d) {
    return [p = l.params(), x = l.image(d), &w = d.stream(pack::conv(l.weights(d), l.shape(kTile.nr))), y = l.result(d),
            windows = d.room(contract::window_floats(kTile.mr, l.cin * l.k * l.k))] {
      conv_windows<kTile.mr, kTile.nv>({}, x, w.next(), y, windows, p);
    };
  });
}

template <int SX>
void add_stem(Suite& suite, Layer l) {
  suite.add("conv_stem", l.name(), l.tiled(), [l](Data& d) {
    return [p = l.params(), x = l.image(d), &w = d.stream(pack::conv_stem(l.weights(d), l.shape(kTile.nr))), y = l.result(d)] {
      conv_stem<kTile.mr, kTile.nv, SX>({}, x, w.next(), y, p);
    };
  });
}

/// F(T, R) with P pixels at a time; also with 3x3 max pooling of stride 2, in bands of four rows.
template <int T, int R, int P, int SX>
void add_stem_winograd(Suite& suite, Layer l) {
  const auto weights = [l](Data& d) -> auto& { return d.stream(pack::stem_winograd(l.weights(d), l.shape(Vec::width), T, R, SX)); };
  const Work work{l.macs(padded_to(l.cout, Vec::width)), 0};
  suite.add("stem_winograd", l.name(), work, [l, weights](Data& d) {
    return [p = l.params(), x = l.image(d), &u = weights(d), y = l.result(d), v = d.room(stem_winograd_scratch<T, R, P>(l.params()))] {
      stem_winograd<T, R, P, SX>({}, x, u.next(), y, v, p);
    };
  });
  suite.add("stem_winograd_pool", l.name(), work, [l, weights](Data& d) {
    constexpr int64_t kBand = 4;
    const int64_t out = (l.out() - 3) / 2 + 1;
    const StemPoolParams p{.stem = l.params(),
                           .pool = {.h = l.out(),
                                    .w = l.out(),
                                    .c = l.cout,
                                    .oh = out,
                                    .ow = out,
                                    .kh = 3,
                                    .kw = 3,
                                    .stride_y = 2,
                                    .stride_x = 2,
                                    .y_pixel = l.cout},
                           .band = kBand,
                           .pitch = l.cout};
    return [p, x = l.image(d), &u = weights(d), y = d.room(out * out * l.cout),
            ring = d.room(ring_rows(p.pool, kBand, T) * l.out() * l.cout), v = d.room(stem_winograd_scratch<T, R, P>(l.params()))] {
      stem_winograd_pool<T, R, P, SX>({}, x, u.next(), y, ring, v, p, Epilogue<Keep>{}, Epilogue<Keep>{});
    };
  });
}

void add_planar(Suite& suite, Layer l) {
  const auto weights = [l](Data& d) { return d.copy(pack::conv_stem(l.weights(d), l.shape(6))); };
  suite.add("conv_planar", l.name(), {l.macs(l.cout), 0}, [l, weights](Data& d) {
    return [p = l.params(), x = l.image(d), w = weights(d), y = l.result(d), scratch = d.room(conv_planar_scratch<2>(l.params()))] {
      conv_planar<6, 2, 2>({}, x, w, y, scratch, p);
    };
  });
  suite.add("conv_planar_pool", l.name(), {l.macs(l.cout), 0}, [l, weights](Data& d) {
    return [p = l.params(), x = l.image(d), w = weights(d), y = l.result(d), scratch = d.room(conv_planar_scratch<2>(l.params()))] {
      conv_planar_pool<6, 2>({}, x, w, y, scratch, p, Epilogue<Keep>{}, Epilogue<Keep>{});
    };
  });
}

template <int K, int SX>
void add_depthwise(Suite& suite, Layer l) {
  suite.add("depthwise", l.name(), {l.macs(l.cout), 0}, [l](Data& d) {
    return [p = l.params(), x = l.image(d), w = d.copy(pack::depthwise(l.weights(d), l.cin, K, K)), y = l.result(d)] {
      depthwise<K, K, SX>({}, x, w, y, p);
    };
  });
}

void add_depthwise_winograd(Suite& suite, Layer l) {
  suite.add("depthwise_winograd", l.name(), {l.macs(l.cout), 0}, [l](Data& d) {
    return [p = l.params(), x = l.image(d), w = d.copy(pack::depthwise_winograd(l.weights(d), l.cin)), y = l.result(d)] {
      depthwise_winograd({}, x, w, y, p);
    };
  });
}

void add_depthwise_any(Suite& suite, Layer l) {
  suite.add("depthwise_any", l.name(), {l.macs(l.cout), 0}, [l](Data& d) {
    return [p = l.params(), x = l.image(d), w = d.copy(pack::depthwise(l.weights(d), l.cin, l.k, l.k)), y = l.result(d),
            scratch = d.room(depthwise_any_scratch(l.k, l.k, l.params().stride_x, l.params().dilation_y, l.params().dilation_x))] {
      depthwise_any({}, x, w, y, scratch, p);
    };
  });
}

void add_depthwise_taps(Suite& suite, Layer l) {
  suite.add("depthwise_taps", l.name(), {l.macs(l.cout), 0}, [l](Data& d) {
    return [p = l.params(), x = l.image(d), w = d.copy(pack::depthwise(l.weights(d), l.cin, l.k, l.k)), y = l.result(d)] {
      depthwise_taps({}, x, w, y, p);
    };
  });
}

/// 14x2 tiles. Times are by quads of multiply-adds.
void add_quads(Suite& suite, Layer l) {
  constexpr int64_t NR = 2 * Vec::width;
  const std::vector<int8_t> w(static_cast<std::size_t>(l.cin * l.k * l.k * l.cout), 3);
  if (l.k == 1) {
    suite.add("gemm_quads", l.name(), {l.macs(l.cout) / 4, 0}, [l, w](Data& d) {
      const QuadGemmParams p{.m = l.side * l.side, .n = l.cout, .k = l.cin, .lda = l.cin, .ldc = l.cout};
      return [p, x = d.room<uint8_t>(p.m * p.k), y = d.room<int32_t>(p.m * p.n),
              w = d.copy(pack::quads(w, {.k = p.k, .n = p.n, .nr = NR}))] { gemm_quads<14, 2>({}, x, w, y, p); };
    });
    return;
  }
  suite.add("conv_quads", l.name(), {l.macs(l.cout) / 4, 0}, [l, w](Data& d) {
    auto p = l.params<QuadConvParams>();
    p.cin = p.x_pixel = l.cin / 4;
    p.band = contract::quad_band(p.ow);
    const int64_t rows = contract::inputs_under(p.band, p.stride_y, p.kh, 1), columns = contract::inputs_under(p.ow, p.stride_x, p.kw, 1);
    return [p, scratch = d.room<uint8_t>(rows * columns * l.cin), x = d.room<uint8_t>(l.side * l.side * l.cin),
            y = d.room<int32_t>(l.out() * l.out() * l.cout),
            w = d.copy(pack::conv_quads(w, {.cout = l.cout, .cin = l.cin, .kh = l.k, .kw = l.k, .nr = NR}))] {
      conv_quads<14, 2>({}, x, w, y, scratch, p);
    };
  });
}

void add_planar_quads(Suite& suite, Layer l) {
  constexpr int NR = 2 * Vec::width;
  const std::vector<int8_t> w(static_cast<std::size_t>(l.cout * l.cin * l.k * l.k), 3);
  suite.add("conv_quads_planar", l.name(), {l.macs(l.cout) / static_cast<double>(l.k) * static_cast<double>(contract::quads(l.k)), 0},
            [l, w](Data& d) {
              return [p = l.params<PlanarQuadConvParams>(), x = d.room<uint8_t>(l.side * l.side * l.cin),
                      y = d.room<int32_t>(l.out() * l.out() * l.cout),
                      w = d.copy(pack::planar_quads(w, {.cout = l.cout, .cin = l.cin, .kh = l.k, .kw = l.k, .nr = NR})),
                      scratch = d.room<uint8_t>(l.cin * l.k * contract::planar_quads_row(l.out(), l.stride, l.k))] {
                conv_quads_planar<14, 2>({}, x, w, y, scratch, p);
              };
            });
}

template <int R, int KW>
void add_depthwise_bytes(Suite& suite, Layer l) {
  suite.add("depthwise_bytes", l.name(), {l.macs(l.cout), 0}, [l](Data& d) {
    const std::vector<int8_t> w(static_cast<std::size_t>(l.cin * l.k * l.k), 3);
    return [p = l.params<DepthwiseBytesParams>(), x = d.room<uint8_t>(l.side * l.side * l.cin),
            y = d.room<int32_t>(l.out() * l.out() * l.cout),
            w = d.copy(pack::depthwise_quads(w, {.c = l.cin, .kh = l.k, .kw = l.k, .rows = R, .stride_y = l.stride, .lanes = Vec::width})),
            scratch = d.room<uint8_t>(contract::depthwise_bytes_scratch(l.k, l.k, l.stride, 1, Vec::width))] {
      depthwise_bytes<R, KW>({}, x, w, y, scratch, p);
    };
  });
}

/// 1x1 to `middle` channels, depthwise, 1x1: an inverted residual block, in bands as in
/// compiler/select/islands/conv_chain.cpp.
template <int SX>
void add_chain(Suite& suite, int64_t side, int64_t cin, int64_t middle, int64_t cout) {
  const Layer inner{side, middle, middle, 3, SX, 1, middle};
  DepthwiseChainParams p{
      .conv = inner.params(), .cin = cin, .cout = cout, .x_pixel = cin, .y_pixel = cout, .pitch = middle % 512 == 0 ? middle + 16 : middle};
  p.band = std::min<int64_t>(4, inner.out());
  const double macs = inner.macs(middle) + double(side * side * cin * middle) + double(inner.out() * inner.out() * middle * cout);
  const auto chain = [=]<bool kWinograd>(Data& d, std::bool_constant<kWinograd>) {
    const auto panels = [&](int64_t k, int64_t n) {
      return d.copy(pack::panels({d.numbers(k * n), static_cast<std::size_t>(k * n)}, {.k = k, .n = n, .nr = kTile.nr}));
    };
    return [p, x = d.numbers(side * side * cin), expand = panels(cin, middle), project = panels(middle, cout),
            w = d.copy(kWinograd ? pack::depthwise_winograd(inner.weights(d), middle) : pack::depthwise(inner.weights(d), middle, 3, 3)),
            y = d.room(inner.out() * inner.out() * cout), scratch = d.room(depthwise_chain_scratch(p, kTile.nv, true))] {
      const Epilogue<Keep> keep;
      depthwise_chain<kTile.mr, kTile.nv, 3, 3, SX, kTile.mr, kTile.nv, false, false, kWinograd>({}, x, expand, w, project, y, scratch, p,
                                                                                                 keep, keep, keep);
    };
  };
  const std::string layer = fmt::format("{}x{}x{}-{}-{}_k3_s{}", side, side, cin, middle, cout, SX);
  suite.add("depthwise_chain", layer, {macs, 0}, [=](Data& d) { return chain(d, std::false_type()); });
  if constexpr (SX == 1) suite.add("depthwise_winograd_chain", layer, {macs, 0}, [=](Data& d) { return chain(d, std::true_type()); });
}

/// A stem fused with its successor, in bands of four rows: 3x3 max pooling of stride 2, or a 3x3 depthwise
/// convolution.
template <int SX>
void add_stem_chains(Suite& suite, Layer l) {
  constexpr int64_t kBand = 4;
  const Layer inner{l.out(), l.cout, l.cout, 3, 1, 1, l.cout};
  suite.add("stem_pool", l.name(), l.tiled(), [=](Data& d) {
    const int64_t out = (l.out() - 3) / 2 + 1;
    const StemPoolParams p{.stem = l.params(),
                           .pool = {.h = l.out(),
                                    .w = l.out(),
                                    .c = l.cout,
                                    .oh = out,
                                    .ow = out,
                                    .kh = 3,
                                    .kw = 3,
                                    .stride_y = 2,
                                    .stride_x = 2,
                                    .y_pixel = l.cout},
                           .band = kBand,
                           .pitch = l.cout};
    return [p, x = l.image(d), &w = d.stream(pack::conv_stem(l.weights(d), l.shape(kTile.nr))), y = d.room(out * out * l.cout),
            scratch = d.room(ring_rows(p.pool, kBand) * l.out() * l.cout)] {
      stem_pool<kTile.mr, kTile.nv, SX>({}, x, w.next(), y, scratch, p, Epilogue<Keep>{}, Epilogue<Keep>{});
    };
  });
  suite.add("stem_depthwise", l.name(), {l.macs(l.cout) + inner.macs(l.cout), 0}, [=](Data& d) {
    const StemDepthwiseParams p{
        .stem = l.params(),
        .chain = {.conv = inner.params(), .cin = l.cin, .cout = l.cout, .y_pixel = l.cout, .band = kBand, .pitch = l.cout}};
    return [p, x = l.image(d), &w = d.stream(pack::conv_stem(l.weights(d), l.shape(kTile.nr))),
            inner_w = d.copy(pack::depthwise(inner.weights(d), l.cout, 3, 3)), y = inner.result(d),
            scratch = d.room(stem_depthwise_scratch(p, false))] {
      const Epilogue<Keep> keep;
      stem_depthwise<kTile.mr, kTile.nv, SX, 3, 3, 1, 0, 1>({}, x, w.next(), inner_w, nullptr, y, scratch, p, keep, keep, keep);
    };
  });
}

/// To N channels.
template <int N>
void add_few_outputs(Suite& suite, Layer l) {
  suite.add("conv_few_outputs", l.name(), {l.macs(N) * double(padded_to(l.cin, Vec::width)) / double(l.cin)}, [l](Data& d) {
    return [p = l.params(), x = l.image(d),
            w = d.copy(pack::few_outputs(l.weights(d), {.cout = N, .cin = l.cin, .kh = l.k, .kw = l.k}, Vec::width)),
            y = l.result(d)] { conv_few_outputs<N>({}, x, w, y, p); };
  });
}

/// 3x3 in groups of GC channels.
template <int GC>
void add_grouped(Suite& suite, Layer l) {
  if constexpr (Vec::width % GC == 0) {
    suite.add("conv_grouped", fmt::format("{}_g{}", l.name(), GC), {double(l.out() * l.out() * l.cout * 9 * GC)}, [=](Data& d) {
      const std::span<const float> weights{d.numbers(l.cout * 9 * GC), static_cast<std::size_t>(l.cout * 9 * GC)};
      return [p = l.params(), x = l.image(d), w = d.copy(pack::grouped(weights, {.cout = l.cout, .cin = GC, .kh = 3, .kw = 3}, Vec::width)),
              y = l.result(d)] { conv_grouped<3, 1, GC, 7>({}, x, w, y, p); };
    });
  }
}

/// A kernel of 3x3x3 on a volume.
void add_conv_3d(Suite& suite, int64_t depth, int64_t size, int64_t channels) {
  const ConvParams p{.h = size,
                     .w = size,
                     .cin = channels,
                     .oh = size,
                     .ow = size,
                     .cout = channels,
                     .kh = 3,
                     .kw = 3,
                     .pad_top = 1,
                     .pad_left = 1,
                     .x_pixel = channels,
                     .y_pixel = channels,
                     .d = depth,
                     .od = depth,
                     .kd = 3,
                     .pad_front = 1};
  const int64_t pixels = depth * size * size, columns = padded_to(channels, kTile.nr), taps = 27 * channels;
  suite.add("conv_3d", fmt::format("{}x{}x{}x{}_k3", depth, size, size, channels),
            {double(pixels * taps * columns), 4.0 * double(3 * taps * columns)}, [=](Data& d) {
              const std::span<const float> weights{d.numbers(channels * taps), static_cast<std::size_t>(channels * taps)};
              return [p, x = d.numbers(pixels * channels),
                      &w = d.stream(pack::conv(weights, {.cout = channels, .cin = channels, .kh = 9, .kw = 3, .nr = kTile.nr})),
                      y = d.room(pixels * channels)] { conv_3d<kTile.mr, kTile.nv>({}, x, w.next(), y, p); };
            });
}

/// Blocks are as in compiler/select/conv/conv_winograd.cpp. The kernel is R x R.
template <int T, int R, int S, bool untransformed>
void add_winograd(Suite& suite, const char* row, Layer l) {
  constexpr int64_t kTransformTiles = 3, kPoints = S == 1 ? T + R - 1 : 2 * T + 1, kPlanes = kPoints * kPoints,
                    kKept = S == 1 ? kPlanes : (T + 2) * (T + 2);
  const int64_t tiles = (l.out() + T - 1) / T * ((l.out() + T - 1) / T),
                fits = std::max<int64_t>(16, find_target("native")->l2_bytes * 3 / 4 / (4 * kPlanes * (l.cin + 16)));
  const int64_t blocks = (tiles + fits - 1) / fits,
                block = blocks == 1 ? tiles : padded_to((tiles + blocks - 1) / blocks, kWinogradTile.mr);
  const int64_t whole = tiles / block,
                rows = whole * contract::half_padded_rows(block, kWinogradTile.mr) +
                       contract::half_padded_rows(tiles - whole * block, kWinogradTile.mr),
                columns = padded_to(l.cout, kWinogradTile.nr),
                products = rows * kPlanes + (untransformed ? blocks * kTransformTiles * kKept : 0);
  const double transforms = double(tiles * kPlanes) * (5.0 * double(padded_to(l.cin, 16)) + 3.2 * double(columns));  // as multiply-adds
  suite.add(row, l.name() + (untransformed ? "_untransformed" : ""),
            {double(products * l.cin) * double(columns) + transforms, 4.0 * double((untransformed ? R * R : kKept) * l.cin * columns)},
            [=](Data& d) {
              const pack::ConvShape shape{.cout = l.cout, .cin = l.cin, .kh = R, .kw = R, .nr = kWinogradTile.nr};
              const std::span<const float> w = l.weights(d);
              auto& u = d.stream(untransformed ? pack::conv_stem(w, shape)
                                 : S == 1      ? pack::winograd(w, shape, T)
                                               : pack::winograd_stride2(w, shape, T));
              const int64_t room = S == 1 ? winograd_scratch<T, R, kWinogradTile.nv, untransformed>(l.cin, block)
                                   : winograd_stride2_scratch < T == 4 ? 4
                                                                       : 2,
                            kWinogradTile.nv, untransformed > (l.cin, block);
              return [p = l.params(), block, x = l.image(d), &u, y = l.result(d), scratch = d.room(room)] {
                if constexpr (S == 1)
                  winograd<T, R, kWinogradTile.mr, kWinogradTile.nv, untransformed>({}, x, u.next(), y, scratch, p, block);
                else winograd_stride2<T, kWinogradTile.mr, kWinogradTile.nv, untransformed>({}, x, u.next(), y, scratch, p, block);
              };
            });
}
/// With weights that the compiler transformed, and with untransformed ones.
template <int T, int R, int S = 1>
void add_winograd(Suite& suite, const char* row, Layer l) {
  add_winograd<T, R, S, false>(suite, row, l);
  add_winograd<T, R, S, true>(suite, row, l);
}

/// A line of `width` pixels, as in networks for sound.
template <int T, int R>
void add_winograd_line(Suite& suite, const char* row, int64_t width, int64_t cin, int64_t cout, int64_t dilation) {
  constexpr int64_t kPoints = T + R - 1;
  const int64_t tiles = contract::winograd_line_tiles(T, width, dilation),
                fits = std::max<int64_t>(28, find_target("native")->l2_bytes * 3 / 4 / (4 * kPoints * (cin + 16)));
  const int64_t ranges = (tiles + fits - 1) / fits, block = ranges > 1 ? padded_to((tiles + ranges - 1) / ranges, kWinogradTile.mr) : tiles;
  const int64_t columns = padded_to(cout, kWinogradTile.nr), blocks = (tiles + block - 1) / block, streamed = kPoints * cin * columns;
  const ConvParams p{.w = width,
                     .cin = cin,
                     .ow = width,
                     .cout = cout,
                     .kw = R,
                     .dilation_x = dilation,
                     .pad_left = R / 2 * dilation,
                     .x_pixel = cin,
                     .y_pixel = cout};
  suite.add(row, fmt::format("{}x{}-{}_k{}_d{}", width, cin, cout, R, dilation),
            {double(blocks * contract::half_padded_rows(block, kWinogradTile.mr)) * double(streamed), 4.0 * double(blocks * streamed)},
            [=](Data& d) {
              const std::span<const float> weights{d.numbers(cout * cin * R), static_cast<std::size_t>(cout * cin * R)};
              const pack::ConvShape shape{.cout = cout, .cin = cin, .kh = 1, .kw = R, .nr = kWinogradTile.nr};
              return [p, block, x = d.numbers(width * cin), &u = d.stream(pack::winograd_line(weights, shape, T, R)),
                      y = d.room(width * cout), scratch = d.room(winograd_line_scratch<T, R, kWinogradTile.nv>(cin, 1, 1, 1, block))] {
                winograd_line<T, R, kWinogradTile.mr, kWinogradTile.nv>({}, x, u.next(), y, scratch, p, 1, block);
              };
            });
}

}  // namespace

void add_convolutions(Suite& suite) {
  for (const Layer l :
       {Layer{56, 64, 64, 3}, {28, 128, 256, 3, 2}, {14, 256, 256, 3}, {7, 512, 512, 3}, {14, 256, 512, 1, 2}, {32, 16, 16, 3}})
    add_conv(suite, l);
  add_conv_3d(suite, 16, 28, 64);
  add_conv_3d(suite, 4, 7, 256);
  add_windows(suite, {32, 16, 16, 3});
  add_stem<2>(suite, {224, 3, 64, 7, 2});
  add_stem<2>(suite, {96, 3, 8, 3, 2});
  add_stem<1>(suite, {28, 1, 6, 5});
  add_stem_winograd<5, 4, 3, 2>(suite, {224, 3, 64, 7, 2});
  add_stem_winograd<4, 3, 4, 1>(suite, {112, 3, 64, 3});
  add_stem_winograd<4, 5, 3, 1>(suite, {96, 1, 64, 5});
  add_planar(suite, {28, 1, 6, 5});
  add_planar(suite, {96, 3, 6, 3});
  add_depthwise<3, 1>(suite, {112, 32, 32, 3, 1, 1, 32});
  add_depthwise<3, 2>(suite, {56, 144, 144, 3, 2, 1, 144});
  add_depthwise<3, 1>(suite, {14, 576, 576, 3, 1, 1, 576});
  add_depthwise<5, 1>(suite, {28, 120, 120, 5, 1, 1, 120});
  add_depthwise<5, 1>(suite, {7, 960, 960, 5, 1, 1, 960});
  add_depthwise_winograd(suite, {112, 32, 32, 3, 1, 1, 32});
  add_depthwise_winograd(suite, {14, 576, 576, 3, 1, 1, 576});
  for (const Layer& l : {Layer{28, 192, 64, 1}, Layer{14, 256, 1024, 1}, Layer{56, 64, 64, 3}, Layer{7, 512, 512, 3}}) add_quads(suite, l);
  add_planar_quads(suite, {112, 3, 32, 3, 2});
  add_planar_quads(suite, {64, 1, 64, 5});
  add_depthwise_bytes<2, 3>(suite, {28, 192, 192, 3, 1, 1, 192});
  add_depthwise_bytes<1, 3>(suite, {112, 96, 96, 3, 2, 1, 96});
  add_depthwise_bytes<4, 0>(suite, {28, 120, 120, 5, 1, 1, 120});
  add_depthwise_taps(suite, {28, 120, 120, 3, 1, 1, 120});
  add_depthwise_any(suite, {14, 576, 576, 3, 1, 2, 576});
  add_depthwise_any(suite, {28, 120, 120, 3, 1, 2, 120});
  add_depthwise_any(suite, {32, 256, 256, 9, 1, 1, 256});
  add_few_outputs<1>(suite, {64, 32, 1, 5});
  add_few_outputs<3>(suite, {64, 32, 3, 9});
  add_grouped<4>(suite, {56, 128, 128, 3, 1, 1, 32});
  add_grouped<8>(suite, {28, 128, 128, 3, 1, 1, 16});
  add_chain<1>(suite, 56, 24, 144, 24);
  add_chain<2>(suite, 112, 16, 96, 24);
  add_stem_chains<2>(suite, {224, 3, 32, 3, 2});
  for (const Layer l : {Layer{56, 64, 64, 3}, {28, 128, 128, 3}, {14, 256, 256, 3}, {7, 512, 512, 3}, {32, 16, 16, 3}}) {
    add_winograd<2, 3>(suite, "winograd_2_3", l);
    add_winograd<4, 3>(suite, "winograd_4_3", l);
  }
  for (const Layer l : {Layer{56, 64, 128, 3, 2}, {28, 128, 256, 3, 2}, {14, 256, 512, 3, 2}, {32, 16, 32, 3, 2}, {16, 32, 64, 3, 2}}) {
    add_winograd<2, 3, 2>(suite, "winograd_stride2_2_3", l);
    add_winograd<4, 3, 2>(suite, "winograd_stride2_4_3", l);
  }
  for (const Layer l : {Layer{31, 64, 64, 4}, {12, 16, 16, 4}}) {
    add_conv(suite, l);
    add_winograd<3, 4>(suite, "winograd_3_4", l);
  }
  for (const auto& [width, channels] : {std::pair<int64_t, int64_t>{1000, 64}, {60, 256}}) {
    for (const int64_t dilation : {1, 4}) {
      add_winograd_line<4, 3>(suite, "winograd_line_4_3", width, channels, channels, dilation);
    }
  }
}

}  // namespace onnxc::inline ONNXC_ISA::bench
