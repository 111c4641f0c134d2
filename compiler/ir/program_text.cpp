// Programs as text for people: buffers, steps with their arguments, sizes. This is not the language of a unit.
#include <fmt/format.h>

#include "compiler/ir/program.h"

namespace onnxc {
namespace {

/// Prints steps and their parts. The program knows the types of buffers.
class ProgramText {
 public:
  explicit ProgramText(const Program& program) : program_(program) {}

  /// `%3`, or `>%3 + 64` if it is written.
  std::string text(const PointerArg& p) const {
    std::string all = fmt::format("{}%{}", p.writes ? ">" : "", p.buffer);
    if (p.as != ElementType::Undefined && p.as != stored_element(program_[p.buffer])) all += fmt::format(" as {}", name(p.as));
    if (!(p.offset == Dim(0))) all += " + " + p.offset.text();
    if (!(p.thread_stride == Dim(0))) all += fmt::format(" + share * {}", p.thread_stride.text());
    return all;
  }

  std::string text(const FormArg& form) const {
    std::string all = text(form.pointer);
    for (Dim d : form.members) all += ", " + d.text();
    if (form.has_list) all += ", " + onnxc::text(form.list);
    return fmt::format("{}({})", form.form, all);
  }

  std::string text(const EpilogueArg& epilogue) const {
    if (epilogue.expr < 0) return "keep";
    std::string all = fmt::format("E{}", epilogue.expr);
    for (const FormArg& form : epilogue.operands) all += ", " + text(form);
    for (const float number : epilogue.numbers) all += fmt::format(", {}", number);
    return fmt::format("epilogue({})", all);
  }

  std::string text(const ParamsArg& params) const {
    std::string all;
    for (const auto& [name, value] : params.members)
      all += fmt::format("{}{}{}", all.empty() ? "" : ", ", name.empty() ? "" : name + " = ", text(value));
    return fmt::format("{}{{{}}}", params.type, all);
  }

  std::string text(const Arg& arg) const {
    return std::visit(Overloaded{
                          [this](const PointerArg& p) { return text(p); },
                          [this](const TensorArg& t) { return text(t.pointer) + onnxc::text(t.extents); },
                          [this](const FormArg& f) { return text(f); },
                          [](const DimArg& d) { return d.value.text(); },
                          [](const DimsArg& d) { return onnxc::text(d.values); },
                          [](const NumberArg& n) { return fmt::format("{} {}", name(n.type), n.value); },
                          [](const IntegerArg& i) { return std::to_string(i.value); },
                          [](const FlagArg& f) { return std::string(f.value ? "true" : "false"); },
                          [](const TextArg& t) { return fmt::format("{:?}", t.text); },
                          [](const EnumArg& e) { return fmt::format("{}::{}", e.type, e.value); },
                          [](const NullArg&) { return std::string("null"); },
                          [](const AbsentArg&) { return std::string("absent"); },
                          [](UnitArg u) { return std::string(u == UnitArg::Heap ? "heap" : "weights_end"); },
                          [this](const EpilogueArg& e) { return text(e); },
                          [](const SymbolArg& s) { return ">" + s.symbol.text(); },
                          [](const AddressArg& a) { return fmt::format(">&%{}", a.buffer); },
                          [this](const std::shared_ptr<ParamsArg>& p) { return text(*p); },
                      },
                      arg);
  }

  std::string text(const TemplateArg& arg) const {
    return std::visit(Overloaded{
                          [](int64_t number) { return std::to_string(number); },
                          [](bool flag) { return std::string(flag ? "true" : "false"); },
                          [](ElementType type) { return std::string(name(type)); },
                          [](ExprType expr) { return fmt::format("E{}", expr.number); },
                          [](BranchesType branches) { return fmt::format("Branches{}", branches.number); },
                          [](const RuntimeName& known) { return known.name; },
                      },
                      arg);
  }

  /// `gemm<14, 2>(%0, %1, >%2, {m = 1}) parallel`
  std::string text(const Call& call) const {
    std::string types, args;
    for (const TemplateArg& t : call.template_args) types += (types.empty() ? "" : ", ") + text(t);
    for (const Arg& a : call.args) args += (args.empty() ? "" : ", ") + text(a);
    return fmt::format("{}{}({}){}{}{}{}", call.kernel, types.empty() ? "" : "<" + types + ">", args, call.parallel ? " parallel" : "",
                       call.fallible ? " fallible" : "", call.specialised ? " specialised" : "", call.concurrent ? " concurrent" : "");
  }

  static std::string assignments(const DimList& symbols, const DimList& values) {
    std::string all;
    for (std::size_t i = 0; i < symbols.size(); ++i)
      all += fmt::format("{}{} = {}", i == 0 ? " " : ", ", symbols[i].text(), values[i].text());
    return all;
  }

  /// A step without its blocks.
  std::string text(const Step& step) const {
    const std::string detail =
        std::visit(Overloaded{
                       [](const Call&) { return std::string(); },
                       [this](const If& branches) { return " " + text(branches.condition); },
                       [this](const Loop& loop) {
                         return fmt::format(" {} < {}{}{}", loop.iteration.text(), loop.most.text(), loop.limited ? " else fail" : "",
                                            loop.condition.buffer >= 0 ? " while " + text(loop.condition) : "");
                       },
                       [](const Declare& declare) { return assignments(declare.symbols, declare.values); },
                       [](const DeclareBuffer& declare) { return fmt::format(" %{}", declare.buffer); },
                       [](const Assign& assign) { return assignments(assign.symbols, assign.values); },
                       [this](const Bind& bind) { return fmt::format(" {} = {}", onnxc::text(bind.symbols), text(bind.elements)); },
                       [](const Require& require) { return " " + onnxc::text(require.requirement); },
                       [](const Allocate& allocate) { return fmt::format(" %{}[{}]", allocate.buffer, allocate.elements.text()); },
                       [this](const MoveBuffer& move) { return fmt::format(" %{} = {}", move.buffer, text(move.from)); },
                       [](const Release& release) { return fmt::format(" %{}", release.buffer); },
                       [](const StoreShape& store) { return fmt::format(" %{} {}", store.output, onnxc::text(store.extents)); },
                   },
                   step.action);
    return step.call() != nullptr ? text(*step.call()) : step_label(step) + detail;
  }

 private:
  const Program& program_;
};

void print_steps(const ProgramText& program, const std::vector<Step>& steps, int indent, int& number, std::string& out) {
  for (const Step& step : steps) {
    out += fmt::format("{:>{}}{:>4}  {}  # {}\n", "", indent, number++, program.text(step), step.what);
    for_each_block(step, [&](const std::vector<Step>& block) {
      out += fmt::format("{:>{}}{{\n", "", indent + 4);
      print_steps(program, block, indent + 4, number, out);
      out += fmt::format("{:>{}}}}\n", "", indent + 4);
    });
  }
}

/// The region that a buffer lies in, or -1.
int region_of(const Program& program, const Buffer& b) {
  return b.space == Buffer::Space::Weights && b.parent < 0 ? program.weights.at(static_cast<std::size_t>(b.index)).region : b.region;
}

}  // namespace

std::string print_program(const Program& program) {
  std::string out = fmt::format("program '{}'\narena {} bytes, lower bound {}, {} without sharing\n", program.name,
                                program.arena.bytes.text(), program.arena.lower_bound.text(), program.arena.unshared_bytes.text());
  for (const Region& r : program.regions)
    out += fmt::format("region {}: {} of {} bytes for the arena, {} for constants{}\n", r.name, r.arena_bytes, r.capacity, r.constant_bytes,
                       r.section.empty() ? "" : " in " + r.section);
  out += "buffers\n";
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    const Buffer& b = program.buffers[i];
    out += fmt::format("  %{:<4} {:<8} {:>12} bytes  {}{} '{}'", i, space_name(b.space), b.bytes.text(), name(b.element), text(b.extents),
                       b.name);
    if (b.parent >= 0) out += fmt::format(" in %{} at {}", b.parent, b.offset.text());
    else if (b.space == Buffer::Space::Arena) out += fmt::format(" at {} live [{}, {})", b.offset.text(), b.first, b.last);
    if (const int region = region_of(program, b); region >= 0)
      out += fmt::format(" in {}", program.regions.at(static_cast<std::size_t>(region)).name);
    out += "\n";
  }
  for (const State& state : program.states)
    out += fmt::format("  %{} begins where %{} does\n", program.outputs[static_cast<std::size_t>(state.present)],
                       program.inputs[static_cast<std::size_t>(state.past)]);
  for (std::size_t i = 0; i < program.exprs.size(); ++i) out += fmt::format("  E{} = {}\n", i, program.exprs[i].text());
  for (std::size_t i = 0; i < program.branches.size(); ++i) out += fmt::format("  Branches{} = {}\n", i, program.branches[i].summary());
  out += "steps\n";
  int number = 0;
  print_steps(ProgramText(program), program.steps, 0, number, out);
  return out;
}

}  // namespace onnxc
