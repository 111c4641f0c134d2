// onnxc.ByteTable: y = table[x] for each value of x, which is u8 or i8; the table has 256 values of u8 or i8, in the order of x's bits as u8. Functions of
// quantised values are computed so (passes/quantised_tables).
#include <fmt/format.h>

#include "compiler/ops/kernel_query.h"
#include "compiler/ops/quant/need.h"

namespace onnxc {
namespace {

void infer_table(Inference& n) {
  need_byte(n, 0);
  need_byte(n, 1);
  if (!(n.extents(1) == Extents{256})) n.fail(fmt::format("the table has shape {}, not [256]", text(n.extents(1))));
  n.output(0, n.element(1), n.extents(0));
}

void evaluate_table(Evaluation& e) {
  const auto* const x = reinterpret_cast<const uint8_t*>(e.input(0).bytes.data());
  const auto* const table = reinterpret_cast<const uint8_t*>(e.input(1).bytes.data());
  const std::span<std::byte> y(e.output(0).bytes);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = static_cast<std::byte>(table[x[i]]);
}

void lower_table(KernelQuery& l) {
  if (!l.optimise()) {
    const View x = l.in(0), table = l.in(1), y = l.out(0);
    return l.call("scalar_byte_table").pointer(y).pointer(x).pointer(table).dim(element_count(x.extents)).may_share(y, x).emit();
  }
  const Layout layout = l.out_layout(0);
  const View x = l.in(0, layout), table = l.in(1), y = l.out_any(0);
  NamedArgs params;
  if (layout.channels_last) {
    Dim pixels = x.extents[0];
    for (std::size_t axis = 2; axis < x.extents.size(); ++axis) pixels *= x.extents[axis];
    params = {{"rows", dim_arg(pixels)},
              {"columns", dim_arg(x.extents[1])},
              {"x_row", dim_arg(x.layout.pixel_stride)},
              {"y_row", dim_arg(y.layout.pixel_stride)}};
  } else {
    params = {{"columns", dim_arg(element_count(x.extents))}};
  }
  StepBuilder step = l.call("byte_table");
  step.pointer(x).pointer(y).pointer(table).params(std::move(params)).work(element_count(x.extents));
  if (x.layout == y.layout) step.may_share(y, x);
  step.emit();
}

}  // namespace

extern const Operator op_ByteTable;
const Operator op_ByteTable{.name = "ByteTable",
                            .domain = "onnxc",
                            .min_inputs = 2,
                            .max_inputs = 2,
                            .max_outputs = 1,
                            .infer = infer_table,
                            .evaluate = evaluate_table,
                            .lower = lower_table,
                            .layout = LayoutRule::Follows};

}  // namespace onnxc
