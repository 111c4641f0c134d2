#include "codegen/steps.h"

#include <fmt/format.h>

#include <sstream>

#include "codegen/names.h"
#include "codegen/requirements.h"

namespace onnxc {
namespace {

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

}  // namespace

std::string StepsText::pointer(const PointerArg& p, bool forked) const {
  const std::string& base = buffer_names[static_cast<std::size_t>(p.buffer)];
  const ElementType own = stored_element(program[p.buffer]);
  std::string text = base;
  if (p.as != ElementType::Undefined && p.as != own) {
    const bool is_const = program[root_of(program, p.buffer)].place == Buffer::Place::Input ||
                          program[root_of(program, p.buffer)].place == Buffer::Place::Weights;
    text = fmt::format("reinterpret_cast<{}{}*>({})", is_const ? "const " : "", info(p.as).cpp_name, base);
  }
  if (!(p.offset == Dim(0))) text += " + " + cpp_dim(p.offset, symbols);
  if (forked && !(p.part_stride == Dim(0))) text += fmt::format(" + std::int64_t{{part.index}} * {}", cpp_factor(p.part_stride, symbols));
  return text;
}

std::string StepsText::form_members(const FormArg& form, bool forked) const {
  std::string text = pointer(form.pointer, forked);
  for (Dim d : form.members) text += ", " + cpp_dim(d, symbols);
  if (form.has_list) text += ", " + cpp_list(form.list, symbols);
  return text;
}

std::string StepsText::argument(const Arg& arg, bool forked) const {
  return std::visit(
      Overloaded{
          [&](const PointerArg& p) { return pointer(p, forked); },
          [&](const TensorArg& t) {
            const ElementType type = t.pointer.as == ElementType::Undefined ? program[t.pointer.buffer].element : t.pointer.as;
            return fmt::format("onnxc::Tensor<{}{}>{{{}, {}}}", t.pointer.writes ? "" : "const ", info(type).cpp_name,
                               pointer(t.pointer, forked), cpp_list(t.extents, symbols));
          },
          [&](const FormArg& f) { return fmt::format("onnxc::{}{{{}}}", f.form, form_members(f, forked)); },
          [&](const DimArg& d) { return cpp_dim(d.value, symbols); },
          [&](const DimsArg& d) { return cpp_list(d.values, symbols); },
          [&](const NumberArg& n) { return cpp_constant(n.type, to_bits(n.type, n.value)); },
          [&](const NameArg& n) { return n.text; },
          [&](const TextArg& t) { return string_literal(t.text); },
          [&](const EpilogueArg& e) {
            if (e.expr < 0) return std::string("onnxc::Epilogue<onnxc::Keep>{}");
            std::string types = fmt::format("E{}", e.expr), values;
            for (const FormArg& f : e.operands) {
              const ElementType type = f.pointer.as == ElementType::Undefined ? program[f.pointer.buffer].element : f.pointer.as;
              types += fmt::format(", onnxc::{}<{}>", f.form, info(type).cpp_name);
              values += fmt::format("{}{{{}}}", values.empty() ? "" : ", ", form_members(f, forked));
            }
            return fmt::format("onnxc::Epilogue<{}>{{{}}}", types, values);
          },
          [&](const SymbolArg& s) { return "&" + cpp_dim(s.symbol, symbols); },
          [&](const AddressArg& a) { return "&" + buffer_names[static_cast<std::size_t>(a.buffer)]; },
          [&](const std::shared_ptr<ParamsArg>& p) {
            std::string members;
            for (const auto& [name, value] : p->members)
              members += fmt::format("{}{}{}", members.empty() ? "" : ", ", name.empty() ? "" : fmt::format(".{} = ", name),
                                     argument(value, forked));
            return fmt::format("{}{{{}}}", p->type, members);
          },
      },
      arg);
}

std::string StepsText::call(const Step& step, bool shared, bool forked) const {
  std::string types;
  for (const TemplateArg& t : step.template_args)
    types += (types.empty() ? "" : ", ") + (t.expr >= 0 ? fmt::format("E{}", t.expr) : t.text);
  // A row may fix some template arguments: gemm<14, 2>; others are appended.
  std::string function = step.function;
  if (!types.empty()) {
    if (function.back() == '>') function = fmt::format("{}, {}>", function.substr(0, function.size() - 1), types);
    else function += "<" + types + ">";
  }
  std::string args = step.parallel ? (shared ? "part" : "onnxc::Part{}") : "";
  for (const Arg& a : step.args) args += (args.empty() ? "" : ", ") + argument(a, forked);
  return fmt::format("{}{}({})", function.starts_with("::") ? "" : "onnxc::", function, args);
}

/// Steps that say for themselves what they do.
bool is_bookkeeping(const Step& step) {
  return step.kind != Step::Kind::Call && step.kind != Step::Kind::If && step.kind != Step::Kind::Loop;
}

std::string StepsText::bookkeeping(const Step& step) const {
  const auto text = [&](Dim d) { return cpp_dim(d, symbols); };
  const std::string buffer = step.buffer >= 0 ? buffer_names[static_cast<std::size_t>(step.buffer)] : "";
  std::string out;
  switch (step.kind) {
    case Step::Kind::Declare:
      for (std::size_t i = 0; i < step.binds.size(); ++i)
        out += fmt::format("[[maybe_unused]] std::int64_t {} = {};\n", text(step.binds[i]), text(step.values[i]));
      if (step.buffer < 0) return out;
      if (program[step.buffer].place == Buffer::Place::Object) return out + fmt::format("onnxc_value {}{{}};\n", buffer.substr(1));
      return out + fmt::format("{}{}* {} = nullptr;\n", program[step.buffer].borrowed ? "const " : "",
                               info(program[step.buffer].element).cpp_name, buffer);
    case Step::Kind::Assign:
      if (step.binds.size() == 1) return fmt::format("{} = {};\n", text(step.binds[0]), text(step.values[0]));
      for (std::size_t i = 0; i < step.binds.size(); ++i)
        out += fmt::format("{}const std::int64_t next_{} = {};\n", i == 0 ? "{\n  " : "  ", i, text(step.values[i]));
      for (std::size_t i = 0; i < step.binds.size(); ++i) out += fmt::format("  {} = next_{};\n", text(step.binds[i]), i);
      return out + "}\n";
    case Step::Kind::Bind:
      for (std::size_t i = 0; i < step.binds.size(); ++i)
        out += fmt::format("[[maybe_unused]] const std::int64_t {} = onnxc::extent_of(({})[{}]);\n", text(step.binds[i]),
                           pointer(step.condition), i);
      return out;
    case Step::Kind::Require: return requirement_check(*step.requirement, symbols);
    case Step::Kind::Allocate:
      return fmt::format("if (const auto status = heap.allocate({}, {})) return status;\n", buffer, text(step.values[0]));
    case Step::Kind::Move:
      if (program[step.buffer].is_value) return fmt::format("*{} = *{};\n", buffer, pointer(step.condition));
      return fmt::format("heap.release({});\n{} = {};\n", buffer, buffer, pointer(step.condition));
    case Step::Kind::Release: return fmt::format("heap.release({});\n", buffer);
    case Step::Kind::Shape:
      return fmt::format("onnxc::store_shape({}, {});\n", shape_pointers.at(step.buffer), cpp_list(step.values, symbols));
    case Step::Kind::Call:
    case Step::Kind::If:
    case Step::Kind::Loop: break;
  }
  return out;
}

/// The step and those that follow it without a wait. A profile tells the time of each step, so there threads wait after each.
std::span<const Step> StepsText::concurrent_with(const std::vector<Step>& steps, std::size_t first) const {
  std::size_t last = first + 1;
  while (threads && profile == nullptr && last < steps.size() && steps[last].concurrent) ++last;
  return std::span(steps).subspan(first, last - first);
}

std::string StepsText::statement(const Step& step, bool shared, bool forked) const {
  const std::string text = call(step, shared, forked) + ";";
  return step.specialised ? fmt::format("[&]() ONNXC_SPECIALISED {{ {} }}();", text) : text;
}

std::string StepsText::share(std::span<const Step> group, const std::string& space) const {
  std::string out = "threads.run([&](onnxc::Part part) {\n";
  int whole = 0;
  for (const Step& step : group) {
    const bool shared = worth_sharing(step);
    out += fmt::format("{}  {}{}\n", space, shared ? "" : fmt::format("if (part.index == {} % part.count) ", ++whole),
                       statement(step, shared, true));
  }
  return out + space + "});\n";
}

std::string StepsText::threads_of(const Step& step) const {
  if (always_worth_sharing(step)) return "threads";
  std::string worth;
  for (const auto& [work, fork] : {std::pair(step.macs, kForkMacs), std::pair(step.bytes, kForkBytes)})
    if (work.max_value() >= fork) worth += fmt::format("{}{} >= {}", worth.empty() ? "" : " || ", cpp_dim(work, symbols), fork);
  return fmt::format("threads.where({})", worth);
}

void StepsText::print_steps(const std::vector<Step>& steps, int indent, int& number, std::string& out) const {
  const std::string space(static_cast<std::size_t>(indent), ' ');
  for (std::size_t at = 0; at < steps.size(); ++at) {
    const Step& step = steps[at];
    ++number;
    if (is_bookkeeping(step)) {
      std::istringstream lines(bookkeeping(step));
      for (std::string line; std::getline(lines, line);) out += space + line + "\n";
      continue;
    }
    out += fmt::format("{}// {}: {}\n", space, number, comment_text(step.what, 200));
    switch (step.kind) {
      case Step::Kind::If:
        out += fmt::format("{}if (*{}) {{\n", space, pointer(step.condition));
        print_steps(step.blocks[0], indent + 2, number, out);
        out += fmt::format("{}}} else {{\n", space);
        print_steps(step.blocks[1], indent + 2, number, out);
        out += fmt::format("{}}}\n", space);
        break;
      case Step::Kind::Loop: {
        const std::string i = cpp_dim(step.binds[0], symbols), most = cpp_dim(step.values[0], symbols);
        std::string condition = step.limited ? "" : fmt::format("{} < {}", i, most);
        if (step.condition.buffer >= 0) condition += fmt::format("{}*{}", condition.empty() ? "" : " && ", pointer(step.condition));
        out += fmt::format("{}for (std::int64_t {} = 0; {}; ++{}) {{\n", space, i, condition, i);
        if (step.limited) out += fmt::format("{}  if ({} >= {}) return {{ONNXC_TRIP_LIMIT}};\n", space, i, most);
        print_steps(step.blocks[0], indent + 2, number, out);
        out += fmt::format("{}}}\n", space);
        break;
      }
      default:
        if (const auto group = concurrent_with(steps, at); group.size() > 1) {
          for (const Step& other : group.subspan(1)) out += fmt::format("{}// {}: {}\n", space, ++number, comment_text(other.what, 200));
          out += space + share(group, space);
          at += group.size() - 1;
          break;
        }
        for (Dim symbol : step.binds) out += fmt::format("{}[[maybe_unused]] std::int64_t {} = 0;\n", space, cpp_dim(symbol, symbols));
        if (const bool shared = threads && worth_sharing(step); profile != nullptr)
          out += space +
                 profile->statement(step, call(step, shared, shared), shared ? threads_of(step) : "",
                                    step.specialised ? "ONNXC_SPECIALISED " : "") +
                 "\n";
        else if (shared)
          out += fmt::format("{}{}.run([&](onnxc::Part part) {}{{ {}; }});\n", space, threads_of(step),
                             step.specialised ? "ONNXC_SPECIALISED " : "", call(step, true, true));
        else if (step.fallible) out += fmt::format("{}if (const auto status = {}) return status;\n", space, call(step, false, false));
        else out += space + statement(step, false, false) + "\n";
        break;
    }
  }
}

std::string StepsText::print() const {
  std::string out;
  int number = 0;
  print_steps(program.steps, 2, number, out);
  return out;
}

}  // namespace onnxc
