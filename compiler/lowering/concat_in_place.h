// Values that are computed where a Concat wants them, so that it has nothing left to copy.
#pragma once
#include <map>

#include "compiler/ir/layout.h"

namespace onnxc {

/// A value's place in another: it begins `offset` elements into the storage of `whole`, and has the pixel stride of that. `reach`: as in PointerArg.
struct PartOf {
  ValueId whole;
  Dim offset, reach;
};

/// Inputs of Concat that their producers can write into its result: channels of an image in channels-last, or all of an axis with nothing but extents
/// of 1 before it, as rows of one image are. `rows_alone`: these rows only. Takes the pixel strides of the parts over into `layouts`. Where an input belongs to several Concats it lies in the last of
/// them; the others find their inputs side by side there (DenseNet), or copy.
std::map<ValueId, PartOf> place_parts(const Graph& graph, std::vector<Layout>& layouts, bool rows_alone = false);

}  // namespace onnxc
