#include "compiler/select/islands/row_sums.h"

#include <algorithm>

#include "compiler/ops/reduce/reduce.h"

namespace onnxc {

bool wants_row_sums(const KernelQuery& l) {
  const ValueId image = l.node().outputs[0];
  const auto sums_it = [&](const Node& node) { return node.input(0) == image && sums_pixels(l.graph(), node); };
  return l.out_layout(0).channels_last && std::ranges::any_of(l.graph().nodes, sums_it);
}

std::optional<PointerArg> wanted_row_sums(KernelQuery& l) {
  if (!wants_row_sums(l)) return std::nullopt;
  const Extents& y = l.output_type(0).extents;
  const PointerArg sums = l.workspace("row_sums", ElementType::F32, y[0] * y[2] * y[1]);
  l.keep_row_sums(sums);
  return sums;
}

}  // namespace onnxc
