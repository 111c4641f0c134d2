// What the call of a kernel states of its operands: how far each goes from the pointer on. Kernels state it in three ways:
//
//   scalar::gather(Tensor<float>{y, {batch, 256}}, ...)                      // a tensor has its shape
//   map<Add>(Share{}, {12, 768}, Stream{y, {768}}, Stream{x, {0}})           // one shape for all, strides for each: map, map_scalar, strided_copy
//   softmax(Share{}, x, y, {.rows = 12, .n = 768, .x_row = 768, ...})        // a struct of parameters, whose meaning data/extents.txt says
#pragma once
#include <clang/AST/ASTContext.h>
#include <clang/AST/Expr.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/dim.h"
#include "tools/check_emitted/size_expression.h"

namespace onnxc::check_emitted {

/// Elements [first, last) from where `pointer` points to.
struct Operand {
  const clang::Expr* pointer;
  int64_t first, last;
};

/// data/extents.txt: for each kernel the formulas by operand. Throws std::invalid_argument with the line that is wrong.
using ExtentRules = std::map<std::string, std::map<std::string, Dim>, std::less<>>;
ExtentRules read_extent_rules(std::string_view text);

/// Operands of which the call states extents that are known with these values; empty if it is none of a kernel.
std::vector<Operand> stated_operands(const clang::CallExpr& call, const ExtentRules& rules, const SizeValues& values,
                                     const clang::ASTContext& context);

}  // namespace onnxc::check_emitted
