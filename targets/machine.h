// What the selection of kernels knows of a processor, as plain data: what its register tiles reach, what it costs to
// begin and to end a tile, and what memory and conversions cost.
//
// compiler/select/ has the rules, which are formulas over these figures. Times are counted in multiply-adds at the
// FMA peak, so that they can be added to those of a kernel, and the kernel's row of the catalogue turns them into
// nanoseconds. machines/*.inc has a file for each machine, which states where its figures come from.
#pragma once
#include <span>
#include <string_view>

namespace onnxc {

/// A register tile of a product: rows by vectors of sums.
struct ProductTile {
  int rows, vectors;
  /// The share of the FMA peak that whole tiles reach: with rows that are evenly spaced, and with any rows.
  double even, uneven;
  bool pairs = false;  ///< its last vector holds pairs of steps: kPairs of tile.hpp
  double ends = 0;     ///< steps of k to begin and to end it; 0: by its size, see ProductCosts::ends
};

/// A register tile whose rows are always evenly spaced.
struct KernelTile {
  int rows, vectors;
  double efficiency;  ///< relative to the best that the kernel could reach
};

/// The cost of beginning and ending a tile, in steps of its inner loop. Each kernel states what counts as the size of
/// a tile.
struct TileEnds {
  int most = 0;  ///< a tile of up to this size is small
  double small = 0, large = 0;
  constexpr double of(int size) const { return size > most ? large : small; }
};

/// Products and convolutions by register tiles: gemm, conv, and kernels that are built from these.
struct ProductCosts {
  std::span<const ProductTile> tiles{};  ///< of equally good ones the first is chosen
  /// For a k in short runs, for each of which a tile begins anew, as in stems.
  std::span<const ProductTile> short_run_tiles{};
  TileEnds ends{};  ///< by the number of sums
  /// Vectors of sums that keep the multipliers busy: half tiles with fewer wait for the latency of earlier multiply-adds. 0:
  /// not taken into account.
  double sums_in_flight = 0;
  double short_runs = 0;     ///< vectors of multiply-adds that a tile takes to begin the runs of a stem
  int high_tile = 0;         ///< tiles of fewer rows wait for panels that do not stay in L1
  double low_tile_time = 1;  ///< their time, relative to others
  double pairs_time = 1;     ///< the time of a tile with pairs, relative to one without
  double tap_steps = 0;      ///< steps of k that each tap of a group takes to begin
  /// gemm_bf16: multiply-adds of bfloat16 in the time of one of floats, and what rounding a value takes, in multiply-adds.
  double bf16_rate = 1, bf16_value = 1.5;
  /// gemm_few_columns: a multiply-add with vectors along k, relative to one with vectors along the columns.
  double lanes_time = 1;
  double lanes_row = 0;     ///< gemm_few_columns: to begin a row
  double lanes_column = 0;  ///< gemm_few_columns: the sum over the lanes, for each column of a row
  /// conv_transpose_few_outputs: a step with vectors along the input's channels, relative to one of conv_transpose.
  int few_outputs_time = 1;
};

/// Convolutions by Winograd's forms.
struct WinogradCosts {
  std::span<const KernelTile> tiles{};  ///< empty: those of products
  double late_panel_time = 1;           ///< a factor, if there are too few tiles of rows to prefetch the next panel
  /// The multiply-adds of a vector in the time that `input` and `output` count as one; stride 1.
  double transform_rate = 1;
  double stride2_transform_rate = 1;  ///< the same for stride 2
  double input = 0, output = 0;       ///< to transform a vector of a tile at one frequency, at a rate of 1
  double weights_in_l1 = 0;           ///< to transform untransformed weights, counted in tiles, if they stay in L1
  /// The same, at a rate of 1, if all of a block fits L2, and if not.
  double weights_in_l2 = 0, weights_beyond_l2 = 0;
  /// The factor by which it must be faster than a direct convolution, whose weights and errors are smaller.
  double earned = 1;
  TileEnds stem_ends{};   ///< stem_winograd: by the number of points of its form
  double stem_input = 0;  ///< stem_winograd: vectors of multiply-adds for each that is transformed
};

/// Products by Strassen's algorithm.
struct StrassenCosts {
  std::span<const KernelTile> tiles{};
  TileEnds ends{};         ///< by the number of sums
  double ragged_ends = 0;  ///< added to `ends` if the columns do not fill the last panel
  double pair = 0;         ///< to begin each pair of panels
  double sums = 0;         ///< the sums of a, for each value of a quarter
  int high_tile = 0;       ///< tiles of fewer rows wait for panels beyond L1
  double missing_row = 0;  ///< a share of the time for each row below high_tile
  /// A share of the time for each of up to three tiles of a block, since further tiles evict from L1 what the first
  /// one left.
  double more_tiles = 0;
  double shared_block = 0;  ///< a share of the time of a block that two threads read
  double weight_byte = 0;   ///< a byte of weights from beyond L2
  double earned = 1;        ///< the factor by which it must be faster than gemm, which has fewer weights
};

/// Products by Winograd's inner product.
struct InnerProductCosts {
  /// Of one vector. The efficiency is that of additions and multiply-adds at the same time.
  std::span<const KernelTile> tiles{};
  double low_tile = 1;        ///< the efficiency of a low tile, relative to that
  double row = 0, value = 0;  ///< to prepare a row before it is multiplied, and each of its values
  double ends = 0;            ///< to begin and to end a tile, in steps for each of its sums
  /// The factor by which it must be faster than gemm, which is nearer to the exact result and suffers less from the core's
  /// other thread.
  double earned = 1;
};

/// Depthwise convolutions by Winograd's F(2,3) along columns, in vectors of multiply-adds.
struct DepthwiseWinogradCosts {
  double begin = 0;  ///< two rows of one vector of channels
  /// What a pixel waits for L2 if the next pixel is in another line of each page.
  double far_pixel = 0;
};

/// Tree ensembles, relative to a node that a walk visits: onnxc/forest.hpp.
struct ForestCosts {
  double branch_test = 0;  ///< a test of forest_branches
  int most_branches = 0;   ///< tests of a forest, up to which nested conditions are faster than a walk and compile fast
  double far_step = 1;     ///< a node that a walk visits in a forest that does not fit L2
  double search = 0;       ///< the rank of a value
  double few = 0;          ///< the same in a block, where a column has a single block of keys
  double few_key = 0;      ///< each of these keys
  double byte_node = 0;    ///< a node of forest_bytes, for a block of rows
  double byte_value = 0;   ///< a leaf's value for a row and a tree, after forest_bytes
  double bit_node = 0;     ///< a node of forest_bits, for a block of rows
  double bit_test = 0;     ///< the rows that fail a test
  double bit_tree = 0;     ///< the numbers of the leaves of a tree, and its values for lookup
  double bit_value = 0;    ///< a leaf's value for a row and a tree, after forest_bits
};

/// The cost of widening one element of weights.
struct WideningCosts {
  double f16 = 0, bf16 = 0, i8 = 0;
};

/// The cost of a byte of constants, relative to the catalogue's cost of one from memory.
struct MemoryCosts {
  double memory = 1;
  double l3 = 1;  ///< of `memory`, if all constants of a model stay in L3 from one run to the next
  double l2 = 1;  ///< if they stay in L2
  /// Of an elementwise loop: how many bytes within L2 cost what one costs beyond it, and what one of the caller's or of a
  /// constant costs after weights have driven it out. Measured on Sapphire Rapids, 2026-11: kernel_bench's
  /// '^map/add_relu_200000', and the first steps of networks in `onnxc profile`.
  double beyond_l2 = 3.8, cold = 6.6;
};

struct Machine {
  std::string_view name;
  ProductCosts product{};
  WinogradCosts winograd{};
  StrassenCosts strassen{};
  InnerProductCosts inner_product{};
  DepthwiseWinogradCosts depthwise_winograd{};
  ForestCosts forest{};
  WideningCosts widening{};
  MemoryCosts memory{};
  /// Whether vector additions run in other units than multiply-adds, so that kernels gain by replacing multiply-adds
  /// with additions.
  bool adds_beside_products = false;
};

namespace machines {
extern const Machine kGeneric, kScalar, kHelium, kAvx2, kZen3, kNeon, kAvx512, kSapphireRapids, kZen4, kZen5;
}  // namespace machines

}  // namespace onnxc
