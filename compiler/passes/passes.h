// The passes, Graph -> Graph. One pass = one verb = one file of its name; see pipeline.cpp for their order and reasons.
#pragma once
#include <span>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/passes/weight_form.h"

namespace onnxc {

/// Turns the names of tensors in Gradient's attributes into inputs, and prevents folding of constants with respect to
/// which it differentiates. Needs: nothing.
Graph bind_gradients(Graph graph);
/// Keeps the scores that ZipMap turns into maps as tensors. Only on demand. Needs: nothing.
Graph unzip_maps(Graph graph);
/// Brings every node to its operator's latest form, and gives every value its type. Small integer tensors (shapes)
/// become constants or Dims on the way, since later shapes depend on them. Needs: nothing.
Graph infer_shapes(Graph graph);
/// Replaces nodes whose inputs are constant by their values, within a budget of bytes. Needs: infer_shapes.
Graph fold_constants(Graph graph);
/// The same, with at most `bytes_left` bytes, from which what was made is subtracted.
Graph fold_constants(Graph graph, int64_t& bytes_left);
/// Values of 8 bits between QuantizeLinear and DequantizeLinear stay bytes. Needs: infer_shapes.
Graph recognise_quantised(Graph graph);
/// The same, and values of 16 bits are multiplied as two digits of 8, where machines have dot products of bytes. Needs: infer_shapes.
Graph recognise_digits(Graph graph);
/// Rewrites composite operators into the operators they consist of. Needs: infer_shapes.
Graph decompose(Graph graph);
/// Makes states that grow do so along their outermost axis. Throws Error{Unsupported} for a state that neither grows nor keeps its shape. Needs:
/// decompose, since attention with a cache is a Concat there.
Graph place_states(Graph graph);
/// Keeps constant weights of few bits as they are in products that would wait for larger ones. Needs:
/// recognise_quantised, which takes products of two quantised operands.
Graph recognise_weight_only(Graph graph);
/// Rounds constant weights of products, and tables of Gather, to codes of few bits. Only on demand, since it changes results. Needs: infer_shapes.
Graph quantise_weights(Graph graph, const WeightForm& form, WeightSavings& savings);
/// The same with 4 bits in blocks of 16, however few the weights: for tests.
Graph quantise_weights(Graph graph);
/// Makes every elementwise operator a Map with its expression. Needs: infer_shapes.
Graph lower_elementwise(Graph graph);
/// Removes x+0, x*1, double transposes, reshape chains, exact cast round trips, Identity; see the file for the list.
/// Needs: infer_shapes.
Graph simplify(Graph graph);
/// Counts the words of strings without memory for the words. Needs: simplify.
Graph join_text(Graph graph);
/// Picks columns of a tensor, and products of them, at once where a Concat joins them one by one. Needs: simplify.
Graph join_columns(Graph graph);
/// Makes one ensemble of trees whose functions are added up. Needs: lower_elementwise.
Graph merge_trees(Graph graph);
/// Folds BatchNormalization, scales and biases after a convolution or matrix product into its weights. Needs:
/// lower_elementwise.
Graph fold_scales(Graph graph);
/// Leaves images of bytes [n, h, w, c] as they are for convolutions of few channels. Needs: lower_elementwise, recognise_quantised.
Graph flatten_pixels(Graph graph);
/// Moves channel shuffles into the weights of the convolutions that read their results. Needs: fold_scales.
Graph select_channels(Graph graph);
/// Reorders the weights of a product that follows a flattened image, so that the image need not be transposed. Needs:
/// fold_scales.
Graph reorder_flattened(Graph graph);
/// Merges elementwise groups into one expression, and attaches them to the operator that feeds them. Needs: lower_elementwise.
Graph fuse_expressions(Graph graph);
/// Keeps floats that are functions of bytes as those bytes, if only expressions read them. For microcontrollers, whose memory is scarce. Needs:
/// fuse_expressions.
Graph store_bytes(Graph graph);
/// Scales the weights of convolutions that a SiLU follows, so that they compute the exponent of its power of two.
/// Only for machines on which this saves instructions (AVX-512). Needs: fuse_expressions.
Graph scale_gates(Graph graph);
/// Sets `direct` on products and convolutions whose readers magnify errors at zero without limit. Needs:
/// fuse_expressions.
Graph mark_direct(Graph graph);
/// Computes equal expressions once. Needs: infer_shapes.
Graph eliminate_common_subexpressions(Graph graph);
/// Drops nodes and constants that no output needs. Needs: nothing.
Graph eliminate_dead_code(Graph graph);
/// Reorders nodes if fewer bytes are live at once then. Needs: infer_shapes, and no later pass that adds nodes.
Graph order_nodes(Graph graph);
/// Computes cheap values a second time instead of keeping them, if fewer bytes are live at once then. Only where
/// memory matters more than time. Needs: order_nodes.
Graph recompute(Graph graph);
/// Computes images by stripes of rows, one after the other through several nodes, if fewer bytes are live at once
/// then. Rows that neighbouring stripes need are computed twice; the added work is limited to a share of all work.
/// Returns a graph for each share in `most_extra`, in ascending order, that helps more than the one before. Only
/// where memory matters more than time. Needs: order_nodes.
std::vector<Graph> stripe(const Graph& graph, std::span<const double> most_extra);

}  // namespace onnxc
