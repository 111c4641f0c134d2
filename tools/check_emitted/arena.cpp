#include "tools/check_emitted/arena.h"

#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Basic/SourceManager.h>

#include <algorithm>
#include <random>
#include <set>

#include "codegen/names.h"
#include "tools/check_emitted/size_expression.h"

namespace onnxc::check_emitted {
namespace {

using namespace clang;

struct Pointer {
  SourceLocation where;
  const Expr* offset;
};

/// What one function does with a parameter or variable named `arena`.
struct Uses {
  std::vector<Pointer> pointers;
  std::vector<SourceLocation> others;
};

bool is_arena(const Expr* e) {
  const auto* const ref = dyn_cast<DeclRefExpr>(e->IgnoreParenImpCasts());
  return ref != nullptr && isa<VarDecl>(ref->getDecl()) && ref->getNameInfo().getAsString() == "arena";
}

class UseCollector : public RecursiveASTVisitor<UseCollector> {
 public:
  bool VisitCallExpr(CallExpr* call) {
    const FunctionDecl* const callee = call->getDirectCallee();
    if (callee == nullptr || callee->getNameAsString() != "at" || call->getNumArgs() != 2 || !is_arena(call->getArg(0))) return true;
    uses.pointers.push_back({call->getBeginLoc(), call->getArg(1)});
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
  Uses take() {
    for (const DeclRefExpr* e : references_) {
      if (!accounted_.contains(e)) uses.others.push_back(e->getLocation());
    }
    return std::move(uses);
  }
  Uses uses;

 private:
  std::set<const DeclRefExpr*> accounted_;
  std::vector<const DeclRefExpr*> references_;
};

/// The functions of the unit that matter here, by variant.
struct UnitFunctions {
  std::vector<const FunctionDecl*> steps, plans;
};

class FunctionCollector : public RecursiveASTVisitor<FunctionCollector> {
 public:
  bool VisitFunctionDecl(FunctionDecl* f) {
    if (!f->doesThisDeclarationHaveABody()) return true;
    if (f->getNameAsString() == "steps" && f->getReturnType().getAsString().find("Status") != std::string::npos)
      functions[variant(*f)].steps.push_back(f);
    const CXXRecordDecl* const result = f->getReturnType()->getAsCXXRecordDecl();
    if (result != nullptr && result->getName() == "Plan") functions[variant(*f)].plans.push_back(f);
    return true;
  }
  std::map<std::string, UnitFunctions> functions;

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

class ArenaJudge {
 public:
  ArenaJudge(ASTContext& context, const MemoryPlan& plan, const UnitFunctions& functions, ArenaFindings& result)
      : context_(context), plan_(plan), functions_(functions), result_(result) {}

  void judge() {
    for (const FunctionDecl* steps : functions_.steps) judge_steps(*steps);
  }

 private:
  void report(SourceLocation where, std::string what) { result_.findings.push_back({Rule::Arena, where, std::move(what)}); }

  void judge_steps(const FunctionDecl& steps) {
    UseCollector collector;
    collector.TraverseDecl(const_cast<FunctionDecl*>(&steps));
    const Uses uses = collector.take();
    for (const SourceLocation where : uses.others) report(where, "the arena is used beside onnxc::at");
    result_.pointers += uses.pointers.size();
    std::map<std::string, Dim> symbols;
    for (const auto& [id, buffer] : plan_.buffers) {
      buffer.bytes.collect_symbols(symbols);
      buffer.offset.collect_symbols(symbols);
    }
    if (functions_.plans.empty()) {
      judge_at(steps, uses, {}, {}, plan_.arena_bytes.is_constant() ? std::optional(plan_.arena_bytes.value()) : std::nullopt);
      return;
    }
    constexpr int kSamples = 12;
    std::mt19937_64 random(1);
    for (int sample = 0; sample < kSamples && result_.findings.empty(); ++sample) {
      Sizes sizes;
      SizeValues dims;
      for (const auto& [name, symbol] : symbols) {
        const int64_t least = std::max<int64_t>(1, symbol.min_value()), most = std::max(least, symbol.max_value());
        const int64_t value = std::min(most, least + static_cast<int64_t>(sample == 0 ? 0 : random() % (sample < 6 ? 9 : 700)));
        sizes[name] = value;
        const std::string member = "dims." + make_identifier(name, "dim");
        dims[member] = value;
        dims.try_emplace(member + "_2", value);  // where the interface has a thing of that name
      }
      for (const FunctionDecl* plan : functions_.plans) judge_sample(steps, uses, *plan, sizes, dims);
    }
  }

  void judge_sample(const FunctionDecl& steps, const Uses& uses, const FunctionDecl& plan, const Sizes& sizes, const SizeValues& dims) {
    const auto values = run_plan(plan, dims, context_);
    if (!values) {
      // `plan` takes the smallest of several, each of which is judged.
      if (functions_.plans.size() == 1) report(plan.getLocation(), "the function that computes offsets is not understood");
      return;
    }
    judge_at(steps, uses, sizes, *values, values->at("p.bytes"));
  }

  /// For one set of sizes.
  void judge_at(const FunctionDecl& steps, const Uses& uses, const Sizes& sizes, const SizeValues& values,
                std::optional<int64_t> arena_bytes) {
    if (!arena_bytes) return report(steps.getLocation(), "the plan does not say how large the arena is");
    struct Place {
      int64_t begin, end;
      int first, last;
    };
    std::map<int, Place> places;  // of roots
    const bool is_fixed =
        std::ranges::none_of(values, [](const auto& value) { return value.first.starts_with("p.b") && value.first != "p.bytes"; });
    const auto bytes_of = [&](int id) { return evaluate(plan_.buffers.at(id).bytes, sizes); };
    for (const auto& [id, buffer] : plan_.buffers) {
      if (buffer.parent >= 0) continue;
      std::optional<int64_t> begin;
      if (is_fixed) begin = evaluate(buffer.offset, sizes);
      else if (const auto found = values.find("p.b" + std::to_string(id)); found != values.end()) begin = found->second;
      const auto bytes = bytes_of(id);
      if (!begin || !bytes) continue;
      places[id] = {*begin, *begin + *bytes, buffer.first, buffer.last};
      if (*begin < 0 || *begin + *bytes > *arena_bytes)
        return report(steps.getLocation(), "buffer " + std::to_string(id) + " ends at byte " + std::to_string(*begin + *bytes) +
                                               " of an arena of " + std::to_string(*arena_bytes));
    }
    for (auto a = places.begin(); a != places.end(); ++a) {
      for (auto b = std::next(a); b != places.end(); ++b) {
        const Place &x = a->second, &y = b->second;
        if (x.first < y.last && y.first < x.last && x.begin < y.end && y.begin < x.end)
          return report(steps.getLocation(),
                        "buffers " + std::to_string(a->first) + " and " + std::to_string(b->first) + " live at once and overlap");
      }
    }
    auto next = plan_.buffers.begin();
    for (const Pointer& pointer : uses.pointers) {
      const auto offset = size_value(*pointer.offset, values, context_);
      if (!offset) return report(pointer.where, "an offset that is not understood");
      const MemberExpr* const named = plan_member(pointer.offset);
      const auto is_there = [&](const auto& entry) {
        const int root = plan_.root_of(entry.first);
        const auto place = places.find(root);
        const auto inside = evaluate(plan_.offset_in_root(entry.first), sizes), bytes = bytes_of(entry.first);
        if (place == places.end() || !inside || place->second.begin + *inside != *offset) return false;
        // A view may have bytes that only a run knows. Of symbolic sizes, the model may refuse those for which a view would be larger than what it lies in.
        return is_fixed ? !bytes || *offset + *bytes <= place->second.end
                        : named == nullptr || named->getMemberDecl()->getName() == "b" + std::to_string(root);
      };
      next = std::find_if(next, plan_.buffers.end(), is_there);
      if (next == plan_.buffers.end()) return report(pointer.where, "no buffer of the plan lies at byte " + std::to_string(*offset));
      ++next;
    }
  }

  /// `p.b6` in an offset; null if there is none.
  static const MemberExpr* plan_member(const Stmt* offset) {
    if (const auto* member = dyn_cast<MemberExpr>(offset)) {
      const auto* const base = dyn_cast<DeclRefExpr>(member->getBase()->IgnoreParenCasts());
      if (base != nullptr && base->getNameInfo().getAsString() == "p") return member;
    }
    for (const Stmt* part : offset->children()) {
      if (const MemberExpr* const found = part == nullptr ? nullptr : plan_member(part)) return found;
    }
    return nullptr;
  }

  /// Nothing if it depends on what only a run knows.
  static std::optional<int64_t> evaluate(Dim dim, const Sizes& sizes) {
    std::map<std::string, Dim> symbols;
    dim.collect_symbols(symbols);
    if (!std::ranges::all_of(symbols, [&](const auto& symbol) { return sizes.contains(symbol.first); })) return std::nullopt;
    return dim.evaluate(sizes);
  }

  ASTContext& context_;
  const MemoryPlan& plan_;
  const UnitFunctions& functions_;
  ArenaFindings& result_;
};

/// Functions that call `steps` with an arena, and whether they call check_arena.
class CheckCollector : public RecursiveASTVisitor<CheckCollector> {
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

class CallerCollector : public RecursiveASTVisitor<CallerCollector> {
 public:
  explicit CallerCollector(ArenaFindings& result) : result_(result) {}
  bool VisitFunctionDecl(FunctionDecl* f) {
    if (!f->doesThisDeclarationHaveABody() || isa<CXXMethodDecl>(f)) return true;
    CheckCollector inside;
    inside.TraverseStmt(f->getBody());
    if (inside.names_steps && !inside.checks)
      result_.findings.push_back({Rule::Arena, f->getLocation(), "it calls steps without check_arena"});
    return true;
  }

 private:
  ArenaFindings& result_;
};

/// What the file declares.
template <class Collector>
void traverse(ASTContext& context, FileID file, Collector& collector) {
  const SourceManager& sources = context.getSourceManager();
  for (Decl* decl : context.getTranslationUnitDecl()->decls()) {
    if (sources.getFileID(sources.getExpansionLoc(decl->getLocation())) == file) collector.TraverseDecl(decl);
  }
}

}  // namespace

ArenaFindings check_arena(ASTContext& context, const std::map<std::string, MemoryPlan>& plans, FileID unit) {
  ArenaFindings result;
  FunctionCollector collector;
  traverse(context, unit, collector);
  for (const auto& [variant, functions] : collector.functions) {
    const auto plan = plans.find(variant);
    if (plan == plans.end()) {
      for (const FunctionDecl* steps : functions.steps)
        result.findings.push_back({Rule::Arena, steps->getLocation(), "the plan has no variant '" + variant + "'"});
      continue;
    }
    if (!plan->second.is_divided) ArenaJudge(context, plan->second, functions, result).judge();
  }
  CallerCollector callers(result);
  traverse(context, unit, callers);
  return result;
}

}  // namespace onnxc::check_emitted
