// Dialect: how calls of kernels and their arguments are written for one kind of device. What a host does between
// calls (variables, branches, loops, threads) is always C++; see steps.h.
#pragma once
#include <string>

#include "compiler/ir/step.h"

namespace onnxc {

class Dialect {
 public:
  virtual ~Dialect() = default;

  /// An expression. `shared`: threads divide the call among them. `forked`: it is inside a fork, where `share` is this
  /// thread's share.
  virtual std::string call(const Call& call, bool shared, bool forked) const = 0;
  /// A statement that must come before the call, or empty.
  virtual std::string before([[maybe_unused]] const Call& call) const { return ""; }
  virtual std::string pointer(const PointerArg& p, bool forked) const = 0;
  /// The element that a pointer points to, which may be a sum.
  std::string pointee(const PointerArg& p) const {
    const std::string text = pointer(p, false);
    return p.offset == Dim(0) ? "*" + text : "*(" + text + ")";
  }
};

}  // namespace onnxc
