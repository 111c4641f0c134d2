// The passes, Graph -> Graph. One pass = one verb = one file of its name; see pipeline.cpp for their order and reasons.
#pragma once
#include <span>
#include <vector>

#include "compiler/ir/graph.h"

namespace onnxc {

/// Makes inputs of the names of tensors in Gradient's attributes, and keeps constants that are differentiated by from being folded. Needs: nothing.
Graph bind_gradients(Graph graph);
/// Makes tensors of the scores that ZipMap would make maps of. Only on demand. Needs: nothing.
Graph unzip_maps(Graph graph);
/// Brings every node to its operator's latest form, and gives every value its type. Small integer tensors (shapes) become constants or Dims on the
/// way, since later shapes depend on them. Needs: nothing.
Graph infer_shapes(Graph graph);
/// Replaces nodes whose inputs are constants by their values, within a budget of bytes. Needs: infer_shapes.
Graph fold_constants(Graph graph);
/// Rewrites operators that are compositions into the operators they are made of. Needs: infer_shapes.
Graph decompose(Graph graph);
/// Makes every elementwise operator a Map with its expression. Needs: infer_shapes.
Graph lower_elementwise(Graph graph);
/// x+0, x*1, double transposes, reshape chains, exact cast round trips, Identity; see the file for the list. Needs: infer_shapes.
Graph simplify(Graph graph);
/// Folds BatchNormalization, scales and biases behind a convolution or matrix product into its weights. Needs: lower_elementwise.
Graph fold_scales(Graph graph);
/// Moves the order of channels that a shuffle gives into the weights of the convolutions that read them. Needs: fold_scales.
Graph select_channels(Graph graph);
/// Brings the weights behind a flattened image into the order in which that lies. Needs: fold_scales.
Graph turn_flattened(Graph graph);
/// Merges elementwise groups into one expression, and attaches them to the operator that feeds them. Needs: lower_elementwise.
Graph fuse_expressions(Graph graph);
/// Multiplies the weights of convolutions whose SiLU follows so that they give the exponent of its power of two. Only for machines that compute it in fewer steps so (AVX-512).
/// Needs: fuse_expressions.
Graph scale_gates(Graph graph);
/// Gives products and convolutions `direct` where what reads them magnifies errors at zero without limit. Needs: fuse_expressions.
Graph mark_direct(Graph graph);
/// Computes equal expressions once. Needs: infer_shapes.
Graph eliminate_common_subexpressions(Graph graph);
/// Drops nodes and constants that no output needs. Needs: nothing.
Graph eliminate_dead_code(Graph graph);
/// Runs nodes in another order where fewer bytes then live at once. Needs: infer_shapes, and no pass after it that adds nodes.
Graph order_nodes(Graph graph);
/// Computes cheap values a second time instead of keeping them, where fewer bytes then live at once. Only where memory matters more than time. Needs:
/// order_nodes.
Graph recompute(Graph graph);
/// Computes images by stripes of rows, one after the other through several nodes, where fewer bytes then live at once. Rows that neighbours need are computed twice: the
/// work grows by one of the shares `most_extra`, which rise, at most. A graph for each share that helps more than the one before. Only where memory matters more than
/// time. Needs: order_nodes.
std::vector<Graph> stripe(const Graph& graph, std::span<const double> most_extra);

}  // namespace onnxc
