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

/// Adds all arguments except template arguments to `step`, a call of either kernel, and emits it. `r`: the recurrence
/// weights in that kernel's form; `scales`: parameters that describe their storage.
void call_recurrence(KernelQuery& l, const RecurrentKind& kind, StepBuilder& step, PointerArg r, const NamedArgs& scales = {});

}  // namespace onnxc
