// Operators on images [1, c, rows, ...] that can compute some rows of their outputs from some rows of their inputs.
// The rows of a signal [1, c, n] are its samples, and those of a volume its planes.
#pragma once
#include <cstdint>
#include <optional>

#include "compiler/ir/graph.h"

namespace onnxc {

/// The rows [begin, end).
struct Rows {
  int64_t begin = 0, end = 0;
  int64_t count() const { return end - begin; }
  friend bool operator==(const Rows&, const Rows&) = default;
};

inline constexpr std::size_t kRowAxis = 2;

/// The number of rows of a value that is one image with constant extents. Empty for others.
std::optional<int64_t> image_rows(const Type& type);

/// Whether all of the node's outputs are images with the same number of rows, each of which needs few rows of its
/// inputs: convolutions, pools, expressions, selections of channels.
bool works_by_rows(const Graph& graph, const Node& node);

/// For a node that works by rows: the rows of input `i` that rows `out` of the outputs depend on. Empty if the input
/// is needed as a whole: weights, or an operand that is the same for all rows.
std::optional<Rows> rows_read(const Graph& graph, const Node& node, std::size_t i, Rows out);

/// Makes `node` compute only the rows `out`, from inputs that have just the rows of `rows_read`, by setting its
/// padding.
void restrict_rows(const Graph& graph, Node& node, Rows out);

/// The elements of one row of an image, over all channels.
int64_t row_elements(const Type& image);

/// The multiply-adds, or elements, of one row of the outputs.
double work_of_row(const Graph& graph, const Node& node);

}  // namespace onnxc
