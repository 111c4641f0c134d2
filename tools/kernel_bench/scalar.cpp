// targets/kernels/scalar.inc: reference kernels, on operands of a few thousand elements.
#include <onnxc/scalar/affine_grid.hpp>
#include <onnxc/scalar/arg_max.hpp>
#include <onnxc/scalar/bit_cast.hpp>
#include <onnxc/scalar/col2im.hpp>
#include <onnxc/scalar/conv.hpp>
#include <onnxc/scalar/cumulative.hpp>
#include <onnxc/scalar/deform_conv.hpp>
#include <onnxc/scalar/det.hpp>
#include <onnxc/scalar/einsum.hpp>
#include <onnxc/scalar/fill.hpp>
#include <onnxc/scalar/gather.hpp>
#include <onnxc/scalar/gather_blocks.hpp>
#include <onnxc/scalar/gather_elements.hpp>
#include <onnxc/scalar/grid_sample.hpp>
#include <onnxc/scalar/inverse.hpp>
#include <onnxc/scalar/linear_attention.hpp>
#include <onnxc/scalar/matmul.hpp>
#include <onnxc/scalar/matmul_nbits.hpp>
#include <onnxc/scalar/non_max_suppression.hpp>
#include <onnxc/scalar/one_hot.hpp>
#include <onnxc/scalar/pad.hpp>
#include <onnxc/scalar/reverse_sequence.hpp>
#include <onnxc/scalar/scatter.hpp>
#include <onnxc/scalar/selection.hpp>
#include <onnxc/scalar/tf_idf.hpp>
#include <onnxc/scalar/trilu.hpp>
#include <onnxc/top_k.hpp>

#include "tools/kernel_bench/suite.h"

namespace onnxc::inline ONNXC_ISA::bench {
namespace {

using namespace scalar;

void add_products(Suite& suite) {
  suite.add("scalar_centred_matmul", "32x32x32", {32768}, [](Data& d) {
    return [a = d.room<uint8_t>(1024), b = d.room<uint8_t>(1024), y = d.room<int32_t>(1024)] {
      scalar::centred_matmul<uint8_t, uint8_t>(y, a, b, nullptr, nullptr,
                                               {.m = 32, .n = 32, .k = 32, .batch = {}, .a_strides = {}, .b_strides = {}});
    };
  });
  suite.add("scalar_matmul", "32x32x32", {32768}, [](Data& d) {
    return [a = d.numbers(1024), b = d.numbers(1024), y = d.room(1024)] {
      scalar::matmul(y, a, b, {.m = 32, .n = 32, .k = 32, .batch = {}, .a_strides = {}, .b_strides = {}});
    };
  });
  suite.add("scalar_conv", "14x14x8-8_k3", {196.0 * 8 * 8 * 9}, [](Data& d) {
    return [x = d.in({1, 8, 14, 14}), w = d.in({8, 8, 3, 3}), y = d.out({1, 8, 14, 14})] {
      scalar::conv(y, x, w, static_cast<const float*>(nullptr), {.strides = {1, 1}, .dilations = {1, 1}, .pads = {1, 1}});
    };
  });
  suite.add("scalar_einsum", "ij,jk_32x32x32", {32768}, [](Data& d) {
    return [a = d.numbers(1024), b = d.numbers(1024), y = d.room(1024)] { einsum(y, 2, {32, 32, 32}, a, {32, 0, 1}, b, {0, 1, 32}); };
  });
  suite.add("matmul_nbits", "1x256x256_int4", {65536}, [](Data& d) {
    return [a = d.numbers(256), w = d.counting<uint8_t>(32768, 251), scales = d.numbers(256 * 8), y = d.room(256)] {
      scalar::matmul_nbits<4, float>({}, y, a, w, scales, nullptr, nullptr, {.m = 1, .n = 256, .k = 256, .block = 32});
    };
  });
  suite.add("scalar_gather_blocks", "4_bits_128_of_384", [](Data& d) {
    return [x = d.counting<uint8_t>(128 * 192, 251), scales = d.numbers(128 * 12), i = d.indices({128}, 128), y = d.room(128 * 384)] {
      scalar::gather_blocks<4>({}, y, x, scales, nullptr, i.data, {.rows = 128, .k = 384, .block = 32, .count = 128});
    };
  });
  suite.add("scalar_deform_conv", "14x14x4-4_k3", {196.0 * 4 * 4 * 9}, [](Data& d) {
    return [x = d.in({1, 4, 14, 14}), w = d.in({4, 4, 3, 3}), offset = d.numbers(18 * 196), work = d.room<double>(36),
            y = d.out({1, 4, 14, 14})] {
      deform_conv<float>(y, x, w, offset, nullptr, nullptr, work, {.strides = {1, 1}, .dilations = {1, 1}, .pads = {1, 1}});
    };
  });
  suite.add("scalar_linear_attention", "16_tokens_4x16x16", {16.0 * 4 * 3 * 16 * 16}, [](Data& d) {
    return [q = d.in({1, 16, 64}), k = d.in({1, 16, 64}), v = d.in({1, 16, 64}), past = d.in({1, 4, 16, 16}), y = d.out({1, 16, 64}),
            present = d.out({1, 4, 16, 16}), work = d.room(17 * 16)] {
      linear_attention<float, float>(y, present, q, k, v, past, {nullptr, {0}}, {nullptr, {0}}, work,
                                     {.q_heads = 4, .k_heads = 4, .kv_heads = 4, .scale = 0.25});
    };
  });
  suite.add("scalar_det", "16_of_8x8", {16.0 * 512 / 3},
            [](Data& d) { return [x = d.numbers(1024), y = d.room(16), room = d.room<double>(64)] { det(y, x, room, 16, 8); }; });
  suite.add("scalar_inverse", "16_of_8x8", {16.0 * 512},
            [](Data& d) { return [x = d.numbers(1024), y = d.room(1024), room = d.room<double>(128)] { inverse(y, x, room, 16, 8); }; });
}

void add_indexing(Suite& suite) {
  suite.add("scalar_gather", "128_rows_of_384", [](Data& d) {
    return [x = d.in({128, 384}), i = d.indices({128}, 128), y = d.out({128, 384})] { return gather(y, x, i, {.axis = 0}); };
  });
  suite.add("scalar_gather_elements", "64x64", [](Data& d) {
    return [x = d.in({64, 64}), i = d.indices({64, 64}, 64), y = d.out({64, 64})] { return gather_elements(y, x, i, 1); };
  });
  suite.add("scalar_gather_nd", "64_rows_of_64", [](Data& d) {
    return [x = d.in({64, 64}), i = d.indices({64, 1}, 64), y = d.out({64, 64})] { return gather_nd(y, x, i, 0); };
  });
  suite.add("scalar_scatter_elements", "64x64", [](Data& d) {
    return [x = d.in({64, 64}), i = d.indices({64, 64}, 64), u = d.in({64, 64}), y = d.out({64, 64})] {
      return scatter_elements(y, x, i, u, 1, Reduction::add);
    };
  });
  suite.add("scalar_scatter_nd", "64_rows_of_64", [](Data& d) {
    return [x = d.in({64, 64}), i = d.indices({64, 1}, 64), u = d.in({64, 64}), y = d.out({64, 64})] {
      return scatter_nd(y, x, i, u, Reduction::none);
    };
  });
  suite.add("scalar_tensor_scatter", "8x64x16", [](Data& d) {
    return [x = d.in({1, 8, 64, 16}), u = d.in({1, 8, 1, 16}), first = d.indices({1}, 64), y = d.out({1, 8, 64, 16})] {
      return tensor_scatter(y, x, u, first, 2, false);
    };
  });
  suite.add("scalar_one_hot", "64_of_100",
            [](Data& d) { return [i = d.indices({64}, 100), v = d.in({2}), y = d.out({64, 100})] { one_hot(y, i, v, 1); }; });
  suite.add("scalar_reverse_sequence", "64x64", [](Data& d) {
    return [x = d.in({64, 64}), n = d.indices({64}, 64), y = d.out({64, 64})] { return reverse_sequence(y, x, n, 0, 1); };
  });
  suite.add("scalar_pad", "62x62_by_1",
            [](Data& d) { return [x = d.in({62, 62}), y = d.out({64, 64})] { return pad(y, x, {1, 1}, PadMode::reflect); }; });
  suite.add("scalar_trilu", "64x64",
            [](Data& d) { return [x = d.in({64, 64}), k = d.indices({1}, 1), y = d.out({64, 64})] { trilu(y, x, k, true); }; });
  suite.add("scalar_bit_cast", "4096", [](Data& d) { return [x = d.numbers(4096), y = d.room<int32_t>(4096)] { bit_cast(y, x, 4096); }; });
  suite.add("scalar_eye_like", "64x64", [](Data& d) { return [y = d.out({64, 64})] { eye_like(y, 0); }; });
  suite.add("scalar_range", "4096",
            [](Data& d) { return [y = d.out({4096}), start = d.in({}), delta = d.in({})] { range(y, start, delta); }; });
}

void add_searches(Suite& suite) {
  suite.add("scalar_arg_max", "64x100",
            [](Data& d) { return [x = d.numbers(6400), y = d.room<int64_t>(64)] { return arg_max(y, x, {.outer = 64, .n = 100}); }; });
  suite.add("scalar_hardmax", "64x100",
            [](Data& d) { return [x = d.numbers(6400), y = d.room(6400)] { hardmax(y, x, {.outer = 64, .n = 100}); }; });
  suite.add("scalar_top_k", "5_of_1000",
            [](Data& d) { return [x = d.in({1000}), y = d.out({5}), i = d.out<int64_t>({5})] { return top_k(y, i, x, 0, true); }; });
  suite.add("top_k", "5_of_1000", [](Data& d) {
    return [x = d.in({1, 1000}), y = d.out({1, 5}), i = d.out<int64_t>({1, 5})] { onnxc::top_k<true>({}, y, i, x); };
  });
  suite.add("scalar_cum_sum", "64x100", [](Data& d) {
    return [x = d.in({64, 100}), axis = Tensor<const int64_t>{d.list<int64_t>({1}), {}}, y = d.out({64, 100})] {
      return cum_sum(y, x, axis, {});
    };
  });
  suite.add("scalar_cum_prod", "64x100", [](Data& d) {
    return [x = d.in({64, 100}), axis = Tensor<const int64_t>{d.list<int64_t>({1}), {}}, y = d.out({64, 100})] {
      return cum_prod(y, x, axis, {});
    };
  });
  suite.add("scalar_nonzero", "64x64", [](Data& d) {
    return [x = d.indices({64, 64}, 2), n = d.room<int64_t>(1), y = d.room<int64_t>(2 * 4096)] { nonzero(n, y, x); };
  });
  suite.add("scalar_compress", "32_rows_of_64", [](Data& d) {
    return [x = d.numbers(4096), c = d.counting<bool>(64, 2), n = d.room<int64_t>(1), y = d.room(4096)] {
      compress(n, y, x, c, {.outer = 1, .extent = 64, .inner = 64, .conditions = 64});
    };
  });
  suite.add("scalar_unique", "256", [](Data& d) {
    return [x = d.counting(256, 60), n = d.room<int64_t>(1), y = d.room<int64_t>(256), order = d.room<int64_t>(256),
            rank = d.room<int64_t>(256)] {
      unique<int64_t>(n, y, nullptr, nullptr, nullptr, x, order, rank, {.outer = 1, .extent = 256, .inner = 1, .sorted = true});
    };
  });
  suite.add("scalar_non_max_suppression", "200_boxes", [](Data& d) {
    float* const boxes = d.numbers(800);
    for (int64_t i = 0; i < 200; ++i) {  // two corners each
      for (int64_t k : {2, 3}) boxes[4 * i + k] = boxes[4 * i + k - 2] + 0.3f;
    }
    return [boxes, scores = d.numbers(200), most = d.list<int64_t>({50}), iou = d.list({0.5f}), n = d.room<int64_t>(1),
            y = d.room<int64_t>(600), order = d.room<int64_t>(200)] {
      non_max_suppression(n, y, boxes, scores, most, iou, nullptr, order, {.batches = 1, .classes = 1, .boxes = 200});
    };
  });
  suite.add("scalar_tf_idf", "16_rows_of_64", [](Data& d) {  // 1-grams of ten items
    std::vector<int64_t> begin(12, 11), column(11), keys(11);
    begin[0] = 1;
    for (int64_t i = 0; i < 11; ++i) column[size_t(i)] = i - 1, keys[size_t(i)] = i - 1;
    const GramTree tree{d.copy(keys), d.copy(begin), d.copy(column)};
    return [tree, x = d.indices({16, 64}, 12), y = d.out({16, 10})] { tf_idf(y, x, tree, nullptr, {}); };
  });
}

void add_images(Suite& suite) {
  suite.add("scalar_col2im", "8x14x14_k2", [](Data& d) {
    return [x = d.numbers(32 * 49), y = d.out({1, 8, 14, 14})] {
      col2im(y, x, {.block = {2, 2}, .columns = {7, 7}, .strides = {2, 2}, .dilations = {1, 1}, .pads = {0, 0}});
    };
  });
  suite.add("scalar_grid_sample", "8x14x14", {4.0 * 8 * 196}, [](Data& d) {
    return [x = d.in({1, 8, 14, 14}), grid = d.in({1, 14, 14, 2}), y = d.out({1, 8, 14, 14})] { grid_sample(y, x, grid, {}); };
  });
  suite.add("scalar_affine_grid", "28x28", {6.0 * 784},
            [](Data& d) { return [theta = d.numbers(6), y = d.out({1, 28, 28, 2})] { affine_grid<float>(y, theta, false); }; });
}

}  // namespace

void add_scalar(Suite& suite) {
  add_products(suite);
  add_indexing(suite);
  add_searches(suite);
  add_images(suite);
}

}  // namespace onnxc::inline ONNXC_ISA::bench
