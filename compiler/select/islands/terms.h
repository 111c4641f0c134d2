// How the forms of an expression are told apart: islands of a GPU are written in many ways.
#pragma once
#include <optional>

#include "compiler/ir/expr.h"

namespace onnxc {

/// An expression's terms, looked at from the root.
class Terms {
 public:
  explicit Terms(const Expr& e) : e_(e) {}
  int root() const { return static_cast<int>(e_.terms.size()) - 1; }
  const Expr::Term& operator[](int i) const { return e_.terms[static_cast<std::size_t>(i)]; }
  bool applies(int i, Fn fn) const { return (*this)[i].kind == Expr::Kind::Apply && (*this)[i].fn == fn; }
  std::optional<int> input(int i) const { return (*this)[i].kind == Expr::Kind::Input ? std::optional((*this)[i].args[0]) : std::nullopt; }
  std::optional<double> number(int i) const {
    return (*this)[i].kind == Expr::Kind::Constant ? std::optional(from_bits((*this)[i].type, (*this)[i].bits)) : std::nullopt;
  }
  int arg(int i, int k) const { return (*this)[i].args[k]; }

 private:
  const Expr& e_;
};

}  // namespace onnxc
