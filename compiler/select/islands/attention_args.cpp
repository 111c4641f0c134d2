#include "compiler/select/islands/attention_args.h"

namespace onnxc {

AttentionArgs attention_args(KernelQuery& last, const Attention& a, Dim size, Arg q, Arg k, Arg v) {
  const auto steps = [](const auto& of) { return dims_arg(DimList{of.batch, of.head, of.row}); };
  AttentionArgs args{.params = {{"batch", dim_arg(a.batch)},
                                {"heads", dim_arg(a.heads)},
                                {"queries", dim_arg(a.queries)},
                                {"keys", dim_arg(a.keys)},
                                {"size", dim_arg(size)},
                                {"value_size", dim_arg(a.value_size)},
                                {"scale", NumberArg{a.scale, ElementType::F32}},
                                {"q", std::move(q)},
                                {"k", std::move(k)},
                                {"v", std::move(v)},
                                {"y", steps(a.y)}},
                     .cleared = {},
                     .operands = {}};
  if (!(a.k.shared == Dim(1))) args.params.emplace_back("shared_heads", dim_arg(a.k.shared));
  if (a.cleared) {
    args.cleared = last.operand(a.cleared->value);
    args.params.emplace_back("cleared", steps(*a.cleared));
  }
  if (a.nan_is_zero) args.params.emplace_back("nan_is_zero", flag_arg(true));
  for (const ScoreOperand& operand : a.operands)
    args.operands.push_back(
        {operand.by_key ? "OfScores" : "OfQueries", last.operand(operand.value).pointer, {operand.batch, operand.head, operand.row}, {}});
  return args;
}

}  // namespace onnxc
