#include "codegen/steps.h"

#include <fmt/format.h>

#include "codegen/names.h"

namespace onnxc {
namespace {

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

}  // namespace

std::string StepsText::pointer(const PointerArg& p) const {
  const std::string& base = buffer_names[static_cast<std::size_t>(p.buffer)];
  const ElementType own = stored_element(program[p.buffer]);
  std::string text = base;
  if (p.as != ElementType::Undefined && p.as != own) {
    const bool is_const = program[root_of(program, p.buffer)].place == Buffer::Place::Input || program[root_of(program, p.buffer)].place == Buffer::Place::Weights;
    text = fmt::format("reinterpret_cast<{}{}*>({})", is_const ? "const " : "", info(p.as).cpp_name, base);
  }
  return p.offset == Dim(0) ? text : fmt::format("{} + {}", text, cpp_dim(p.offset, symbols));
}

std::string StepsText::form_members(const FormArg& form) const {
  std::string text = pointer(form.pointer);
  for (Dim d : form.members) text += ", " + cpp_dim(d, symbols);
  if (form.has_list) text += ", " + cpp_list(form.list, symbols);
  return text;
}

std::string StepsText::argument(const Arg& arg) const {
  return std::visit(
      Overloaded{
          [&](const PointerArg& p) { return pointer(p); },
          [&](const TensorArg& t) {
            const ElementType type = t.pointer.as == ElementType::Undefined ? program[t.pointer.buffer].element : t.pointer.as;
            return fmt::format("onnxc::Tensor<{}{}>{{{}, {}}}", t.pointer.writes ? "" : "const ", info(type).cpp_name, pointer(t.pointer), cpp_list(t.extents, symbols));
          },
          [&](const FormArg& f) { return fmt::format("onnxc::{}{{{}}}", f.form, form_members(f)); },
          [&](const DimArg& d) { return cpp_dim(d.value, symbols); },
          [&](const DimsArg& d) { return cpp_list(d.values, symbols); },
          [&](const NumberArg& n) { return cpp_constant(n.type, to_bits(n.type, n.value)); },
          [&](const NameArg& n) { return n.text; },
          [&](const EpilogueArg& e) {
            if (e.expr < 0) return std::string("onnxc::Epilogue<onnxc::Keep>{}");
            std::string types = fmt::format("E{}", e.expr), values;
            for (const FormArg& f : e.operands) {
              const ElementType type = f.pointer.as == ElementType::Undefined ? program[f.pointer.buffer].element : f.pointer.as;
              types += fmt::format(", onnxc::{}<{}>", f.form, info(type).cpp_name);
              values += fmt::format("{}{{{}}}", values.empty() ? "" : ", ", form_members(f));
            }
            return fmt::format("onnxc::Epilogue<{}>{{{}}}", types, values);
          },
          [&](const std::shared_ptr<ParamsArg>& p) {
            std::string members;
            for (const auto& [name, value] : p->members) members += fmt::format("{}.{} = {}", members.empty() ? "" : ", ", name, argument(value));
            return "{" + members + "}";
          },
      },
      arg);
}

/// A fork costs about as much as some ten thousand multiply-adds: smaller steps run on the calling thread. So do those that may fail.
bool worth_sharing(const Step& step) {
  constexpr int64_t kLeastMacs = 1 << 16, kLeastBytes = 1 << 17;
  return step.parallel && !step.fallible && (step.macs.max_value() >= kLeastMacs || step.bytes.max_value() >= kLeastBytes);
}

std::string StepsText::call(const Step& step, bool shared) const {
  std::string types;
  for (const TemplateArg& t : step.template_args) types += (types.empty() ? "" : ", ") + (t.expr >= 0 ? fmt::format("E{}", t.expr) : t.text);
  // A row may fix some template arguments: gemm<14, 2>; others are appended.
  std::string function = step.function;
  if (!types.empty()) {
    if (function.back() == '>') function = fmt::format("{}, {}>", function.substr(0, function.size() - 1), types);
    else function += "<" + types + ">";
  }
  std::string args = step.parallel ? (shared ? "part" : "onnxc::Part{}") : "";
  for (const Arg& a : step.args) args += (args.empty() ? "" : ", ") + argument(a);
  return fmt::format("onnxc::{}({})", function, args);
}

void StepsText::print_steps(const std::vector<Step>& steps, int indent, int& number, std::string& out) const {
  const std::string space(static_cast<std::size_t>(indent), ' ');
  for (const Step& step : steps) {
    out += fmt::format("{}// {}: {}\n", space, ++number, comment_text(step.what, 200));
    switch (step.kind) {
      case Step::Kind::Call:
        if (threads && worth_sharing(step)) out += fmt::format("{}threads.run([&](onnxc::Part part) {{ {}; }});\n", space, call(step, true));
        else if (step.fallible) out += fmt::format("{}if (const auto status = {}) return status;\n", space, call(step, false));
        else out += fmt::format("{}{};\n", space, call(step, false));
        break;
      case Step::Kind::If:
        out += fmt::format("{}if (*{}) {{\n", space, pointer(step.condition));
        print_steps(step.blocks[0], indent + 2, number, out);
        out += fmt::format("{}}} else {{\n", space);
        print_steps(step.blocks[1], indent + 2, number, out);
        out += fmt::format("{}}}\n", space);
        break;
      case Step::Kind::Loop: ONNXC_CHECK(false, "loops are printed by their own statement"); break;
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
