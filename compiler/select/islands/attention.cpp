#include "compiler/select/islands/attention.h"

#include "compiler/select/islands/attention_args.h"
#include "compiler/select/tiles.h"
#include "runtime_stub/onnxc/contract/attention.hpp"

namespace onnxc {
namespace {

/// Where the rows of an operand begin.
PointerArg first_of(KernelQuery& l, const HeadRows& rows) {
  PointerArg pointer = l.operand(rows.source).pointer;
  pointer.offset += rows.offset;
  if (!(rows.offset == Dim(0))) pointer.extent_used = 0;
  return pointer;
}

/// Products are short in depth or in columns. 2026-11-30, Sapphire Rapids: 8 by 2 is as quick as 14 by 2 for 500 queries and 5 % quicker for 64 and 128,
/// 6 by 4 takes 5 to 40 % longer.
Tile tile_for(const Target& target) { return {target.vector_registers >= 32 ? 8 : 6, 2, 2 * target.vector_floats}; }

}  // namespace

std::vector<const Node*> absorbed_by_attention(const Surroundings& around, const Node& last, const Target& target) {
  if (target.bare) return {};
  const auto attention = attention_of(around, last, Device::Cpu);
  return attention ? attention->absorbed : std::vector<const Node*>{};
}

void lower_attention(KernelQuery& last) {
  const PerValue<Layout> layouts(last.graph().values.size());
  const Attention a = *attention_of(Surroundings(last.graph(), layouts), last.node(), Device::Cpu);
  const Tile tile = tile_for(last.target());
  const bool of_keys = a.k.element == Dim(1);  // rows of k are those of keys
  const PointerArg q = first_of(last, a.q), k = first_of(last, a.k), v = first_of(last, a.v);
  const PointerArg scratch =
      last.thread_workspace("attention", ElementType::F32,
                            contract::attention_scratch(round_up(a.keys, tile.nr), a.size, round_up(a.value_size, tile.nr), tile.rows));
  const auto steps = [](const HeadRows& rows, Dim row) { return dims_arg(DimList{rows.batch, rows.head, row}); };
  AttentionArgs args =
      attention_args(last, a, a.size, steps(a.q, a.q.row), steps(a.k, of_keys ? a.k.row : a.k.element), steps(a.v, a.v.row));
  const View y = last.out(0);
  StepBuilder step = last.call("attention");
  step.template_arg(tile.rows).template_arg(tile.vectors);
  if (of_keys) step.template_arg(RuntimeName{"kTransposed"});
  else step.template_arg(false);
  step.pointer(y).pointer(q).pointer(k).pointer(v);
  if (args.cleared) step.pointer(*args.cleared);
  else step.null();
  step.pointer(scratch).params(std::move(args.params));
  if (a.scores) step.epilogue(last.epilogue(*a.scores, std::move(args.operands)));
  step.macs(a.batch * a.heads * a.queries * a.keys * (a.size + a.value_size)).emit();
}

}  // namespace onnxc
