// BitCast: the same bits as another type of the same width.
#include <fmt/format.h>

#include "compiler/ops/kernel_query.h"

namespace onnxc {
namespace {

void infer_bit_cast(Inference& n) {
  const int64_t to = n.node().integer("to", 0);
  const auto type = element_type_numbered(static_cast<int32_t>(to));
  if (!type || *type == ElementType::Undefined || *type == ElementType::String) n.fail(fmt::format("to = {} is not a type of numbers", to));
  if (info(*type).bits != info(n.element(0)).bits)
    n.fail(fmt::format("{} has {} bits, {} has {}", name(n.element(0)), info(n.element(0)).bits, name(*type), info(*type).bits));
  n.output(0, *type, n.extents(0));
}

void evaluate_bit_cast(Evaluation& e) {
  e.output(0).bytes = e.input(0).bytes;
  // Bits that become bool are normalised, since a bool must be 0 or 1.
  if (e.output(0).type == ElementType::Bool) {
    for (std::byte& b : e.output(0).bytes) b = b == std::byte{0} ? b : std::byte{1};
  }
}

void lower_bit_cast(KernelQuery& l) {
  const View x = l.in(0), y = l.out(0);
  l.call("scalar_bit_cast").pointer(y).pointer(x).dim(element_count(y.extents)).emit();
}

}  // namespace

extern const Operator op_BitCast;
const Operator op_BitCast{.name = "BitCast",
                          .min_inputs = 1,
                          .max_inputs = 1,
                          .max_outputs = 1,
                          .infer = infer_bit_cast,
                          .evaluate = evaluate_bit_cast,
                          .lower = lower_bit_cast};

}  // namespace onnxc
