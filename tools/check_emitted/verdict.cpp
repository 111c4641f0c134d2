#include "tools/check_emitted/verdict.h"

#include <clang/Basic/SourceManager.h>

#include <algorithm>
#include <tuple>

namespace onnxc::check_emitted {
namespace {

using namespace clang;
using Functions = std::set<const FunctionDecl*>;

bool allocates(llvm::StringRef name) {
  static const std::set<llvm::StringRef> known = {"malloc",        "calloc",         "realloc",         "free",
                                                  "aligned_alloc", "posix_memalign", "alloca",          "__builtin_alloca",
                                                  "operator new",  "operator new[]", "operator delete", "operator delete[]"};
  return known.contains(name);
}

class Judge {
 public:
  Judge(ASTContext& context, Facts& facts, const Allowed& allowed)
      : sources_(context.getSourceManager()), context_(context), facts_(facts), allowed_(allowed) {}

  Verdict verdict(const UnitFiles& unit, const std::vector<Finding>& more) {
    const Functions entries = facts_.visible[unit.own], reached = reach(entries);
    for (const FunctionDecl* f : reached) {
      for (const Finding& finding : facts_.functions[f].findings) report(finding, f);
    }
    for (const Finding& finding : facts_.beside) {
      if (!unit.others.contains(sources_.getFileID(sources_.getExpansionLoc(finding.where)))) report(finding, nullptr);
    }
    for (const Finding& finding : more) report(finding, nullptr);
    find_recursion(reached);
    result_.entries = entries.size();
    result_.reached = reached.size();
    result_.leaves = leaves_.size();
    std::ranges::sort(result_.violations, {}, [](const Violation& v) { return std::tie(v.file, v.line, v.what, v.function); });
    result_.violations.erase(std::unique(result_.violations.begin(), result_.violations.end()), result_.violations.end());
    return std::move(result_);
  }

 private:
  /// All functions with a body that entries call. Instances of generic lambdas are collected on the way.
  Functions reach(const Functions& entries) {
    Functions reached;
    std::vector<const FunctionDecl*> left(entries.begin(), entries.end());
    while (!left.empty()) {
      const FunctionDecl* const f = left.back();
      left.pop_back();
      if (!reached.insert(f).second) continue;
      const auto calls = facts_.functions[f].calls;
      for (const auto& [callee, where] : calls) {
        if (facts_.functions.contains(callee) || collect_function(context_, facts_, *callee)) left.push_back(callee);
        else if (!callee->isPureVirtual()) judge_leaf(*callee, where, *f);
      }
    }
    return reached;
  }

  void judge_leaf(const FunctionDecl& leaf, SourceLocation where, const FunctionDecl& caller) {
    const std::string name = leaf.getNameAsString();
    leaves_.insert(&leaf);
    if (allocates(name)) return report({Rule::Allocation, where, "calls " + name}, &caller);
    const bool is_builtin = llvm::StringRef(name).starts_with("__builtin_");
    if (is_builtin || leaf.isConsteval() || leaf.isConstexpr() || allowed_.leaf(name)) return;
    report({Rule::Leaf, where, "calls '" + leaf.getQualifiedNameAsString() + "'"}, &caller);
  }

  /// Components of the graph of calls, by Tarjan's algorithm, without recursion of its own: graphs of units are deep.
  void find_recursion(const Functions& reached) {
    struct Visit {
      const FunctionDecl* f;
      std::map<const FunctionDecl*, SourceLocation>::const_iterator next;
    };
    std::map<const FunctionDecl*, std::size_t> number, low;
    std::vector<const FunctionDecl*> open;
    Functions is_open;
    std::vector<Visit> path;
    const auto enter = [&](const FunctionDecl* f) {
      number[f] = low[f] = number.size();
      open.push_back(f);
      is_open.insert(f);
      path.push_back({f, facts_.functions[f].calls.begin()});
    };
    for (const FunctionDecl* root : reached) {
      if (number.contains(root)) continue;
      enter(root);
      while (!path.empty()) {
        Visit& at = path.back();
        const FunctionDecl* const f = at.f;
        if (at.next != facts_.functions[f].calls.end()) {
          const FunctionDecl* const callee = (at.next++)->first;
          if (!reached.contains(callee)) continue;
          if (!number.contains(callee)) enter(callee);
          else if (is_open.contains(callee)) low[f] = std::min(low[f], number[callee]);
          continue;
        }
        path.pop_back();
        if (!path.empty()) low[path.back().f] = std::min(low[path.back().f], low[f]);
        if (low[f] != number[f]) continue;
        std::vector<const FunctionDecl*> ring;
        do {
          ring.push_back(open.back());
          is_open.erase(open.back());
          open.pop_back();
        } while (ring.back() != f);
        if (ring.size() == 1 && !facts_.functions[f].calls.contains(f)) continue;
        const FunctionDecl* const first = *std::ranges::min_element(ring, {}, [&](const FunctionDecl* g) { return definition(*g); });
        report({Rule::Recursion, definition(*first),
                ring.size() > 1 ? std::to_string(ring.size()) + " functions call each other" : "calls itself"},
               first);
      }
    }
  }

  static SourceLocation definition(const FunctionDecl& f) {
    const FunctionDecl* body = nullptr;
    return f.hasBody(body) ? body->getLocation() : f.getLocation();
  }

  void report(const Finding& finding, const FunctionDecl* function) {
    const std::string in = function == nullptr ? "" : function->getQualifiedNameAsString();
    if (allowed_.finding(finding.rule, in)) {
      ++result_.excused;
      return;
    }
    const PresumedLoc at = sources_.getPresumedLoc(sources_.getExpansionLoc(finding.where));
    const llvm::StringRef path = at.isValid() ? at.getFilename() : "?";
    result_.violations.push_back({finding.rule, path.rsplit('/').second.empty() ? path.str() : path.rsplit('/').second.str(),
                                  at.isValid() ? at.getLine() : 0, finding.what, in});
  }

  const SourceManager& sources_;
  ASTContext& context_;
  Facts& facts_;
  const Allowed& allowed_;
  Verdict result_;
  Functions leaves_;
};

}  // namespace

Verdict judge(ASTContext& context, Facts& facts, const Allowed& allowed, const UnitFiles& unit, const std::vector<Finding>& more) {
  return Judge(context, facts, allowed).verdict(unit, more);
}

}  // namespace onnxc::check_emitted
