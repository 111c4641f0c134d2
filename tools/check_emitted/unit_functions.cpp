#include "tools/check_emitted/unit_functions.h"

#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Basic/SourceManager.h>

#include <set>

namespace onnxc::check_emitted {
namespace {

using namespace clang;

bool is_arena(const Expr* e) {
  const auto* const ref = dyn_cast<DeclRefExpr>(e->IgnoreParenImpCasts());
  return ref != nullptr && isa<VarDecl>(ref->getDecl()) && ref->getNameInfo().getAsString() == "arena";
}

class UseCollector : public RecursiveASTVisitor<UseCollector> {
 public:
  bool VisitCallExpr(CallExpr* call) {
    const FunctionDecl* const callee = call->getDirectCallee();
    if (callee == nullptr || callee->getNameAsString() != "at" || call->getNumArgs() != 2 || !is_arena(call->getArg(0))) return true;
    uses_.pointers.push_back({call});
    accounted_.insert(cast<DeclRefExpr>(call->getArg(0)->IgnoreParenImpCasts()));
    return true;
  }
  bool VisitCXXStaticCastExpr(CXXStaticCastExpr* e) {  // static_cast<void>(arena)
    if (e->getType()->isVoidType() && is_arena(e->getSubExpr()))
      accounted_.insert(cast<DeclRefExpr>(e->getSubExpr()->IgnoreParenImpCasts()));
    return true;
  }
  bool VisitDeclRefExpr(DeclRefExpr* e) {
    if (is_arena(e)) references_.push_back(e);
    return true;
  }
  ArenaUses take() {
    for (const DeclRefExpr* e : references_) {
      if (!accounted_.contains(e)) uses_.others.push_back(e->getLocation());
    }
    return std::move(uses_);
  }

 private:
  ArenaUses uses_;
  std::set<const DeclRefExpr*> accounted_;
  std::vector<const DeclRefExpr*> references_;
};

/// Whether a function calls `steps` with an arena, and check_arena.
class CallCollector : public RecursiveASTVisitor<CallCollector> {
 public:
  bool VisitDeclRefExpr(DeclRefExpr* e) {
    const auto* const f = dyn_cast<FunctionDecl>(e->getDecl());
    if (f == nullptr) return true;
    names_steps = names_steps || f->getNameAsString() == "steps";
    checks = checks || f->getNameAsString() == "check_arena";
    return true;
  }
  bool names_steps = false, checks = false;
};

class FunctionCollector : public RecursiveASTVisitor<FunctionCollector> {
 public:
  bool VisitFunctionDecl(FunctionDecl* f) {
    if (!f->doesThisDeclarationHaveABody()) return true;
    const bool gives_status = f->getReturnType().getAsString().find("Status") != std::string::npos;
    if (gives_status && f->getNameAsString() == "steps") code.variants[variant(*f)].steps.push_back(f);
    if (gives_status && f->getNameAsString() == "check") code.checks.push_back(f);
    const CXXRecordDecl* const result = f->getReturnType()->getAsCXXRecordDecl();
    if (result != nullptr && result->getName() == "Plan") code.variants[variant(*f)].plans.push_back(f);
    if (isa<CXXMethodDecl>(f)) return true;
    CallCollector calls;
    calls.TraverseStmt(f->getBody());
    if (calls.names_steps && !calls.checks) code.careless.push_back(f);
    collect_checked_sizes(*f, code.sizes);
    return true;
  }
  UnitCode code;

 private:
  /// The name of the namespace inside of the unit's unnamed one; empty for the general code.
  static std::string variant(const FunctionDecl& f) {
    const auto* const space = dyn_cast<NamespaceDecl>(f.getDeclContext());
    return space == nullptr || space->isAnonymousNamespace() || !isa<NamespaceDecl>(space->getParent()) ||
                   !cast<NamespaceDecl>(space->getParent())->isAnonymousNamespace()
               ? ""
               : space->getNameAsString();
  }
};

}  // namespace

ArenaUses arena_uses(const FunctionDecl& function) {
  UseCollector collector;
  collector.TraverseDecl(const_cast<FunctionDecl*>(&function));
  return collector.take();
}

UnitCode unit_code(ASTContext& context, FileID file) {
  FunctionCollector collector;
  const SourceManager& sources = context.getSourceManager();
  for (Decl* decl : context.getTranslationUnitDecl()->decls()) {
    if (sources.getFileID(sources.getExpansionLoc(decl->getLocation())) == file) collector.TraverseDecl(decl);
  }
  return std::move(collector.code);
}

}  // namespace onnxc::check_emitted
