#include "tools/check_emitted/extents.h"

#include <clang/AST/RecursiveASTVisitor.h>

#include <algorithm>

namespace onnxc::check_emitted {
namespace {

using namespace clang;

/// Variables that an expression names.
class References : public RecursiveASTVisitor<References> {
 public:
  bool VisitDeclRefExpr(DeclRefExpr* e) {
    found.push_back(e);
    return true;
  }
  std::vector<DeclRefExpr*> found;
};

bool returns(const Stmt* s) {
  if (const auto* block = dyn_cast<CompoundStmt>(s)) return block->size() == 1 && returns(block->body_front());
  return isa<ReturnStmt>(s);
}

class ExtentJudge : public RecursiveASTVisitor<ExtentJudge> {
 public:
  ExtentJudge(const Rooms& rooms, const ExtentRules& rules, const SizeValues& values, const ASTContext& context,
              std::vector<Finding>& findings, ComparedOperands& operands)
      : rooms_(rooms), rules_(rules), values_(values), context_(context), findings_(findings), operands_(operands) {}

  bool TraverseIfStmt(IfStmt* s) {
    const auto holds = s->hasVarStorage() || s->hasInitStorage() ? std::nullopt : size_value(*s->getCond(), values_, context_);
    // What a run knows may be what makes the sizes after it fit: a condition of the model on its inputs.
    if (!holds && !s->hasVarStorage() && returns(s->getThen())) is_guarded_ = true;
    if (!holds) return RecursiveASTVisitor::TraverseIfStmt(s);
    Stmt* const taken = *holds != 0 ? s->getThen() : s->getElse();
    return taken == nullptr || TraverseStmt(taken);
  }

  bool VisitCallExpr(CallExpr* call) {
    const FunctionDecl* const callee = call->getDirectCallee();
    const bool is_kernel = callee != nullptr && callee->getQualifiedNameAsString().rfind("onnxc::", 0) == 0 && !isa<CXXMethodDecl>(callee);
    if (!is_kernel || callee->getNameAsString() == "at") return true;
    for (Expr* arg : call->arguments()) {
      for (const DeclRefExpr* e : pointers_in(arg)) operands_.all.insert(e);
    }
    for (const Operand& operand : stated_operands(*call, rules_, values_, context_)) compare(operand, callee->getNameAsString());
    return true;
  }

 private:
  std::vector<const DeclRefExpr*> pointers_in(const Expr* e) const {
    References references;
    references.TraverseStmt(const_cast<Expr*>(e));
    std::vector<const DeclRefExpr*> pointers;
    for (const DeclRefExpr* ref : references.found) {
      if (ref->getType()->isPointerType() && rooms_.of(*ref)) pointers.push_back(ref);
    }
    return pointers;
  }

  void compare(const Operand& operand, const std::string& kernel) {
    const auto room = rooms_.of(*operand.pointer);
    const QualType element = operand.pointer->getType()->getPointeeType();
    if (!room || element->isVoidType() || is_guarded_) return;
    for (const DeclRefExpr* e : pointers_in(operand.pointer)) operands_.compared.insert(e);
    const int64_t width = context_.getTypeSizeInChars(element).getQuantity();
    if (operand.first >= operand.last || (-operand.first * width <= room->before && operand.last * width <= room->behind)) return;
    findings_.push_back({Rule::Arena, operand.pointer->getExprLoc(),
                         kernel + " is told of bytes [" + std::to_string(operand.first * width) + ", " +
                             std::to_string(operand.last * width) + ") of an operand that has [" + std::to_string(-room->before) + ", " +
                             std::to_string(room->behind) + ")"});
  }

  const Rooms& rooms_;
  const ExtentRules& rules_;
  const SizeValues& values_;
  const ASTContext& context_;
  std::vector<Finding>& findings_;
  ComparedOperands& operands_;
  bool is_guarded_ = false;  ///< behind a condition that only a run knows
};

}  // namespace

void check_extents(const FunctionDecl& steps, const Rooms& rooms, const ExtentRules& rules, const SizeValues& values,
                   const ASTContext& context, std::vector<Finding>& findings, ComparedOperands& operands) {
  ExtentJudge(rooms, rules, values, context, findings, operands).TraverseStmt(steps.getBody());
}

bool refuses(const FunctionDecl& function, const SizeValues& values, const ASTContext& context) {
  const auto* const body = dyn_cast_or_null<CompoundStmt>(function.getBody());
  return body != nullptr && std::ranges::any_of(body->body(), [&](const Stmt* s) {
           const auto* const branch = dyn_cast<IfStmt>(s);
           if (branch == nullptr || branch->hasVarStorage() || branch->hasInitStorage() || !returns(branch->getThen())) return false;
           return size_value(*branch->getCond(), values, context).value_or(0) != 0;
         });
}

}  // namespace onnxc::check_emitted
