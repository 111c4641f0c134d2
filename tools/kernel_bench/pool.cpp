// targets/kernels/pool.inc: pooling, resizing, transposed convolution.
#include <onnxc/conv_3d.hpp>
#include <onnxc/conv_few_outputs.hpp>
#include <onnxc/pool.hpp>
#include <onnxc/pool_3d.hpp>
#include <onnxc/pool_bytes.hpp>
#include <onnxc/pool_planar.hpp>
#include <onnxc/resize_planar.hpp>
#include <onnxc/scalar/conv_transpose.hpp>
#include <onnxc/scalar/max_unpool.hpp>
#include <onnxc/scalar/pool.hpp>
#include <onnxc/scalar/resize.hpp>
#include <onnxc/scalar/roi.hpp>

#include "compiler/select/weights/pack.h"
#include "tools/kernel_bench/suite.h"
#include "tools/kernel_bench/tile.h"

namespace onnxc::inline ONNXC_ISA::bench {
namespace {

constexpr PoolParams kStemPool{.h = 112,
                               .w = 112,
                               .c = 64,
                               .oh = 56,
                               .ow = 56,
                               .kh = 3,
                               .kw = 3,
                               .stride_y = 2,
                               .stride_x = 2,
                               .pad_top = 1,
                               .pad_left = 1,
                               .x_pixel = 64,
                               .y_pixel = 64};
constexpr PoolParams kTransitionPool{
    .h = 28, .w = 28, .c = 256, .oh = 14, .ow = 14, .kh = 2, .kw = 2, .stride_y = 2, .stride_x = 2, .x_pixel = 256, .y_pixel = 256};

constexpr PoolParams kVolumePool{.h = 32,
                                 .w = 32,
                                 .c = 32,
                                 .oh = 16,
                                 .ow = 16,
                                 .kh = 2,
                                 .kw = 2,
                                 .stride_y = 2,
                                 .stride_x = 2,
                                 .x_pixel = 32,
                                 .y_pixel = 32,
                                 .d = 16,
                                 .od = 8,
                                 .kd = 2,
                                 .stride_z = 2};

ResizeAxis resized(Data& d, ResizeTableParams p) {
  p.taps = resize_taps(p.filter, p.antialias, static_cast<double>(p.out) / static_cast<double>(p.in));
  int32_t* const index = d.room<int32_t>(p.taps * p.out);
  float* const weight = d.room(p.taps * p.out);
  resize_table(p, index, weight);
  return {p.out, p.taps, index, weight};
}
/// An axis resized linearly to twice its length.
ResizeAxis twice(Data& d, int64_t size) { return resized(d, {.in = size, .out = 2 * size}); }

void add_pools(Suite& suite) {
  suite.add("max_pool_planar", "28x28x6_k2_s2", {14 * 14 * 6 * 4}, [](Data& d) {
    return [x = d.numbers(28 * 28 * 6), y = d.room(14 * 14 * 6)] {
      max_pool_planar<2>({}, x, y, {.h = 28, .w = 28, .c = 6, .oh = 14, .ow = 14, .kh = 2, .kw = 2, .stride_y = 2, .stride_x = 2});
    };
  });
  for (const auto& [name, p] : {std::pair{"112x112x64_k3_s2", kStemPool}, {"28x28x256_k2_s2", kTransitionPool}}) {
    const Work work{double(p.oh * p.ow * p.c * p.kh * p.kw)};
    suite.add("max_pool", name, work,
              [p = p](Data& d) { return [p, x = d.numbers(p.h * p.w * p.c), y = d.room(p.oh * p.ow * p.c)] { max_pool({}, x, y, p); }; });
    suite.add("max_pool_bytes", name, work, [p = p](Data& d) {
      return [p, x = d.room<uint8_t>(p.h * p.w * p.c), y = d.room<uint8_t>(p.oh * p.ow * p.c)] { max_pool_bytes<uint8_t>({}, x, y, p); };
    });
    suite.add("average_pool", name, work, [p = p](Data& d) {
      return [p, x = d.numbers(p.h * p.w * p.c), y = d.room(p.oh * p.ow * p.c)] { average_pool({}, x, y, p); };
    });
  }
  const Work volume{8.0 * 16 * 16 * 32 * 8};
  suite.add("max_pool_3d", "16x32x32x32_k2_s2", volume, [](Data& d) {
    return [x = d.numbers(16 * 32 * 32 * 32), y = d.room(8 * 16 * 16 * 32)] { max_pool_3d({}, x, y, kVolumePool); };
  });
  suite.add("average_pool_3d", "16x32x32x32_k2_s2", volume, [](Data& d) {
    return [x = d.numbers(16 * 32 * 32 * 32), y = d.room(8 * 16 * 16 * 32)] { average_pool_3d({}, x, y, kVolumePool); };
  });
}

void add_resizes(Suite& suite) {
  suite.add("resize", "28x28x64_linear_x2", {4.0 * 56 * 56 * 64}, [](Data& d) {
    return [x = d.numbers(28 * 28 * 64), y = d.room(56 * 56 * 64), axis = twice(d, 28)] {
      resize<2, 2>({}, x, y, {.h = 28, .w = 28, .c = 64, .x_pixel = 64, .y_pixel = 64, .y = axis, .x = axis});
    };
  });
  suite.add("resize", "28x28x64_cubic_x2", {16.0 * 56 * 56 * 64}, [](Data& d) {
    return [x = d.numbers(28 * 28 * 64), y = d.room(56 * 56 * 64), axis = resized(d, {.in = 28, .out = 56, .filter = Filter::cubic})] {
      resize<4, 4>({}, x, y, {.h = 28, .w = 28, .c = 64, .x_pixel = 64, .y_pixel = 64, .y = axis, .x = axis});
    };
  });
  const auto add_planar = [&]<int down, int across>(const char* name, int64_t from, int64_t to, Filter filter) {
    suite.add("resize_planar", name, {double(down * across * 8 * to * to)}, [=](Data& d) {
      return [=, x = d.numbers(8 * from * from), y = d.room(8 * to * to), axis = resized(d, {.in = from, .out = to, .filter = filter})] {
        resize_planar<down, across>({}, x, y, {.planes = 8, .h = from, .w = from, .y = axis, .x = axis});
      };
    });
  };
  add_planar.template operator()<2, 2>("8x32x32_linear_x4", 32, 128, Filter::linear);
  add_planar.template operator()<2, 2>("8x128x128_linear_half", 128, 64, Filter::linear);
  add_planar.template operator()<2, 2>("8x256x256_linear_quarter", 256, 64, Filter::linear);
  add_planar.template operator()<4, 4>("8x64x64_cubic_x2", 64, 128, Filter::cubic);
  suite.add("resize_table", "224_to_448", {2.0 * 448}, [](Data& d) {
    return [index = d.room<int32_t>(896), weight = d.room(896)] { resize_table({.in = 224, .out = 448, .taps = 2}, index, weight); };
  });
}

void add_transposed_convolutions(Suite& suite) {
  suite.add("conv_transpose", "28x28x64-32_k2_s2", {784.0 * 4 * 64 * double(padded_to(32, kTile.nr))}, [](Data& d) {
    const ConvParams p{.h = 28,
                       .w = 28,
                       .cin = 64,
                       .oh = 56,
                       .ow = 56,
                       .cout = 32,
                       .kh = 2,
                       .kw = 2,
                       .stride_y = 2,
                       .stride_x = 2,
                       .x_pixel = 64,
                       .y_pixel = 32};
    const std::span<const float> weights{d.numbers(64 * 32 * 4), 64 * 32 * 4};
    return
        [p, x = d.numbers(784 * 64), w = d.copy(pack::conv_transpose(weights, {.cout = 32, .cin = 64, .kh = 2, .kw = 2, .nr = kTile.nr})),
         y = d.room(3136 * 32)] { conv_transpose<kTile.mr, kTile.nv>({}, x, w, y, p); };
  });
  suite.add("conv_transpose_few_outputs", "64x64x64-1_k9_s2", {64.0 * 64 * 81 * 64}, [](Data& d) {
    const ConvParams p{.h = 64,
                       .w = 64,
                       .cin = 64,
                       .oh = 128,
                       .ow = 128,
                       .cout = 1,
                       .kh = 9,
                       .kw = 9,
                       .stride_y = 2,
                       .stride_x = 2,
                       .pad_top = 4,
                       .pad_left = 4,
                       .x_pixel = 64,
                       .y_pixel = 1};
    const std::span<const float> weights{d.numbers(81 * 64), 81 * 64};
    return [p, x = d.numbers(4096 * 64), w = d.copy(pack::few_outputs(weights, {.cout = 1, .cin = 64, .kh = 9, .kw = 9}, Vec::width, true)),
            y = d.room(16384)] { conv_transpose_few_outputs<1>({}, x, w, y, p); };
  });
  suite.add("conv_transpose_3d", "8x16x16x64-32_k2_s2", {2048.0 * 8 * 64 * double(padded_to(32, kTile.nr))}, [](Data& d) {
    const ConvParams p{.h = 16,
                       .w = 16,
                       .cin = 64,
                       .oh = 32,
                       .ow = 32,
                       .cout = 32,
                       .kh = 2,
                       .kw = 2,
                       .stride_y = 2,
                       .stride_x = 2,
                       .x_pixel = 64,
                       .y_pixel = 32,
                       .d = 8,
                       .od = 16,
                       .kd = 2,
                       .stride_z = 2};
    const std::span<const float> weights{d.numbers(64 * 32 * 8), 64 * 32 * 8};
    return
        [p, x = d.numbers(2048 * 64), w = d.copy(pack::conv_transpose(weights, {.cout = 32, .cin = 64, .kh = 4, .kw = 2, .nr = kTile.nr})),
         y = d.room(16384 * 32)] { conv_transpose_3d<kTile.mr, kTile.nv>({}, x, w, y, p); };
  });
}

void add_scalar_twins(Suite& suite) {
  const scalar::PoolParams scalar_pool{.kernel = {2, 2}, .strides = {2, 2}, .dilations = {1, 1}, .pads = {0, 0}, .pads_end = {0, 0}};
  suite.add("scalar_max_pool", "16x28x28_k2", {12544}, [p = scalar_pool](Data& d) {
    return [p, x = d.in({1, 16, 28, 28}), y = d.out({1, 16, 14, 14})] { scalar::max_pool({}, y, nullptr, x, p); };
  });
  suite.add("scalar_average_pool", "16x28x28_k2", {12544}, [p = scalar_pool](Data& d) {
    return [p, x = d.in({1, 16, 28, 28}), y = d.out({1, 16, 14, 14})] { scalar::average_pool({}, y, x, p); };
  });
  suite.add("scalar_lp_pool", "16x28x28_k2", {12544}, [p = scalar_pool](Data& d) {
    return [p, x = d.in({1, 16, 28, 28}), y = d.out({1, 16, 14, 14})] { scalar::lp_pool({}, y, x, p); };
  });
  suite.add("scalar_max_unpool", "16x14x14", [](Data& d) {
    return [x = d.in({1, 16, 14, 14}), at = d.counting(3136, 3136), y = d.out({1, 16, 28, 28})] {
      return scalar::max_unpool(y, x, at, Shape{1, 16, 28, 28});
    };
  });
  suite.add("scalar_roi_align", "4_of_16x28x28", [](Data& d) {
    const Tensor<const float> rois{d.list({2.f, 2.f, 20.f, 20.f, 0.f, 0.f, 27.f, 27.f, 5.f, 3.f, 9.f, 12.f, 1.f, 1.f, 14.f, 14.f}), {4, 4}};
    return [rois, x = d.in({1, 16, 28, 28}), batch = d.room<int64_t>(4), y = d.out({4, 16, 7, 7})] {
      return scalar::roi_align(y, x, rois, batch, {.sampling_ratio = 2});
    };
  });
  suite.add("scalar_max_roi_pool", "2_of_16x28x28", [](Data& d) {
    const Tensor<const float> rois{d.list({0.f, 2.f, 2.f, 20.f, 20.f, 0.f, 0.f, 0.f, 27.f, 27.f}), {2, 5}};
    return [rois, x = d.in({1, 16, 28, 28}), y = d.out({2, 16, 7, 7})] { return scalar::max_roi_pool(y, x, rois, 1.0); };
  });
  suite.add("scalar_resize", "16x28_rows_x2", {2.0 * 16 * 56 * 28}, [](Data& d) {
    return [axis = twice(d, 28), x = d.numbers(16 * 28 * 28), y = d.room(16 * 56 * 28)] {
      scalar::resize({}, y, x, axis.index, axis.weight, {.outer = 16, .in = 28, .out = 56, .inner = 28, .taps = 2});
    };
  });
  suite.add("scalar_conv_transpose", "14x14x16-8_k2_s2", {196.0 * 4 * 16 * 8}, [](Data& d) {
    return [x = d.in({1, 16, 14, 14}), w = d.in({16, 8, 2, 2}), y = d.out({1, 8, 28, 28})] {
      scalar::conv_transpose<float>({}, y, x, w, nullptr, {.strides = {2, 2}, .dilations = {1, 1}, .pads = {0, 0}});
    };
  });
}

}  // namespace

void add_pool(Suite& suite) {
  add_pools(suite);
  add_resizes(suite);
  add_transposed_convolutions(suite);
  add_scalar_twins(suite);
}

}  // namespace onnxc::inline ONNXC_ISA::bench
