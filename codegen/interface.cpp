#include "codegen/interface.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/names.h"
#include "runtime_stub/onnxc/model.h"

namespace onnxc {
namespace {

/// The number of stored elements of an input or output.
Dim stored_elements(const Buffer& buffer) {
  const Dim n = element_count(buffer.extents);
  return is_sub_byte(buffer.element) ? ceil_div(n * info(buffer.element).bits, 8) : n;
}

std::vector<Member> members(const Program& program, const std::vector<BufferId>& ids, const SymbolNames& symbols, const char* when_empty,
                            bool gpu) {
  std::vector<Member> list;
  Names names(kInterfaceNames);
  if (gpu) {
    for (const std::string_view name : kGpuUnitNames) names.add(name);
  }
  for (BufferId id : ids) {
    const Buffer& b = program[id];
    if (b.is_value) {
      list.push_back({names.add(b.name, when_empty), &b, ""});
      continue;
    }
    const bool bounded = std::ranges::any_of(b.extents, [](Dim d) { return d.depends_on_run(); });
    const Dim n = bounded ? floor_div(b.bytes, info(stored_element(b)).bits / 8) : stored_elements(b);
    list.push_back({names.add(b.name, when_empty), &b, cpp_dim(n, symbols), n.is_constant(), bounded});
    if (bounded) names.add(list.back().name + "_shape");
  }
  return list;
}

}  // namespace

int Member::form() const { return buffer->is_value ? ONNXC_VALUE : bounded ? ONNXC_BOUNDED : ONNXC_PLAIN; }

std::string Member::span_type(bool output) const {
  const std::string element = fmt::format("{}{}", output ? "" : "const ", info(stored_element(*buffer)).cpp_name);
  return fixed ? fmt::format("std::span<{}, {}>", element, size) : fmt::format("std::span<{}>", element);
}

std::string Member::size_text() const { return fixed ? size : fmt::format("static_cast<std::size_t>({})", size); }

std::string Member::from_pointer(const std::string& pointer, bool output) const {
  const char* const qualifier = output ? "" : "const ";
  if (!is_span()) return fmt::format("*static_cast<{}onnxc_value*>({})", qualifier, pointer);
  return fmt::format("{}(static_cast<{}{}*>({}), {})", span_type(output), qualifier, info(stored_element(*buffer)).cpp_name, pointer,
                     size_text());
}

Interface::Interface(const Program& program, bool gpu) {
  Names dims(kInterfaceNames);
  for (const BufferId id : program.inputs) {
    for (Dim d : program[id].extents) {
      if (!d.is_symbol() || !symbol_members.emplace(d.name(), "").second) continue;
      symbols.push_back(d);
      symbol_members[d.name()] = dims.add(d.name(), "dim");
      symbol_names[d.name()] = "dims." + symbol_members[d.name()];
    }
  }
  inputs = members(program, program.inputs, symbol_names, "input", gpu);
  outputs = members(program, program.outputs, symbol_names, "output", gpu);
}

std::string Interface::dims_of(const std::string& pointer, const std::string& name_space) const {
  std::string values;
  for (std::size_t k = 0; k < symbols.size(); ++k) values += fmt::format("{}{}[{}]", k == 0 ? "" : ", ", pointer, k);
  return fmt::format("  const {}Dims dims{{{}}};\n", name_space.empty() ? "" : name_space + "::", values);
}

std::string size_checks(const Interface& interface, const std::vector<State>& states) {
  std::string text;
  const auto check = [&](const std::vector<Member>& list, const char* of) {
    for (const Member& m : list) {
      if (!m.fixed && m.is_span())
        text += fmt::format("  if (std::cmp_{}({}.{}.size(), {})) return {{ONNXC_WRONG_SIZE}};\n", m.bounded ? "less" : "not_equal", of,
                            m.name, m.size);
    }
  };
  check(interface.inputs, "in");
  check(interface.outputs, "out");
  for (const State& state : states)
    text += fmt::format("  if (in.{}.data() != out.{}.data()) return {{ONNXC_SEPARATE_STATE}};\n",
                        interface.inputs[static_cast<std::size_t>(state.past)].name,
                        interface.outputs[static_cast<std::size_t>(state.present)].name);
  return text;
}

}  // namespace onnxc
