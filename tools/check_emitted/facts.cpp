#include "tools/check_emitted/facts.h"

#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Basic/SourceManager.h>
#include <llvm/ADT/StringExtras.h>

namespace onnxc::check_emitted {
namespace {

using namespace clang;

/// What the assembler may be told at file scope: a section, symbols, data.
bool is_data_directive(llvm::StringRef word) {
  static const std::set<llvm::StringRef> known = {".pushsection", ".popsection",     ".section", ".previous", ".text",    ".globl",
                                                  ".hidden",      ".private_extern", ".type",    ".size",     ".p2align", ".balign",
                                                  ".byte",        ".2byte",          ".4byte",   ".8byte",    ".long",    ".quad",
                                                  ".octa",        ".zero",           ".ascii",   ".incbin",   ".fill"};
  return word.empty() || word.ends_with(":") || known.contains(word);
}

class Collector : public RecursiveASTVisitor<Collector> {
 public:
  Collector(ASTContext& context, Facts& facts) : context_(context), facts_(facts) {}
  bool shouldVisitTemplateInstantiations() const { return true; }  // kernels are templates
  bool shouldVisitImplicitCode() const { return true; }
  bool shouldVisitLambdaBody() const { return true; }

  bool TraverseDecl(Decl* decl) {
    auto* const f = dyn_cast_or_null<FunctionDecl>(decl);
    if (f == nullptr || !f->doesThisDeclarationHaveABody() || f->isDependentContext()) return RecursiveASTVisitor::TraverseDecl(decl);
    const FunctionDecl* const outer = in_;
    in_ = f->getCanonicalDecl();
    facts_.functions[in_];
    const SourceManager& sources = context_.getSourceManager();
    if (sources.isInMainFile(sources.getExpansionLoc(f->getLocation())) && f->isExternallyVisible()) facts_.entries.insert(in_);
    const bool go_on = RecursiveASTVisitor::TraverseDecl(decl);
    in_ = outer;
    return go_on;
  }

  bool VisitDeclRefExpr(DeclRefExpr* e) { return use(dyn_cast<FunctionDecl>(e->getDecl()), e->getLocation()); }
  bool VisitMemberExpr(MemberExpr* e) { return use(dyn_cast<FunctionDecl>(e->getMemberDecl()), e->getMemberLoc()); }
  bool VisitCXXConstructExpr(CXXConstructExpr* e) { return use(e->getConstructor(), e->getLocation()); }
  bool VisitLambdaExpr(LambdaExpr* e) { return use(e->getCallOperator(), e->getBeginLoc()); }

  bool VisitVarDecl(VarDecl* v) {
    const QualType type = v->getType();
    if (type->isDependentType()) return true;
    const bool is_constant = type.isConstQualified() || v->isConstexpr() || type->isReferenceType();
    if (v->hasGlobalStorage() && !is_constant && !context_.getSourceManager().isInSystemHeader(v->getLocation())) {
      const char* const kind = v->isStaticLocal()                     ? "static local"
                               : v->getTLSKind() != VarDecl::TLS_None ? "variable of a thread"
                                                                      : "global";
      facts_.beside.push_back({Rule::State, v->getLocation(), std::string(kind) + " '" + v->getQualifiedNameAsString() + "' can change"});
    }
    if (type->isVariableArrayType()) note(Rule::Allocation, v->getLocation(), "an array of variable length");
    if (const CXXRecordDecl* const r = type->getAsCXXRecordDecl(); r != nullptr && r->hasDefinition() && !r->isDependentContext())
      use(r->getDestructor(), v->getLocation());
    return true;
  }

  bool VisitCXXNewExpr(CXXNewExpr* e) { return e->getNumPlacementArgs() > 0 || note(Rule::Allocation, e->getBeginLoc(), "new"); }
  bool VisitCXXDeleteExpr(CXXDeleteExpr* e) { return note(Rule::Allocation, e->getBeginLoc(), "delete"); }
  bool VisitCXXThrowExpr(CXXThrowExpr* e) { return note(Rule::Exception, e->getBeginLoc(), "throw"); }
  bool VisitCXXTryStmt(CXXTryStmt* s) { return note(Rule::Exception, s->getBeginLoc(), "try"); }
  bool VisitCXXDynamicCastExpr(CXXDynamicCastExpr* e) { return note(Rule::Exception, e->getBeginLoc(), "dynamic_cast"); }

  bool VisitGCCAsmStmt(GCCAsmStmt* s) {  // an empty one only ties a value to a register
    const llvm::StringRef text = s->getAsmString()->getString();
    return text.empty() || note(Rule::Assembly, s->getAsmLoc(), "`" + text.split('\n').first.str() + "`");
  }
  bool VisitFileScopeAsmDecl(FileScopeAsmDecl* d) {
    llvm::SmallVector<llvm::StringRef> lines;
    d->getAsmString()->getString().split(lines, '\n');
    for (const llvm::StringRef line : lines) {
      const llvm::StringRef word = line.trim().take_until([](char c) { return c == ' ' || c == '\t'; });
      if (!is_data_directive(word))
        facts_.beside.push_back({Rule::Assembly, d->getLocation(), ("`" + line.take_front(60) + "` at file scope").str()});
    }
    return true;
  }

  bool VisitWhileStmt(WhileStmt* s) { return loop(s->getBeginLoc(), s->getCond()); }
  bool VisitDoStmt(DoStmt* s) { return loop(s->getBeginLoc(), s->getCond()); }
  bool VisitForStmt(ForStmt* s) { return loop(s->getBeginLoc(), s->getCond()); }

  bool VisitCStyleCastExpr(CStyleCastExpr* e) { return cast(e); }
  bool VisitCXXConstCastExpr(CXXConstCastExpr* e) { return cast(e); }

  bool VisitArraySubscriptExpr(ArraySubscriptExpr* e) {
    const auto* const array = context_.getAsConstantArrayType(e->getBase()->IgnoreParenImpCasts()->getType());
    Expr::EvalResult index;
    if (array == nullptr || e->getIdx()->isValueDependent() || !e->getIdx()->EvaluateAsInt(index, context_)) return true;
    const llvm::APSInt at = index.Val.getInt();
    const uint64_t size = array->getSize().getZExtValue();
    if (at.isNegative() || at.getZExtValue() >= size)
      note(Rule::Index, e->getExprLoc(), "element " + llvm::toString(at, 10) + " of an array of " + std::to_string(size));
    return true;
  }

 private:
  bool use(const FunctionDecl* f, SourceLocation where) {
    const bool is_call = in_ != nullptr && f != nullptr && !f->isTrivial() && !f->isDefaulted() && !f->isDependentContext();
    if (is_call) facts_.functions[in_].calls.try_emplace(f->getCanonicalDecl(), where);
    return true;
  }
  bool note(Rule rule, SourceLocation where, std::string what) {
    if (in_ != nullptr) facts_.functions[in_].findings.push_back({rule, where, std::move(what)});
    return true;
  }
  bool loop(SourceLocation where, const Expr* condition) {
    bool holds = true;
    const bool is_known =
        condition == nullptr || (!condition->isValueDependent() && condition->EvaluateAsBooleanCondition(holds, context_));
    return !is_known || !holds || note(Rule::Loop, where, "a loop without an end");
  }
  bool cast(const ExplicitCastExpr* e) {
    const QualType to = e->getType()->getPointeeType(), from = e->getSubExpr()->IgnoreParenImpCasts()->getType()->getPointeeType();
    const bool drops = !to.isNull() && !from.isNull() && from.isConstQualified() && !to.isConstQualified();
    return !drops || note(Rule::Const, e->getBeginLoc(), "a cast drops const");
  }

  ASTContext& context_;
  Facts& facts_;
  const FunctionDecl* in_ = nullptr;
};

}  // namespace

Facts collect_facts(ASTContext& context) {
  Facts facts;
  Collector(context, facts).TraverseDecl(context.getTranslationUnitDecl());
  return facts;
}

bool collect_function(ASTContext& context, Facts& facts, const FunctionDecl& function) {
  const FunctionDecl* body = nullptr;
  if (!function.hasBody(body)) return false;
  Collector(context, facts).TraverseDecl(const_cast<FunctionDecl*>(body));
  return true;
}

}  // namespace onnxc::check_emitted
