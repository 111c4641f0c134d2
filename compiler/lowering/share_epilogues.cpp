#include "compiler/lowering/share_epilogues.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <span>
#include <string>
#include <vector>

#include "compiler/support/sha256.h"

namespace onnxc {
namespace {

constexpr std::size_t kMostOperands = 2, kMostNumbers = 8;  // of onnxc::Epilogue with onnxc::Numbers

bool is_number(const Expr::Term& term) { return term.kind == Expr::Kind::Constant && term.type == ElementType::F32; }

/// Rebuilds an expression with the operands of sums and products in one order, which changes no result: by what is above them, numbers
/// apart. So relu(x0 + x1) and relu(x1 + x0) are one expression, and so are two that differ in numbers.
class InOrder {
 public:
  explicit InOrder(const Expr& expr) : expr_(expr), texts_(expr.terms.size()), moved_(expr.terms.size(), -1) {
    for (std::size_t i = 0; i < texts_.size(); ++i) texts_[i] = outline_text(expr.terms[i]);
  }

  Expr rebuild() {
    result_.finish(moved(static_cast<int>(expr_.terms.size()) - 1));
    return std::move(result_);
  }

 private:
  static constexpr std::size_t kLongest = 256;
  static bool commutes(const Expr::Term& term) { return term.kind == Expr::Kind::Apply && (term.fn == Fn::Add || term.fn == Fn::Mul); }
  const std::string& text(int i) const { return texts_[static_cast<std::size_t>(i)]; }

  std::string outline_text(const Expr::Term& term) const {
    switch (term.kind) {
      case Expr::Kind::Input: return fmt::format("x{}", term.args[0]);
      case Expr::Kind::Constant: return is_number(term) ? "~" : fmt::format("~{} {}", static_cast<int>(term.type), term.bits);
      case Expr::Kind::Apply: break;
    }
    std::vector<std::string> args;
    for (int k = 0; k < info(term.fn).arity; ++k) args.push_back(text(term.args[k]));
    if (commutes(term)) std::ranges::sort(args);
    const std::string all = fmt::format("{}{}({})", info(term.fn).name, static_cast<int>(term.type), fmt::join(args, ","));
    return all.size() <= kLongest ? all : sha256(std::as_bytes(std::span(all)));  // a term that is used twice would double it
  }

  int moved(int i) {
    int& to = moved_[static_cast<std::size_t>(i)];
    if (to >= 0) return to;
    Expr::Term term = expr_.terms[static_cast<std::size_t>(i)];
    if (commutes(term) && text(term.args[1]) < text(term.args[0])) std::swap(term.args[0], term.args[1]);
    if (term.kind == Expr::Kind::Apply) {
      for (int k = 0; k < info(term.fn).arity; ++k) term.args[k] = moved(term.args[k]);
    }
    result_.terms.push_back(term);
    return to = static_cast<int>(result_.terms.size()) - 1;
  }

  const Expr& expr_;
  std::vector<std::string> texts_;
  std::vector<int> moved_;
  Expr result_;
};

/// The expression with all numbers alike: what epilogues of one instance have in common.
std::vector<Expr::Term> outline_of(const Expr& expr) {
  std::vector<Expr::Term> terms = expr.terms;
  for (Expr::Term& term : terms) {
    if (is_number(term)) term.bits = 0;
  }
  return terms;
}

bool same_forms(const EpilogueArg& a, const EpilogueArg& b, const Program& program) {
  return std::ranges::equal(a.operands, b.operands, [&](const FormArg& x, const FormArg& y) {
    return x.form == y.form && program[x.pointer.buffer].element == program[y.pointer.buffer].element && x.pointer.as == y.pointer.as;
  });
}

/// Epilogues of one kernel that differ in numbers alone.
struct Group {
  std::string kernel;
  std::vector<Expr::Term> outline;
  std::vector<EpilogueArg*> members;
};

/// Makes one expression of a group's. The numbers that differ become its last inputs.
void merge(Program& program, const Group& group) {
  const auto expr_of = [&](const EpilogueArg& e) -> const Expr& { return program.exprs[static_cast<std::size_t>(e.expr)]; };
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < group.outline.size(); ++i) {
    const uint64_t first = expr_of(*group.members[0]).terms[i].bits;
    if (std::ranges::any_of(group.members, [&](const EpilogueArg* e) { return expr_of(*e).terms[i].bits != first; })) places.push_back(i);
  }
  const std::size_t operands = group.members[0]->operands.size();
  if (places.empty() || places.size() > kMostNumbers || operands > kMostOperands) return;
  Expr merged = expr_of(*group.members[0]);
  for (std::size_t k = 0; k < places.size(); ++k)
    merged.terms[places[k]] = {Expr::Kind::Input, ElementType::F32, {}, {static_cast<int>(1 + operands + k), -1, -1}};
  for (EpilogueArg* e : group.members) {
    for (const std::size_t i : places) e->numbers.push_back(std::bit_cast<float>(static_cast<uint32_t>(expr_of(*e).terms[i].bits)));
  }
  for (EpilogueArg* e : group.members) e->expr = static_cast<int>(program.exprs.size());
  program.exprs.push_back(std::move(merged));
}

template <class Visit>
void for_each_expr(Program& program, Visit visit) {
  for_each_call(program.steps, [&](Call& call, int) {
    for (TemplateArg& arg : call.template_args) {
      if (auto* const expr = std::get_if<ExprType>(&arg)) visit(expr->number);
    }
    for (Arg& arg : call.args) {
      if (auto* const epilogue = std::get_if<EpilogueArg>(&arg); epilogue != nullptr && epilogue->expr >= 0) visit(epilogue->expr);
    }
  });
}

/// Leaves each expression that calls name once, in the order of calls.
void keep_used(Program& program) {
  std::vector<Expr> kept;
  for_each_expr(program, [&](int& number) {
    const Expr& expr = program.exprs[static_cast<std::size_t>(number)];
    const auto found = std::ranges::find(kept, expr);
    number = static_cast<int>(found - kept.begin());
    if (found == kept.end()) kept.push_back(expr);
  });
  program.exprs = std::move(kept);
}

}  // namespace

void share_epilogues(Program& program) {
  for (Expr& expr : program.exprs) expr = InOrder(expr).rebuild();
  std::vector<Group> groups;
  for_each_call(program.steps, [&](Call& call, int) {
    for (Arg& arg : call.args) {
      auto* const epilogue = std::get_if<EpilogueArg>(&arg);
      if (epilogue == nullptr || epilogue->expr < 0) continue;
      const std::vector<Expr::Term> outline = outline_of(program.exprs[static_cast<std::size_t>(epilogue->expr)]);
      auto group = std::ranges::find_if(groups, [&](const Group& g) {
        return g.kernel == call.kernel && g.outline == outline && same_forms(*g.members[0], *epilogue, program);
      });
      if (group == groups.end()) group = groups.insert(groups.end(), Group{call.kernel, outline, {}});
      group->members.push_back(epilogue);
    }
  });
  for (const Group& group : groups) merge(program, group);
  keep_used(program);
}

}  // namespace onnxc
