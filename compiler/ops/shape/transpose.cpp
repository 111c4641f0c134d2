// Transpose: y[i_perm[0], i_perm[1], ...] = x[i_0, i_1, ...]; without perm the axes are reversed.
#include "compiler/ops/shape/transpose.h"

#include <fmt/format.h>

#include "compiler/ops/dispatch.h"
#include "compiler/ops/kernel_query.h"
#include "runtime_stub/onnxc/strided_copy.hpp"

namespace onnxc {

std::vector<int64_t> permutation_of(const Node& node, int rank) {
  std::vector<int64_t> reversed;
  for (int k = rank; k-- > 0;) reversed.push_back(k);
  return node.integers("perm", reversed);
}

namespace {

std::vector<int64_t> permutation(const Node& node, int rank) {
  std::vector<int64_t> perm = permutation_of(node, rank);
  std::vector<char> seen(static_cast<std::size_t>(rank), 0);
  if (static_cast<int>(perm.size()) != rank)
    node.fail(ErrorKind::Invalid, fmt::format("perm has {} entries for rank {}", perm.size(), rank));
  for (int64_t p : perm) {
    if (p < 0 || p >= rank || seen[static_cast<std::size_t>(p)]++) node.fail(ErrorKind::Invalid, "perm is not a permutation");
  }
  return perm;
}

void infer_transpose(Inference& n) {
  const Extents& in = n.extents(0);
  Extents out;
  for (int64_t p : permutation(n.node(), n.rank(0))) out.push_back(in[static_cast<std::size_t>(p)]);
  n.output(0, n.element(0), std::move(out));
}

void evaluate_transpose(Evaluation& e) {
  const std::vector<int64_t> perm = permutation(e.node(), e.rank(0));
  if (perm.empty()) {
    e.output(0).bytes = e.input(0).bytes;
    return;
  }
  const Shape in = Evaluation::shape_of(e.input(0)), out = Evaluation::shape_of(e.output(0));
  Ints to, from;
  to.size = from.size = out.rank;
  for (int k = 0; k < out.rank; ++k) {
    to[k] = out.count(k + 1, out.rank);
    from[k] = in.count(static_cast<int>(perm[static_cast<std::size_t>(k)]) + 1, in.rank);
  }
  for_size(e.type(0), [&]<class T>() { strided_copy(Share{}, out, e.out<T>().data, to, e.in<T>(0).data, from); });
}

void lower_transpose(KernelQuery& l) {
  View x = l.in_any(0);
  const Extents& extents = l.output_type(0).extents;
  const DimList strides = x.strides();
  DimList from;
  for (int64_t p : permutation(l.node(), static_cast<int>(x.extents.size()))) from.push_back(strides[static_cast<std::size_t>(p)]);
  if (l.optimise() && !l.is_defined(0)) {
    // The [n, h, w, c] of a channels-last image, and the reverse, need no copy.
    std::vector<Layout> layouts{{}};
    if (extents.size() >= 3 && extents.size() <= 5 && x.element == ElementType::F32) layouts.push_back({true, extents[1]});
    for (const Layout& layout : layouts) {
      if (!same_strides(extents, from, strides_of(extents, layout))) continue;
      x.layout = layout;
      return l.out_view(0, x);
    }
  }
  const View y = l.out(0);
  l.copy(y.extents, y.pointer, y.strides(), x.pointer, from, y.element);
}

}  // namespace

extern const Operator op_Transpose;
const Operator op_Transpose{.name = "Transpose",
                            .min_inputs = 1,
                            .max_inputs = 1,
                            .max_outputs = 1,
                            .infer = infer_transpose,
                            .evaluate = evaluate_transpose,
                            .lower = lower_transpose};

}  // namespace onnxc
