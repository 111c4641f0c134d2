// Dialect: how calls of kernels and their arguments are spelt for one kind of device. What a host does between calls (variables, branches, loops, threads) is
// C++ in each of them; see steps.h.
#pragma once
#include <string>

#include "compiler/ir/step.h"

namespace onnxc {

class Dialect {
 public:
  virtual ~Dialect() = default;

  /// An expression. `shared`: threads divide the call among them. `forked`: it stands inside of a fork, where `share` is this thread's.
  virtual std::string call(const Call& call, bool shared, bool forked) const = 0;
  virtual std::string pointer(const PointerArg& p, bool forked) const = 0;
};

}  // namespace onnxc
