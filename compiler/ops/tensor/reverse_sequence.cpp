// ReverseSequence: reverses the first part of each sequence of a batch, by its own length.
#include <fmt/format.h>

#include "compiler/ops/dispatch.h"
#include "compiler/ops/kernel_query.h"
#include "runtime_stub/onnxc/scalar/reverse_sequence.hpp"

namespace onnxc {
namespace {

void infer_reverse_sequence(Inference& n) {
  const int rank = n.rank(0);
  if (rank < 2) n.fail(fmt::format("the input has rank {}; it needs 2 or more", rank));
  const int time = n.axis(n.node().integer("time_axis", 0), rank), batch = n.axis(n.node().integer("batch_axis", 1), rank);
  if (time == batch) n.fail(fmt::format("time_axis and batch_axis are both {}", time));
  if (n.rank(1) != 1 || n.element(1) != ElementType::I64) n.fail(fmt::format("the lengths are {}, not an i64 vector", n.type(1).text()));
  n.unify(n.extents(1)[0], n.extents(0)[static_cast<std::size_t>(batch)], "there is a length for each element of the batch");
  n.output(0, n.type(0));
}

int64_t named_axis(const Node& node, const char* name, int64_t otherwise, int rank) {
  const int64_t axis = node.integer(name, otherwise);
  return axis < 0 ? axis + rank : axis;
}

void evaluate_reverse_sequence(Evaluation& e) {
  const int rank = e.rank(0);
  for_size(e.type(0), [&]<class T>() {
    e.check(scalar::reverse_sequence(e.out<T>(), e.in<T>(0), e.in<int64_t>(1), named_axis(e.node(), "time_axis", 0, rank),
                                     named_axis(e.node(), "batch_axis", 1, rank)));
  });
}

void lower_reverse_sequence(KernelQuery& l) {
  const View x = l.in(0), lengths = l.in(1);
  const int rank = static_cast<int>(x.extents.size());
  l.call("scalar_reverse_sequence")
      .tensor(l.out(0))
      .tensor(x)
      .tensor(lengths)
      .dim(named_axis(l.node(), "time_axis", 0, rank))
      .dim(named_axis(l.node(), "batch_axis", 1, rank))
      .emit();
}

}  // namespace

extern const Operator op_ReverseSequence;
const Operator op_ReverseSequence{.name = "ReverseSequence",
                                  .min_inputs = 2,
                                  .max_inputs = 2,
                                  .max_outputs = 1,
                                  .infer = infer_reverse_sequence,
                                  .evaluate = evaluate_reverse_sequence,
                                  .lower = lower_reverse_sequence};

}  // namespace onnxc
