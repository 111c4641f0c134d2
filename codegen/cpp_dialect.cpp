#include "codegen/cpp_dialect.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/cpp_branches.h"
#include "codegen/names.h"

namespace onnxc {
namespace {

std::string null_pointer(const NullArg& null) {
  if (null.element == ElementType::Undefined) return "nullptr";
  return fmt::format("static_cast<const {}*>(nullptr)", info(null.element).cpp_name);
}

std::string with_namespace(const std::string& type) { return type.empty() ? "" : "onnxc::" + type; }

}  // namespace

std::string CppDialect::template_argument(const TemplateArg& arg) const {
  return std::visit(Overloaded{
                        [](int64_t number) { return std::to_string(number); },
                        [](bool flag) { return std::string(flag ? "true" : "false"); },
                        [](ElementType type) { return std::string(info(type).cpp_name); },
                        [&](ExprType expr) { return expr_names_[static_cast<std::size_t>(expr.number)]; },
                        [](BranchesType branches) { return branches_name(branches.number); },
                        [](const RuntimeName& known) { return "onnxc::" + known.name; },
                    },
                    arg);
}

std::string CppDialect::pointer(const PointerArg& p, bool forked) const {
  const std::string& base = name_of(p.buffer);
  std::string text = base;
  if (p.as != ElementType::Undefined && p.as != stored_element(program_[p.buffer])) {
    const Buffer::Space space = program_[root_of(program_, p.buffer)].space;
    const bool is_const = space == Buffer::Space::Input || space == Buffer::Space::Weights;
    text = fmt::format("reinterpret_cast<{}{}*>({})", is_const ? "const " : "", info(p.as).cpp_name, base);
  }
  if (!(p.offset == Dim(0))) text += " + " + cpp_dim(p.offset, symbols_);
  if (forked && !(p.thread_stride == Dim(0)))
    text += fmt::format(" + std::int64_t{{share.index}} * {}", cpp_factor(p.thread_stride, symbols_));
  return text;
}

std::string CppDialect::form_members(const FormArg& form, bool forked) const {
  std::string text = pointer(form.pointer, forked);
  for (Dim d : form.members) text += ", " + cpp_dim(d, symbols_);
  if (form.has_list) text += ", " + cpp_list(form.list, symbols_);
  return text;
}

std::string CppDialect::epilogue(const EpilogueArg& e, bool forked) const {
  if (e.expr < 0) return "onnxc::Epilogue<onnxc::Keep>{}";
  std::string types = expr_names_[static_cast<std::size_t>(e.expr)], values;
  for (const FormArg& f : e.operands) {
    types += fmt::format(", onnxc::{}<{}>", f.form, info(element_of(f.pointer)).cpp_name);
    values += fmt::format("{}{{{}}}", values.empty() ? "" : ", ", form_members(f, forked));
  }
  if (!e.numbers.empty()) {
    ONNXC_CHECK(constants_ != nullptr, "epilogues have numbers on small cores alone");
    std::string numbers;
    for (const float number : e.numbers)
      numbers += (numbers.empty() ? "" : ", ") + cpp_constant(ElementType::F32, to_bits(ElementType::F32, number));
    types += fmt::format(", onnxc::Numbers<{}>", e.numbers.size());
    values += fmt::format("{}{{{}}}", values.empty() ? "" : ", ", constants_->add_array(numbers, "float", e.numbers.size()));
  }
  return fmt::format("onnxc::Epilogue<{}>{{{}}}", types, values);
}

std::string CppDialect::params(const ParamsArg& p, bool forked) const {
  std::string members;
  for (const auto& [name, value] : p.members)
    members += fmt::format("{}{}{}", members.empty() ? "" : ", ", name.empty() ? "" : fmt::format(".{} = ", name), argument(value, forked));
  return fmt::format("{}{{{}}}", with_namespace(p.type), members);
}

std::string CppDialect::argument(const Arg& arg, bool forked) const {
  return std::visit(Overloaded{
                        [&](const PointerArg& p) { return pointer(p, forked); },
                        [&](const TensorArg& t) {
                          return fmt::format("onnxc::Tensor<{}{}>{{{}, {}}}", t.pointer.writes ? "" : "const ",
                                             info(element_of(t.pointer)).cpp_name, pointer(t.pointer, forked),
                                             cpp_list(t.extents, symbols_));
                        },
                        [&](const FormArg& f) { return fmt::format("onnxc::{}{{{}}}", f.form, form_members(f, forked)); },
                        [&](const DimArg& d) { return cpp_dim(d.value, symbols_); },
                        [&](const DimsArg& d) { return cpp_list(d.values, symbols_); },
                        [](const NumberArg& n) { return cpp_constant(n.type, to_bits(n.type, n.value)); },
                        [](const IntegerArg& i) { return i.value == INT64_MIN ? "INT64_MIN" : fmt::format("std::int64_t{{{}}}", i.value); },
                        [](const FlagArg& f) { return std::string(f.value ? "true" : "false"); },
                        [](const TextArg& t) { return string_literal(t.text); },
                        [](const EnumArg& e) { return fmt::format("onnxc::{}::{}", e.type, e.value); },
                        [](const NullArg& n) { return null_pointer(n); },
                        [](const AbsentArg& a) { return with_namespace(a.type) + "{}"; },
                        [](UnitArg u) { return std::string(u == UnitArg::Heap ? "heap" : "weights_end"); },
                        [&](const EpilogueArg& e) { return epilogue(e, forked); },
                        [&](const SymbolArg& s) { return "&" + cpp_dim(s.symbol, symbols_); },
                        [&](const AddressArg& a) { return "&" + name_of(a.buffer); },
                        [&](const std::shared_ptr<ParamsArg>& p) { return params(*p, forked); },
                    },
                    arg);
}

/// Whether the argument is a constant expression in the unit.
bool CppDialect::is_constant(const Arg& arg) const {
  return std::visit(Overloaded{
                        [&](const PointerArg& p) {  // an expression with a call or a cast is none
                          const Buffer& b = program_[p.buffer];
                          return b.space == Buffer::Space::Weights && b.parent < 0 && name_of(p.buffer).find('(') == std::string::npos &&
                                 (p.as == ElementType::Undefined || p.as == stored_element(b)) && p.offset.is_constant();
                        },
                        [](const DimArg& d) { return d.value.is_constant(); },
                        [](const DimsArg& d) { return std::ranges::all_of(d.values, [](Dim v) { return v.is_constant(); }); },
                        [](const NumberArg&) { return true; },
                        [](const IntegerArg&) { return true; },
                        [](const FlagArg&) { return true; },
                        [](const EnumArg&) { return true; },
                        [](const NullArg&) { return true; },
                        [&](const std::shared_ptr<ParamsArg>& p) { return is_constant(*p); },
                        [](const auto&) { return false; },
                    },
                    arg);
}

bool CppDialect::is_constant(const ParamsArg& params) const {
  return std::ranges::all_of(params.members, [&](const auto& member) { return is_constant(member.second); });
}

/// An argument of a call, as opposed to a member of one.
std::string CppDialect::own_argument(const Arg& arg, bool forked) const {
  const bool is_struct = std::holds_alternative<DimsArg>(arg) || std::holds_alternative<std::shared_ptr<ParamsArg>>(arg);
  const std::string text = argument(arg, forked);
  if (constants_ == nullptr || !is_struct || !text.starts_with('{') || !is_constant(arg)) return text;
  return constants_->add(text.substr(1, text.size() - 2));
}

std::string CppDialect::function(const Call& call) const {
  std::string types;
  for (const TemplateArg& t : call.template_args) types += (types.empty() ? "" : ", ") + template_argument(t);
  // A row may fix some template arguments, as in gemm<14, 2>; others are appended.
  if (types.empty()) return call.function;
  if (call.function.back() == '>') return fmt::format("{}, {}>", call.function.substr(0, call.function.size() - 1), types);
  return fmt::format("{}<{}>", call.function, types);
}

std::string CppDialect::arguments(const Call& call, bool forked) const {
  std::string args;
  for (const Arg& a : call.args) args += (args.empty() ? "" : ", ") + own_argument(a, forked);
  return args;
}

std::string CppDialect::call(const Call& call, bool shared, bool forked) const {
  std::string args = call.parallel ? (shared ? "share" : "onnxc::Share{}") : "";
  if (const std::string own = arguments(call, forked); !own.empty()) args += (args.empty() ? "" : ", ") + own;
  return fmt::format("{}{}({})", call.function.starts_with("::") ? "" : "onnxc::", function(call), args);
}

}  // namespace onnxc
