#include "compiler/select/gpu/rows_of_k.h"

#include "compiler/select/gpu/tiles.h"

namespace onnxc {

RowsOfK rows_of_k(KernelQuery& l, const char* name, const View& x, const StridedRows& from) {
  const Dim stride = gpu_row_of(from.k, x.element);
  const bool one_by_one = from.count == Dim(1) || from.step == from.rows * stride;
  if (from.from_k == Dim(1) && from.from_row == stride && from.k == stride && one_by_one && l.is_aligned(x, 16)) return {x.pointer, stride};
  const PointerArg to = l.workspace(name, x.element, from.count * from.rows * stride);
  NamedArgs params{{"rows", dim_arg(from.rows)},
                   {"k", dim_arg(from.k)},
                   {"to_stride", dim_arg(stride)},
                   {"from_row", dim_arg(from.from_row)},
                   {"from_k", dim_arg(from.from_k)}};
  if (!(from.count == Dim(1))) {
    params.emplace_back("batch", dim_arg(from.count));
    params.emplace_back("from_batch", dim_arg(from.step));
  }
  StepBuilder step = l.call("gpu_pack_rows");
  step.call().bytes = from.count * from.rows * (from.k + stride) * gpu_bytes(x.element);
  step.pointer(to).pointer(x).params(std::move(params)).emit();
  PointerArg packed = to;
  packed.writes = false;
  return {packed, stride};
}

void add_splits(KernelQuery& l, StepBuilder& step, const GpuTilePlan& plan, ElementType sums, NamedArgs& params) {
  if (plan.splits == 1) return;
  step.pointer(l.workspace("parts", sums, plan.parts));
  step.call().tickets = plan.tickets;
  params.emplace_back("splits", dim_arg(plan.splits));
}

}  // namespace onnxc
