// What selection knows of a processor, as plain data: what its register tiles reach, what it takes to begin and to end one, what memory and conversions cost.
//
// compiler/select/ has the rules, which are formulas over these figures. Times are counted in multiply-adds at the FMA peak, so that they stand beside those of a
// kernel, and are turned into nanoseconds by its row of the catalogue. machines/*.inc has a file for each machine, which says where its figures come from.
#pragma once
#include <span>
#include <string_view>

namespace onnxc {

/// A register tile of a product: rows by vectors of sums.
struct ProductTile {
  int rows, vectors;
  double even, uneven;  ///< of the FMA peak for whole tiles, rows evenly spaced or not
  bool pairs = false;   ///< its last vector holds pairs of steps: kPairs of tile.hpp
  double ends = 0;      ///< steps of k to begin and to end it; 0: by its size, as ProductCosts has it
};

/// A register tile whose rows are always evenly spaced.
struct KernelTile {
  int rows, vectors;
  double efficiency;  ///< of what the kernel could reach at best
};

/// What it takes to begin and to end a tile, in steps of its inner loop. Kernels say what they count as its size.
struct TileEnds {
  int most = 0;  ///< up to this size a tile is small
  double small = 0, large = 0;
  constexpr double of(int size) const { return size > most ? large : small; }
};

/// Products and convolutions by register tiles: gemm, conv, and what is built of these.
struct ProductCosts {
  std::span<const ProductTile> tiles{};            ///< of equally good ones the first is taken
  std::span<const ProductTile> short_run_tiles{};  ///< where k comes in short runs, for each of which a tile begins anew, as in stems
  TileEnds ends{};                                 ///< by the number of sums
  double sums_in_flight =
      0;  ///< vectors of sums that keep the multipliers busy: half tiles of fewer wait for one another; 0: left out of account
  double short_runs = 0;     ///< vectors of multiply-adds that a tile takes to begin the runs of a stem
  int high_tile = 0;         ///< tiles of fewer rows wait for panels that do not stay in L1
  double low_tile_time = 1;  ///< what they take against others
  double pairs_time = 1;     ///< what a tile with pairs takes against one without
  double tap_steps = 0;      ///< steps of k that each tap of a group takes to begin
  double lanes_time = 1;     ///< gemm_narrow: a multiply-add with vectors along k, against one along the columns
  double lanes_row = 0;      ///< likewise: to begin a row
  double lanes_column = 0;   ///< likewise: the sum over the lanes of each column of a row
  int few_outputs_time = 1;  ///< conv_transpose_narrow: a step with vectors along the input's channels, against one of conv_transpose
};

/// Convolutions by Winograd's forms.
struct WinogradCosts {
  std::span<const KernelTile> tiles{};  ///< empty: those of products
  double late_panel_time = 1;           ///< where too few tiles of rows fetch the next panel ahead
  double transform_rate = 1;            ///< of multiply-adds of a vector, in the time that `input` and `output` count for one; stride 1
  double stride2_transform_rate = 1;    ///< likewise with stride 2
  double input = 0, output = 0;         ///< to transform a vector of a tile at one frequency, at a rate of 1
  double weights_in_l1 = 0;             ///< what it takes to transform untransformed weights, in tiles, where these stay in L1
  double weights_in_l2 = 0, weights_beyond_l2 = 0;  ///< likewise where all of a block fits L2 or not, at a rate of 1
  double earned = 1;      ///< what it has to be quicker by than a direct convolution, whose weights and error are smaller
  TileEnds stem_ends{};   ///< stem_winograd: by the points of its form
  double stem_input = 0;  ///< likewise: vectors of multiply-adds for each that is transformed
};

/// Products by Strassen's form.
struct StrassenCosts {
  std::span<const KernelTile> tiles{};
  TileEnds ends{};          ///< by the number of sums
  double ragged_ends = 0;   ///< more of these where columns do not fill the last panel
  double pair = 0;          ///< to begin each pair of panels
  double sums = 0;          ///< the sums of a, for each value of a quarter
  int high_tile = 0;        ///< tiles of fewer rows wait for panels beyond L1
  double missing_row = 0;   ///< for each row that a tile has less than that: a share of the time
  double more_tiles = 0;    ///< for each of up to three tiles of a block, a share of the time: what one leaves in L1, more would not
  double shared_block = 0;  ///< a block that two threads read: a share of its time
  double weight_byte = 0;   ///< a byte of weights from beyond L2
  double earned = 1;        ///< what it has to be quicker by than gemm, whose weights are fewer
};

/// Products by Winograd's inner product.
struct InnerProductCosts {
  std::span<const KernelTile> tiles{};  ///< of one vector; efficiency of additions and multiply-adds side by side
  double half_tile = 1;                 ///< what a tile of half as many rows reaches of that
  double row = 0, value = 0;            ///< what a row takes before it is multiplied, and each of its values
  double ends = 0;                      ///< to begin and to end a tile, in steps for each of its sums
  double earned =
      1;  ///< what it has to be quicker by than gemm, which is nearer to the exact result and minds a neighbour on the core less
};

/// Depthwise convolutions by Winograd's F(2,3) along columns, in vectors of multiply-adds.
struct DepthwiseWinogradCosts {
  double begin = 0;      ///< two rows of one vector of channels
  double far_pixel = 0;  ///< what a pixel waits for L2 where the next one is in another line of each page
};

/// What it takes to widen one element of weights.
struct WideningCosts {
  double f16 = 0, bf16 = 0, i8 = 0;
};

/// What a byte of constants costs, against what the catalogue says of one from memory.
struct MemoryCosts {
  double memory = 1;
  double l3 = 1;  ///< of `memory`, where all constants of a model stay in L3 from one run to the next
  double l2 = 1;  ///< where they stay in L2
};

struct Machine {
  std::string_view name;
  ProductCosts product{};
  WinogradCosts winograd{};
  StrassenCosts strassen{};
  InnerProductCosts inner_product{};
  DepthwiseWinogradCosts depthwise_winograd{};
  WideningCosts widening{};
  MemoryCosts memory{};
  /// Whether additions of vectors go to other units than multiply-adds, so that a kernel gains which trades these for those.
  bool adds_beside_products = false;
};

namespace machines {
extern const Machine kGeneric, kAvx2, kZen3, kNeon, kAvx512, kZen4, kZen5;
}  // namespace machines

}  // namespace onnxc
