#include "tools/check_emitted/facts.h"

#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Basic/SourceManager.h>
#include <llvm/ADT/StringExtras.h>

#include <optional>

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
    if (f->isExternallyVisible()) facts_.visible[sources.getFileID(sources.getExpansionLoc(f->getLocation()))].insert(in_);
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
    const CXXRecordDecl* const record = type->getAsCXXRecordDecl();
    const bool is_complete = record != nullptr && record->hasDefinition() && !record->isDependentContext();
    const bool is_constant =
        (type.isConstQualified() || v->isConstexpr() || type->isReferenceType()) && !(is_complete && record->hasMutableFields());
    if (v->hasGlobalStorage() && !is_constant && !context_.getSourceManager().isInSystemHeader(v->getLocation())) {
      const char* const kind = v->isStaticLocal()                     ? "static local"
                               : v->getTLSKind() != VarDecl::TLS_None ? "variable of a thread"
                                                                      : "global";
      facts_.beside.push_back({Rule::State, v->getLocation(), std::string(kind) + " '" + v->getQualifiedNameAsString() + "' can change"});
    }
    if (type->isVariableArrayType()) note(Rule::Allocation, v->getLocation(), "an array of variable length");
    if (is_complete) use(record->getDestructor(), v->getLocation());
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
  bool VisitIndirectGotoStmt(IndirectGotoStmt* s) { return note(Rule::Loop, s->getBeginLoc(), "goto a place that is computed"); }
  bool VisitGotoStmt(GotoStmt* s) {
    const bool back = context_.getSourceManager().isBeforeInTranslationUnit(s->getLabel()->getLocation(), s->getGotoLoc());
    return !back || note(Rule::Loop, s->getBeginLoc(), "goto a place before it");
  }

  bool VisitCStyleCastExpr(CStyleCastExpr* e) { return cast(e); }
  bool VisitCXXConstCastExpr(CXXConstCastExpr* e) { return cast(e); }

  bool VisitArraySubscriptExpr(ArraySubscriptExpr* e) { return index(*e->getBase(), *e->getIdx(), e->getExprLoc(), 1); }
  bool VisitCXXOperatorCallExpr(CXXOperatorCallExpr* e) {
    return e->getOperator() != OO_Subscript || e->getNumArgs() != 2 || index(*e->getArg(0), *e->getArg(1), e->getExprLoc(), 1);
  }
  bool VisitBinaryOperator(BinaryOperator* e) {  // to point behind the last element is allowed
    return e->getOpcode() != BO_Add || index(*e->getLHS(), *e->getRHS(), e->getExprLoc(), 0);
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
  /// Of arrays with a constant size: those of C, std::array and std::span.
  std::optional<uint64_t> array_size(QualType type) const {
    if (const auto* const array = context_.getAsConstantArrayType(type)) return array->getSize().getZExtValue();
    const auto* const special = dyn_cast_or_null<ClassTemplateSpecializationDecl>(type->getAsCXXRecordDecl());
    if (special == nullptr || !special->isInStdNamespace() || (special->getName() != "array" && special->getName() != "span"))
      return std::nullopt;
    const TemplateArgument& size = special->getTemplateArgs()[1];
    if (size.getKind() != TemplateArgument::Integral || size.getAsIntegral().isMaxValue()) return std::nullopt;  // a span of any size
    return size.getAsIntegral().getZExtValue();
  }
  /// `elements`: how many are meant, from that one on.
  bool index(const Expr& base, const Expr& at, SourceLocation where, uint64_t elements) {
    if (base.isTypeDependent() || at.isValueDependent() || !at.getType()->isIntegralOrEnumerationType()) return true;
    const std::optional<uint64_t> size = array_size(base.IgnoreParenImpCasts()->getType());
    Expr::EvalResult known;
    if (!size || !at.EvaluateAsInt(known, context_)) return true;
    const llvm::APSInt element = known.Val.getInt();
    const bool inside = !element.isNegative() && element.getZExtValue() + elements <= *size;
    return inside || note(Rule::Index, where, "element " + llvm::toString(element, 10) + " of an array of " + std::to_string(*size));
  }
  bool cast(const ExplicitCastExpr* e) {
    const QualType written = e->getTypeAsWritten(), whole = e->getSubExpr()->IgnoreParenImpCasts()->getType();
    const QualType to = written->getPointeeType(), from = written->isReferenceType() ? whole : whole->getPointeeType();
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
