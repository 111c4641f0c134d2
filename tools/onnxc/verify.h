// onnxc verify: is this unit what the model says?
#pragma once
#include "tools/onnxc/run.h"

namespace onnxc {

struct VerifyOptions {
  RunOptions run;          ///< `output` and `taps` are ignored
  bool made = true;        ///< also made-up inputs; without data sets these are all there are
  bool each_pass = false;  ///< evaluates the graph after every pass
  bool code = true;        ///< checks the emitted code
  bool quiet = false;      ///< prints what is not right, and the summary
};

/// Compares the unit with the evaluator of the imported graph, and with the expected outputs of data sets, and prints what departs. Returns 0 if
/// nothing does, else 1. Throws Error{Unsupported} if nothing could be compared.
int verify_command(const VerifyOptions& options);

}  // namespace onnxc
