// The arguments that kernels of attention on any device share.
#pragma once
#include "compiler/ops/kernel_query.h"
#include "compiler/select/islands/attention_chain.h"

namespace onnxc {

struct AttentionArgs {
  NamedArgs params;             ///< AttentionParams
  std::optional<View> cleared;  ///< Attention::cleared
  std::vector<FormArg> operands;
};

/// `size`: elements of a row of q and k as the kernel reads them; q, k, v: its steps between batches, heads and rows.
AttentionArgs attention_args(KernelQuery& last, const Attention& a, Dim size, Arg q, Arg k, Arg v);

}  // namespace onnxc
