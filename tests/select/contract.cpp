// What planners and kernels agree on, for vectors of 4, 8 and 16 floats. Expected values were computed by hand.
#include <catch2/catch.hpp>

#include <array>
#include <utility>
#include <vector>

#include "compiler/ir/dim.h"
#include "runtime_stub/onnxc/contract/depthwise.hpp"
#include "runtime_stub/onnxc/contract/forest.hpp"
#include "runtime_stub/onnxc/contract/gemm.hpp"
#include "runtime_stub/onnxc/contract/gpu.hpp"
#include "runtime_stub/onnxc/contract/inner_product.hpp"
#include "runtime_stub/onnxc/contract/pairwise.hpp"
#include "runtime_stub/onnxc/contract/planar.hpp"
#include "runtime_stub/onnxc/contract/pool.hpp"
#include "runtime_stub/onnxc/contract/quads.hpp"
#include "runtime_stub/onnxc/contract/row_bands.hpp"
#include "runtime_stub/onnxc/contract/stem.hpp"
#include "runtime_stub/onnxc/contract/strassen.hpp"
#include "runtime_stub/onnxc/contract/winograd.hpp"

using namespace onnxc;
using namespace onnxc::contract;

namespace {

using ByLanes = std::array<int64_t, 3>;

/// of(lanes) for 4, 8 and 16 lanes.
template <class Of>
ByLanes by_lanes(Of of) {
  return {of(int64_t{4}), of(int64_t{8}), of(int64_t{16})};
}

}  // namespace

TEST_CASE("contract: windows") {
  CHECK(inputs_under(1, 2, 3, 1) == 3);
  CHECK(inputs_under(5, 2, 3, 1) == 11);
  CHECK(inputs_under(2, 1, 3, 4) == 10);
}

TEST_CASE("contract: points of Winograd are 0, pairs and infinity") {
  for (const int64_t points : {4, 6, 8}) {
    CHECK(winograd_point(points, 0) == 0);
    for (int64_t i = 1; i < points - 1; i += 2) CHECK(winograd_point(points, i) == -winograd_point(points, i + 1));
  }
  CHECK(winograd_point(4, 1) == 1);
  CHECK(winograd_point(6, 1) == 0.75);
  CHECK(winograd_point(6, 3) == 1.5);
  CHECK(winograd_point(8, 3) == 2);
  CHECK(winograd_point(8, 5) == 0.5);
  CHECK(winograd_point(5, 3) == 2);  // of stride 2
}

TEST_CASE("contract: Winograd's forms and blocks") {
  CHECK(WinogradForm{4, 3}.points() == 6);
  CHECK(WinogradForm{4, 3}.kept() == 6);
  CHECK(WinogradForm{4, 3}.pieces(7) == 3);
  CHECK(WinogradForm{4, 3, 2}.points() == 9);
  CHECK(WinogradForm{4, 3, 2}.kept() == 6);
  CHECK(WinogradForm{2, 3, 2}.points() == 5);
  CHECK(WinogradForm{2, 3, 2}.kept() == 4);

  CHECK(winograd_pitch(64) == 80);
  CHECK(winograd_pitch(17) == 48);
  CHECK(winograd_mark(17) == 32);
  const std::vector<std::pair<int64_t, int64_t>> planes{{0, 16}, {16, 16}, {17, 48}, {48, 48}, {64, 80}};
  for (const auto& [floats, plane] : planes) CHECK(winograd_plane(floats) == plane);
  CHECK(winograd_depth(64, 1) == 32);
  CHECK(winograd_depth(64, 2) == 16);
  CHECK(winograd_depth(64, 9) == 8);
  CHECK(winograd_depth(5, 1) == 5);

  // 20 channels, 3 tiles, panels of two vectors. Inputs take 3 * 48 floats; products 24, 48 or 96; untransformed weights 160,
  // 320 or 640.
  const auto scratch = [](const WinogradForm& form, bool untransformed) {
    return by_lanes([=](int64_t lanes) { return winograd_scratch(form, winograd_planes(20, 1, 3, 2 * lanes, untransformed)); });
  };
  CHECK(scratch({2, 3}, false) == ByLanes{16 * (144 + 48), 16 * (144 + 48), 16 * (144 + 112)});
  CHECK(scratch({2, 3}, true) == ByLanes{16 * (144 + 48 + 176), 16 * (144 + 48 + 336), 16 * (144 + 112 + 656)});
  CHECK(scratch({2, 3, 2}, true) == ByLanes{25 * 192 + 16 * 176, 25 * 192 + 16 * 336, 25 * 256 + 16 * 656});
}

TEST_CASE("contract: Winograd along lines") {
  CHECK(winograd_line_tiles(4, 100, 1) == 25);
  CHECK(winograd_line_tiles(4, 61, 4) == 16);
  CHECK(winograd_line_tiles(2, 7, 3) == 6);
  // 7 lines read 9 lines of 4 tiles of 16 channels: 9 * 4 * 32 floats. Products take 28 * 8, 28 * 16 or 28 * 32.
  CHECK(by_lanes([](int64_t lanes) { return winograd_line_scratch({2, 3}, winograd_line_planes(16, 1, 3, 1, 7, 4, 2 * lanes)); }) ==
        ByLanes{4 * (1168 + 240), 4 * (1168 + 464), 4 * (1168 + 912)});
}

TEST_CASE("contract: Strassen's product") {
  CHECK(strassen_pitch(512) == 272);
  CHECK(strassen_pitch(30) == 32);
  CHECK(strassen_rows(196, 8) == 104);
  CHECK(by_lanes([](int64_t lanes) { return strassen_pairs(129, 2 * lanes); }) == ByLanes{9, 5, 3});
  CHECK(by_lanes([](int64_t lanes) { return strassen_weights(512, 129, 2 * lanes); }) == ByLanes{129024, 143360, 172032});
  CHECK(by_lanes([](int64_t lanes) { return strassen_scratch(512, 196, 8, 2 * lanes); }) ==
        ByLanes{440 * 272 + 216 * 8, 440 * 272 + 216 * 16, 440 * 272 + 216 * 32});
}

TEST_CASE("contract: inner products in pairs") {
  const auto order = [](int64_t k, int64_t lanes) {
    std::vector<int64_t> steps;
    for_each_step(k, lanes, [&](int, int64_t step) { steps.push_back(step); });
    return steps;
  };
  CHECK(order(5, 4) == std::vector<int64_t>{2, 0, 4, 3, 1});
  CHECK(order(14, 4) == std::vector<int64_t>{4, 0, 8, 5, 1, 9, 6, 2, 10, 7, 3, 11, 13, 12});
  for (const int64_t lanes : {8, 16}) CHECK(order(14, lanes) == std::vector<int64_t>{5, 0, 10, 6, 1, 11, 7, 2, 12, 8, 3, 13, 9, 4});

  CHECK(by_lanes([](int64_t lanes) { return inner_product_weights(5, 17, lanes); }) == ByLanes{149, 181, 245});
  CHECK(by_lanes([](int64_t lanes) { return prepared_row(64, lanes); }) == ByLanes{72, 72, 96});
  CHECK(by_lanes([](int64_t lanes) { return prepared_pitch(64, lanes); }) == ByLanes{72, 72, 96});
  CHECK(by_lanes([](int64_t lanes) { return prepared_pitch(192, lanes); }) == ByLanes{196, 200, 208});
  CHECK(by_lanes([](int64_t lanes) { return fast_inner_product_scratch(192, 24, lanes); }) == ByLanes{40 * 198, 40 * 202, 40 * 210});
}

TEST_CASE("contract: depthwise convolutions") {
  CHECK(depthwise_any_span(64, 9, 1, 1) == 72);
  CHECK(depthwise_any_span(5, 3, 2, 4) == 23);
  CHECK(by_lanes([](int64_t lanes) { return depthwise_any_scratch(9, 9, 1, 1, 1, lanes); }) == ByLanes{2592, 5184, 10368});
  CHECK(by_lanes([](int64_t lanes) { return depthwise_any_scratch(3, 3, 2, 4, 4, lanes); }) == ByLanes{4860, 9720, 19440});
}

TEST_CASE("contract: depthwise convolutions of bytes") {
  CHECK(depthwise_bytes_rows(3, 1, 1) == 2);
  CHECK(depthwise_bytes_rows(3, 2, 1) == 1);
  CHECK(depthwise_bytes_rows(5, 1, 1) == 4);
  CHECK(depthwise_bytes_rows(5, 2, 1) == 2);
  CHECK(depthwise_bytes_rows(3, 1, 2) == 1);
  CHECK(depthwise_bytes_span(3, 2, 1) == 65);
  CHECK(by_lanes([](int64_t lanes) { return depthwise_bytes_scratch(3, 3, 1, 1, lanes); }) == ByLanes{2176, 4352, 8704});
  CHECK(by_lanes([](int64_t lanes) { return depthwise_bytes_scratch(5, 5, 1, 1, lanes); }) == ByLanes{4608, 9216, 18432});
}

TEST_CASE("contract: stems") {
  CHECK(stem_floats(3, 7, inputs_under(14, 2, 7, 1)) == 3 * 7 * 48);
  CHECK(stem_pieces(7, 4, 2) == 2);
  CHECK(stem_pieces(7, 3, 2) == 3);
  CHECK(stem_pieces(5, 3, 1) == 2);
  for (int64_t kh = 1; kh < 12; ++kh) {
    for (const int64_t taps : {3, 4, 5}) {
      for (const int64_t stride : {1, 2, 3, 4}) {
        int64_t begun = 0;
        for (int64_t tap = 0; tap < kh; ++tap) begun += stem_piece_begins(tap, taps, stride);
        CHECK(begun == stem_pieces(kh, taps, stride));
      }
    }
  }
  CHECK(stem_lead(0) == 0);
  CHECK(stem_lead(3) == 16);
  CHECK(stem_winograd_pitch<int64_t>(224, 112, 7, 2, 3, 3) == 272);  // 246 are read
  CHECK(stem_winograd_pitch<int64_t>(250, 112, 7, 2, 3, 3) == 304);  // 272 are written
  CHECK(stem_winograd_pitch(Dim(224), Dim(112), 7, 2, 3, 3) == Dim(272));
  CHECK(stem_winograd_rows(2, 3, 6) == 36);
}

TEST_CASE("contract: planar convolutions") {
  const PlanarShape shape{.cin = 2, .oh = 28, .ow = 33, .kh = 5, .kw = 5, .stride_y = 1, .dilation_y = 1, .dilation_x = 1};
  CHECK(planar_rows(shape, kPlanarBand) == 20);
  CHECK(by_lanes([&](int64_t lanes) { return planar_pitch(shape, 2 * lanes); }) == ByLanes{44, 52, 68});
  CHECK(by_lanes([&](int64_t lanes) { return planar_scratch(shape, 2 * lanes, lanes); }) ==
        ByLanes{2 * 20 * 44 + 4, 2 * 20 * 52 + 8, 2 * 20 * 68 + 16});
  const PlanarShape low{.cin = 1, .oh = 6, .ow = 8, .kh = 3, .kw = 3, .stride_y = 2, .dilation_y = 2, .dilation_x = 3};
  CHECK(by_lanes([&](int64_t lanes) { return planar_scratch(low, lanes, lanes); }) == ByLanes{15 * 14 + 4, 15 * 14 + 8, 15 * 22 + 16});
}

TEST_CASE("contract: rows of pools") { CHECK(kMostPoolRows == 8); }

TEST_CASE("contract: rows between two kernels") {
  CHECK(ring_rows(6, 2, 3, 1) == 13);
  CHECK(ring_rows(6, 2, 3, 1, 4) == 16);
  CHECK(stem_pool_scratch(13, 56, 64) == 46592);
  ChainShape shape{.kh = 3, .stride_y = 1, .dilation_y = 1, .w = 56, .ow = 50, .channels = 100, .pitch = 112, .projects = true};
  const auto scratch = [&] { return by_lanes([&](int64_t lanes) { return depthwise_chain_scratch(shape, 6, 3 * lanes); }); };
  constexpr int64_t kRing = 8 * 56, kBand = 6 * 50 * 112;
  CHECK(scratch() == ByLanes{kRing * 108 + kBand, kRing * 120 + kBand, kRing * 144 + kBand});
  CHECK(depthwise_chain_scratch(shape, 6, 0) == kBand);
  CHECK(stem_depthwise_scratch(shape, 6) == kRing * 112 + kBand);
  shape.projects = false;
  CHECK(scratch() == ByLanes{kRing * 12, kRing * 24, kRing * 48});
  CHECK(stem_depthwise_scratch(shape, 6) == kRing * 112);
}

TEST_CASE("contract: products") {
  CHECK(by_lanes([](int64_t lanes) { return panels_floats(10, 33, 2 * lanes); }) == ByLanes{400, 480, 640});
  CHECK(by_lanes([](int64_t lanes) { return gemm_scaled_scratch(10, 33, 2 * lanes); }) == ByLanes{400, 480, 640});
  CHECK(by_lanes([](int64_t lanes) { return slices_scratch(28, 2 * lanes); }) == ByLanes{224, 448, 896});
  CHECK(by_lanes([](int64_t lanes) { return matmul_scratch(int64_t{10}, 2 * lanes); }) == ByLanes{80, 160, 320});
  CHECK(matmul_scratch(Dim(10), 8) == Dim(80));
}

TEST_CASE("contract: forests") {
  CHECK(forest_keys(0) == 16);
  CHECK(forest_keys(15) == 16);
  CHECK(forest_keys(16) == 48);    // one full block, one of fillers, and the block before them
  CHECK(forest_keys(255) == 272);  // 16 blocks and one
  CHECK(forest_key_at(15, 3) == 3);
  CHECK(forest_key_at(16, 3) == 19);
  CHECK(forest_key(1.0f) == 0x3f800000);
  CHECK(forest_key(-0.0f) == -1);  // just below 0
  CHECK(forest_key(-1.0f) == -0x3f800001);
  std::array<int32_t, 16> few{};
  std::array<int32_t, 48> many{};
  std::array<int32_t, 17> keys{};
  for (int32_t i = 0; i < 17; ++i) keys[static_cast<std::size_t>(i)] = i;
  lay_out_forest_keys(keys.data(), 2, 99, few.data());
  CHECK((few[1] == 1 && few[2] == 99 && few[15] == 99));
  lay_out_forest_keys(keys.data(), 17, 99, many.data());
  CHECK((many[0] == 15 && many[1] == 99 && many[2] == 99));  // the last key of each block
  CHECK((many[16] == 0 && many[32] == 16 && many[33] == 99));
  const ForestShape shape{.trees = 10, .columns = 3, .tests = 100, .most_leaves = 20, .targets = 2, .number_bytes = 4};
  CHECK(forest_id_bytes(shape) == 1);
  CHECK(by_lanes(forest_bit_rows) == ByLanes{128, 256, 512});
  CHECK((forest_test<uint16_t>(3, 255) == 0xff03 && forest_test<uint32_t>(70000, 2) == 0x02011170));
  CHECK((!forest_is_wide(shape) && forest_walk_scratch(shape) == 64));
  ForestShape large = shape;
  large.most_leaves = 256;
  CHECK((!forest_is_wide(large) && forest_walk_scratch(large) == 256));
  large.most_leaves = 257;
  CHECK((forest_is_wide(large) && forest_walk_scratch(large) == 64));
  CHECK(forest_branches_scratch(shape) == 64);
  CHECK(forest_bytes_scratch(shape) == 64 * (4 + 3 + 40 + 8));
  CHECK(by_lanes([&](int64_t lanes) { return forest_bits_scratch(shape, lanes); }) ==
        ByLanes{128 * 13 + 256 + 16 * 420, 256 * 13 + 256 + 32 * 420, 512 * 13 + 256 + 64 * 420});
}

TEST_CASE("contract: rows against constant vectors") {
  CHECK(by_lanes([](int64_t lanes) { return pairwise_columns(lanes); }) == ByLanes{16, 32, 64});
  CHECK(by_lanes([](int64_t lanes) { return pairwise_pitch(1500, lanes); }) == ByLanes{1504, 1504, 1536});
  CHECK(by_lanes([](int64_t lanes) { return pairwise_rows(1500, lanes); }) == ByLanes{21, 21, 21});
  CHECK(by_lanes([](int64_t lanes) { return pairwise_rows(3, lanes); }) == ByLanes{32, 32, 32});
  CHECK(by_lanes([](int64_t lanes) { return pairwise_rows(20000, lanes); }) == ByLanes{4, 4, 4});
  CHECK(by_lanes([](int64_t lanes) { return nearest_scratch(1500, lanes); }) == ByLanes{31584, 31584, 32256});
  CHECK(by_lanes([](int64_t lanes) { return svm_regressor_scratch(3, lanes); }) == ByLanes{544, 1056, 2080});
  CHECK(by_lanes([](int64_t lanes) { return svm_classifier_scratch(3, 3, lanes); }) == ByLanes{752, 1264, 2288});
}

TEST_CASE("contract: products of GPUs") {
  CHECK(gpu::row_of(0, 4) == 0);
  CHECK(gpu::row_of(5, 4) == 8);
  CHECK(gpu::row_of(8, 2) == 8);
  CHECK(gpu::row_of(17, 1) == 32);
  CHECK(gpu::tiles(65, 64, 3, 32, 64) == 9);
  CHECK(gpu::tiles(0, 64, 3, 32, 64) == 0);
  CHECK(gpu::parts(9, 32, 64, 1) == 0);
  CHECK(gpu::parts(9, 32, 64, 4) == 73728);
  CHECK(gpu::tickets(9, 1) == 0);
  CHECK(gpu::tickets(9, 4) == 9);
  CHECK(gpu::attention_parts(12, 64, 1) == 0);
  CHECK(gpu::attention_parts(12, 62, 3) == 2376);
}
