// Operands that are computed inside a Concat's result, so that nothing is left to copy.
#pragma once
#include <map>

#include "compiler/ir/layout.h"

namespace onnxc {

/// Where a value lies inside another: it begins `offset` elements into the storage of `whole`, and has the pixel
/// stride of `whole`. `extent_used`: as in PointerArg.
struct ConcatOperand {
  ValueId whole;
  Dim offset, extent_used;
};

/// Finds operands of Concat that their producers can write into its result: channels of a channels-last image, or a
/// Concat along an axis with only extents of 1 before it, as the rows of one image have. `rows_alone`: only such
/// rows. Sets the operands' pixel strides in `layouts`. An operand of several Concats lies in the last of them; the
/// others find their operands adjoining there (as in DenseNet), or copy.
std::map<ValueId, ConcatOperand> place_operands(const Graph& graph, PerValue<Layout>& layouts, bool rows_alone = false);

}  // namespace onnxc
