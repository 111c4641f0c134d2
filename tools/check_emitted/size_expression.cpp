#include "tools/check_emitted/size_expression.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/Stmt.h>

#include <algorithm>

namespace onnxc::check_emitted {
namespace {

using namespace clang;

int64_t floor_div(int64_t a, int64_t b) { return b == 0 ? 0 : a / b - (a % b != 0 && (a < 0) != (b < 0)); }

std::optional<int64_t> call_value(llvm::StringRef name, const std::vector<int64_t>& args, int64_t alignment) {
  if (args.size() == 1 && name == "aligned") return -floor_div(-args[0], alignment) * alignment;
  if (args.size() != 2) return std::nullopt;
  const int64_t a = args[0], b = args[1];
  if (name == "floor_div") return floor_div(a, b);
  if (name == "ceil_div") return -floor_div(-a, b);
  if (name == "mod") return a - b * floor_div(a, b);
  if (name == "min_of") return std::min(a, b);
  if (name == "max_of") return std::max(a, b);
  if (name == "broadcast_of") return a == 1 ? b : a;
  if (name == "sum_of") return a + b;
  if (name == "product_of") return a * b;
  return std::nullopt;
}

/// N of `aligned<N>`.
int64_t alignment_of(const FunctionDecl& f) {
  const TemplateArgumentList* const args = f.getTemplateSpecializationArgs();
  if (args != nullptr && args->size() > 0 && args->get(0).getKind() == TemplateArgument::Integral)
    return args->get(0).getAsIntegral().getExtValue();
  return 64;
}

/// `dims.batch`
std::string name_of(const MemberExpr& member) {
  const auto* const base = dyn_cast<DeclRefExpr>(member.getBase()->IgnoreParenCasts());
  return (base == nullptr ? "?" : base->getDecl()->getNameAsString()) + "." + member.getMemberDecl()->getNameAsString();
}

}  // namespace

std::optional<int64_t> size_value(const Expr& expression, const SizeValues& values, const ASTContext& context) {
  const Expr& e = *expression.IgnoreParenCasts();
  if (Expr::EvalResult known; !e.isValueDependent() && e.EvaluateAsInt(known, context)) return known.Val.getInt().getExtValue();
  const auto value = [&](const Expr* part) { return size_value(*part, values, context); };
  if (const auto* member = dyn_cast<MemberExpr>(&e)) {
    const auto found = values.find(name_of(*member));
    return found == values.end() ? std::nullopt : std::optional(found->second);
  }
  if (const auto* ref = dyn_cast<DeclRefExpr>(&e)) {
    const auto* const variable = dyn_cast<VarDecl>(ref->getDecl());
    const bool is_constant = variable != nullptr && variable->getType().isConstQualified() && variable->getInit() != nullptr;
    return is_constant && variable->getType()->isIntegerType() ? value(variable->getInit()) : std::nullopt;
  }
  if (const auto* unary = dyn_cast<UnaryOperator>(&e); unary != nullptr && unary->getOpcode() == UO_Minus) {
    const auto a = value(unary->getSubExpr());
    return a ? std::optional(-*a) : std::nullopt;
  }
  if (const auto* binary = dyn_cast<BinaryOperator>(&e)) {
    const auto a = value(binary->getLHS()), b = value(binary->getRHS());
    const auto is = [](const std::optional<int64_t>& known, bool truth) { return known && (*known != 0) == truth; };
    if (binary->getOpcode() == BO_LOr && (is(a, true) || is(b, true))) return 1;
    if (binary->getOpcode() == BO_LAnd && (is(a, false) || is(b, false))) return 0;
    if (!a || !b) return std::nullopt;
    switch (binary->getOpcode()) {
      case BO_Add: return *a + *b;
      case BO_Sub: return *a - *b;
      case BO_Mul: return *a * *b;
      case BO_Div: return *b == 0 ? std::nullopt : std::optional(*a / *b);
      case BO_LT: return *a < *b;
      case BO_LE: return *a <= *b;
      case BO_GT: return *a > *b;
      case BO_GE: return *a >= *b;
      case BO_EQ: return *a == *b;
      case BO_NE: return *a != *b;
      case BO_LOr: return 0;
      case BO_LAnd: return 1;
      default: return std::nullopt;
    }
  }
  const auto* const call = dyn_cast<CallExpr>(&e);
  const FunctionDecl* const callee = call == nullptr ? nullptr : call->getDirectCallee();
  if (callee == nullptr) return std::nullopt;
  std::vector<int64_t> args;
  for (const Expr* arg : call->arguments()) {
    const auto a = value(arg);
    if (!a) return std::nullopt;
    args.push_back(*a);
  }
  return call_value(callee->getName(), args, alignment_of(*callee));
}

std::optional<SizeValues> run_plan(const FunctionDecl& plan, const SizeValues& dims, const ASTContext& context) {
  const auto* const body = dyn_cast_or_null<CompoundStmt>(plan.getBody());
  const CXXRecordDecl* const type = plan.getReturnType()->getAsCXXRecordDecl();
  if (body == nullptr || type == nullptr) return std::nullopt;
  SizeValues values = dims;
  for (const FieldDecl* field : type->fields()) {
    const auto initial =
        field->getInClassInitializer() == nullptr ? std::nullopt : size_value(*field->getInClassInitializer(), values, context);
    if (!initial) return std::nullopt;
    values["p." + field->getNameAsString()] = *initial;
  }
  for (const Stmt* statement : body->body()) {
    if (isa<DeclStmt>(statement) || isa<ReturnStmt>(statement)) continue;
    const auto* const assignment = dyn_cast<BinaryOperator>(statement);
    const auto* const to = assignment == nullptr ? nullptr : dyn_cast<MemberExpr>(assignment->getLHS()->IgnoreParenCasts());
    if (to == nullptr || assignment->getOpcode() != BO_Assign) return std::nullopt;
    const auto value = size_value(*assignment->getRHS(), values, context);
    if (!value) return std::nullopt;
    values[name_of(*to)] = *value;
  }
  return values;
}

}  // namespace onnxc::check_emitted
