#include "compiler/ops/nn/row_sums.h"

#include <algorithm>

#include "compiler/ops/reduce/reduce.h"

namespace onnxc {

std::optional<PointerArg> wanted_row_sums(Lowering& l) {
  const ValueId image = l.node().outputs[0];
  const Extents& y = l.output_type(0).extents;
  const auto sums_it = [&](const Node& node) { return node.input(0) == image && sums_pixels(l.graph(), node); };
  if (!l.out_layout(0).channels_last || std::ranges::none_of(l.graph().nodes, sums_it)) return std::nullopt;
  const PointerArg sums = l.workspace("row_sums", ElementType::F32, y[0] * y[2] * y[1]);
  l.keep_row_sums(sums);
  return sums;
}

}  // namespace onnxc
