// Operators on images [1, c, rows, ...] that can compute some rows of their outputs from some rows of their inputs. The rows of a signal [1, c, n] are its samples, those of
// a volume its planes.
#pragma once
#include <cstdint>
#include <optional>

#include "compiler/ir/graph.h"

namespace onnxc {

/// Rows `begin` up to, and without, `end`.
struct Rows {
  int64_t begin = 0, end = 0;
  int64_t count() const { return end - begin; }
  friend bool operator==(const Rows&, const Rows&) = default;
};

inline constexpr std::size_t kRowAxis = 2;

/// The rows of a value that is one image with constant extents, or nothing.
std::optional<int64_t> image_rows(const Type& type);

/// Whether the node makes images, all of as many rows, each row of which needs few rows of its inputs: convolutions, pools, expressions, parts of channels.
bool works_by_rows(const Graph& graph, const Node& node);

/// The rows of input `i` that rows `out` of the outputs are made of, of a node that works by rows. Nothing where the input is needed as it is: a weight,
/// or what is the same for all rows.
std::optional<Rows> rows_read(const Graph& graph, const Node& node, std::size_t i, Rows out);

/// Lets `node` make the rows `out` alone, of inputs that are what `rows_read` says: sets its padding.
void restrict_rows(const Graph& graph, Node& node, Rows out);

/// Elements of one row of an image, over all channels.
int64_t row_elements(const Type& image);

/// Multiply-adds, or elements, of one row of the outputs.
double work_of_row(const Graph& graph, const Node& node);

}  // namespace onnxc
