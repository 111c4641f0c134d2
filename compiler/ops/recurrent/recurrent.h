// onnxc.Recurrence as its kernels see it: the reference ones and those of select/.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/ops/kernel_query.h"

namespace onnxc {

/// What distinguishes the three operators.
struct RecurrentKind {
  std::string_view op;
  int64_t gates;
  std::vector<std::string> activations;  ///< of one direction

  /// The kernel's row. The reference kernel's has the prefix `scalar_`.
  std::string kernel() const { return op == "RNN" ? "rnn" : op == "GRU" ? "gru" : "lstm"; }
};
/// The kind of RNN, GRU or LSTM.
const RecurrentKind& recurrent_kind(std::string_view op);

/// 1, or 2 of a node that is bidirectional.
int64_t recurrent_directions(const Node& node);
/// Ends in an error if activations, their numbers or clip make no sense.
void check_recurrent_attributes(const Node& node, const RecurrentKind& kind);

/// Adds all arguments except template arguments to `step`, a call of either kernel, and emits it. `r`: the recurrence
/// weights in that kernel's form; `scales`: parameters that describe their storage; `scratch`: what the kernel needs beside
/// gates.
void call_recurrence(KernelQuery& l, const RecurrentKind& kind, StepBuilder& step, PointerArg r, const NamedArgs& scales = {},
                     const std::vector<PointerArg>& scratch = {});

}  // namespace onnxc
