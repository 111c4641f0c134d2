#include "compiler/lowering/share_epilogues.h"

#include <algorithm>
#include <bit>
#include <set>

namespace onnxc {
namespace {

constexpr std::size_t kMostOperands = 4;  // of onnxc::Epilogue

bool is_number(const Expr::Term& term) { return term.kind == Expr::Kind::Constant && term.type == ElementType::F32; }

/// Sums and products with their operands in the order of evaluation, which changes no result. So x0 + x1 and x1 + x0 are one expression.
void order_operands(Expr& expr) {
  for (Expr::Term& term : expr.terms) {
    if (term.kind == Expr::Kind::Apply && (term.fn == Fn::Add || term.fn == Fn::Mul) && term.args[0] > term.args[1])
      std::swap(term.args[0], term.args[1]);
  }
}

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
  if (places.empty() || operands + places.size() > kMostOperands) return;
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
  for (Expr& expr : program.exprs) order_operands(expr);
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
