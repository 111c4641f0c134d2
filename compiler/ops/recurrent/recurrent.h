// onnxc.Recurrence as its kernels see it, the reference ones and those of select/.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/ops/kernel_query.h"

namespace onnxc {

/// What tells the three operators apart.
struct RecurrentKind {
  std::string_view op;
  int64_t gates;
  std::vector<std::string> activations;  ///< of one direction

  /// The kernel's row; that of the reference has `scalar_` before it.
  std::string kernel() const { return op == "RNN" ? "rnn" : op == "GRU" ? "gru" : "lstm"; }
};
/// That of RNN, GRU or LSTM.
const RecurrentKind& recurrent_kind(std::string_view op);

/// Gives `step`, a call of either side's kernel, all arguments but those of the template, and emits it. `r`: the recurrence weights as that
/// kernel reads them; `scales`: parameters that tell how they are stored.
void call_recurrence(KernelQuery& l, const RecurrentKind& kind, StepBuilder& step, PointerArg r, const NamedArgs& scales = {});

}  // namespace onnxc
