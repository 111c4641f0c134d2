#include "tools/check_emitted/rooms.h"

#include <clang/AST/DeclTemplate.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/RecursiveASTVisitor.h>

namespace onnxc::check_emitted {
namespace {

using namespace clang;

/// `in.x` or `out.x`; null for anything else.
const MemberExpr* tensor_of(const Expr& e) {
  const auto* const member = dyn_cast<MemberExpr>(e.IgnoreParenCasts());
  const auto* const base = member == nullptr ? nullptr : dyn_cast<DeclRefExpr>(member->getBase()->IgnoreParenCasts());
  const std::string name = base == nullptr ? "" : base->getNameInfo().getAsString();
  return name == "in" || name == "out" ? member : nullptr;
}

std::string name_of(const MemberExpr& tensor) {
  return cast<DeclRefExpr>(tensor.getBase()->IgnoreParenCasts())->getNameInfo().getAsString() + "." +
         tensor.getMemberDecl()->getNameAsString();
}

/// `x` of `x.method()`, or null.
const Expr* object_of(const Expr& e, llvm::StringRef method) {
  const auto* const call = dyn_cast<CXXMemberCallExpr>(e.IgnoreParenCasts());
  return call != nullptr && call->getMethodDecl() != nullptr && call->getMethodDecl()->getNameAsString() == method
             ? call->getImplicitObjectArgument()
             : nullptr;
}

class SizeCollector : public RecursiveASTVisitor<SizeCollector> {
 public:
  explicit SizeCollector(CheckedSizes& sizes) : sizes_(sizes) {}
  bool VisitCallExpr(CallExpr* call) {
    const FunctionDecl* const callee = call->getDirectCallee();
    if (callee == nullptr || callee->getNameAsString() != "cmp_not_equal" || call->getNumArgs() != 2) return true;
    const Expr* const span = object_of(*call->getArg(0), "size");
    const MemberExpr* const tensor = span == nullptr ? nullptr : tensor_of(*span);
    if (tensor != nullptr) sizes_.emplace(name_of(*tensor), call->getArg(1));
    return true;
  }

 private:
  CheckedSizes& sizes_;
};

}  // namespace

void collect_checked_sizes(FunctionDecl& function, CheckedSizes& sizes) { SizeCollector(sizes).TraverseDecl(&function); }

std::optional<Room> Rooms::of_span(const Expr& span) const {
  const MemberExpr* const tensor = tensor_of(span);
  const auto* const type = dyn_cast_or_null<ClassTemplateSpecializationDecl>(span.getType()->getAsCXXRecordDecl());
  if (tensor == nullptr || type == nullptr || type->getName() != "span") return std::nullopt;
  const int64_t bytes = context_.getTypeSizeInChars(type->getTemplateArgs()[0].getAsType()).getQuantity();
  const llvm::APSInt extent = type->getTemplateArgs()[1].getAsIntegral();
  if (!extent.isMaxValue()) return Room{0, extent.getExtValue() * bytes};
  const auto checked = checked_.find(name_of(*tensor));
  const auto count = checked == checked_.end() ? std::nullopt : size_value(*checked->second, values_, context_);
  return count ? std::optional(Room{0, *count * bytes}) : std::nullopt;
}

std::optional<Room> Rooms::of(const Expr& pointer) const {
  const Expr* const e = pointer.IgnoreParenCasts();
  if (const auto found = of_arena_.find(e); found != of_arena_.end()) return found->second;
  if (const Expr* const span = object_of(*e, "data")) return of_span(*span);
  if (const auto* ref = dyn_cast<DeclRefExpr>(e)) {
    const auto* const variable = dyn_cast<VarDecl>(ref->getDecl());
    const bool is_fixed = variable != nullptr && variable->getType().isConstQualified() && variable->getInit() != nullptr;
    return is_fixed ? of(*variable->getInit()) : std::nullopt;
  }
  const auto* const sum = dyn_cast<BinaryOperator>(e);
  if (sum == nullptr || !sum->getLHS()->getType()->isPointerType() || (sum->getOpcode() != BO_Add && sum->getOpcode() != BO_Sub))
    return std::nullopt;
  const auto room = of(*sum->getLHS());
  const auto steps = size_value(*sum->getRHS(), values_, context_);
  if (!room || !steps) return std::nullopt;
  const int64_t moved =
      (sum->getOpcode() == BO_Add ? *steps : -*steps) * context_.getTypeSizeInChars(sum->getType()->getPointeeType()).getQuantity();
  return Room{room->before + moved, room->behind - moved};
}

}  // namespace onnxc::check_emitted
