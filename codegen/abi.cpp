#include "codegen/abi.h"

#include <fmt/format.h>

#include "codegen/names.h"
#include "runtime_stub/onnxc/model.h"

namespace onnxc {

std::string character_array(const std::string& name, const std::string& value) {
  std::string characters;
  for (char c : value) characters += fmt::format("'\\{:03o}', ", static_cast<unsigned char>(c));
  return fmt::format("constexpr char {}[] = {{{}0}};\n", name, characters);
}

std::string abi_text(const Interface& interface, const SizeLimits& limits, const Program& program, const EmitOptions& options,
                     std::size_t weights_bytes) {
  const std::string& ns = options.name_space;
  std::string text = "namespace {\n\n";
  // A name as an expression. A name that is too long for a literal becomes an array of its own.
  int long_names = 0;
  const auto name_text = [&](const std::string& name) {
    if (name.size() < kLongestLiteral) return string_literal(name);
    const std::string array = fmt::format("{}_long_name_{}", ns, long_names++);
    text += character_array(array, name);
    return array;
  };
  const auto infos = [&](const std::vector<Member>& list, const std::string& what) {
    std::string rows;
    for (std::size_t i = 0; i < list.size(); ++i) {
      std::string shape;
      for (Dim d : list[i].buffer->extents) {
        std::string extent = "INT64_MIN";
        if (d.is_constant()) extent = std::to_string(d.value());
        for (std::size_t k = 0; k < interface.symbols.size(); ++k) {
          if (interface.symbols[k] == d) extent = std::to_string(-1 - static_cast<int64_t>(k));
        }
        shape += (shape.empty() ? "" : ", ") + extent;
      }
      text += fmt::format("constexpr std::int64_t {}_{}_{}_shape[] = {{{}}};\n", ns, what, i, shape.empty() ? "0" : shape);
      const int kind = list[i].buffer->kind == Type::Kind::Sequence   ? ONNXC_SEQUENCE
                       : list[i].buffer->kind == Type::Kind::Optional ? ONNXC_OPTIONAL
                       : list[i].buffer->kind == Type::Kind::Map      ? ONNXC_MAP
                                                                      : ONNXC_TENSOR;
      rows +=
          fmt::format("    {{{}, {}, {}, {}, {}_{}_{}_shape, {}, {}}},\n", name_text(list[i].buffer->name), string_literal(list[i].name),
                      static_cast<int>(list[i].buffer->element),
                      list[i].buffer->is_ranked ? static_cast<int>(list[i].buffer->extents.size()) : -1, ns, what, i, list[i].form(), kind);
    }
    if (list.empty()) rows = "    {nullptr, nullptr, 0, 0, nullptr, 0, 0},\n";
    text += fmt::format("constexpr onnxc_tensor_info {}_{}s[] = {{\n{}}};\n", ns, what, rows);
  };
  infos(interface.inputs, "input");
  infos(interface.outputs, "output");
  std::string rows;
  for (Dim s : interface.symbols) {
    const int64_t most = limits.most.at(s.name());
    rows +=
        fmt::format("    {{{}, {}, {}}},\n", name_text(s.name()), s.min_value(), most == INT64_MAX ? "INT64_MAX" : std::to_string(most));
  }
  if (rows.empty()) rows = "    {nullptr, 0, 0},\n";
  text += fmt::format("constexpr onnxc_symbol_info {}_symbols[] = {{\n{}}};\n\n", ns, rows);

  std::string dims;
  for (std::size_t k = 0; k < interface.symbols.size(); ++k) dims += fmt::format("{}symbols[{}]", k == 0 ? "" : ", ", k);
  const std::string make_dims = interface.dynamic() ? fmt::format("  const {}::Dims dims{{{}}};\n", ns, dims) : "";
  text += fmt::format("std::size_t {}_arena_bytes({}const std::int64_t* symbols) {{\n{}  return {}::arena_bytes{};\n}}\n\n", ns,
                      interface.dynamic() ? "" : "[[maybe_unused]] ", make_dims, ns, interface.dynamic() ? "(dims)" : "");
  const std::string refusal = fmt::format(
      "  if ({}::check(dims)) {{\n    for (std::int32_t i = 0; k >= 0 && k < {} && i < {}_outputs[k].rank; ++i) extents[i] = -1;\n    "
      "return;\n  }}\n",
      ns, interface.outputs.size(), ns);
  std::string cases;
  bool reads = false, computes = false;
  for (std::size_t i = 0; i < interface.outputs.size(); ++i) {
    cases += fmt::format("    case {}:\n", i);
    for (std::size_t axis = 0; axis < interface.outputs[i].buffer->extents.size(); ++axis) {
      const Dim most = interface.outputs[i].buffer->extents[axis].upper_bound().value_or(Dim(-1));
      reads = reads || !most.is_constant();
      computes = computes || !(most.is_constant() || most.is_symbol());
      cases += fmt::format("      extents[{}] = {};\n", axis, cpp_dim(most, interface.symbol_names));
    }
    cases += "      break;\n";
  }
  text += fmt::format(
      "void {}_output_shape([[maybe_unused]] const std::int64_t* symbols, std::int32_t k, [[maybe_unused]] std::int64_t* extents) {{\n{}  "
      "switch (k) {{\n{}    default: break;\n  }}\n}}\n\n",
      ns, (reads ? make_dims : "") + (computes ? refusal : ""), cases);

  std::string in, out, shapes;
  for (std::size_t i = 0; i < interface.inputs.size(); ++i) {
    if (!interface.inputs[i].is_span()) {
      in += fmt::format("      *static_cast<const onnxc_value*>(call->inputs[{}]),\n", i);
      continue;
    }
    in += fmt::format("      {}(static_cast<const {}*>(call->inputs[{}]), {}),\n", interface.inputs[i].span_type(false),
                      info(stored_element(*interface.inputs[i].buffer)).cpp_name, i, interface.inputs[i].size_text());
  }
  std::string told;
  for (std::size_t i = 0; i < interface.outputs.size(); ++i) {
    if (!interface.outputs[i].is_span()) {
      out += fmt::format("      *static_cast<onnxc_value*>(call->outputs[{}]),\n", i);
      told += fmt::format("{}k != {}", told.empty() ? "" : " && ", i);
      continue;
    }
    if (interface.outputs[i].bounded) told += fmt::format("{}k != {}", told.empty() ? "" : " && ", i);
    out += fmt::format("      {}(static_cast<{}*>(call->outputs[{}]), {}),\n", interface.outputs[i].span_type(true),
                       info(stored_element(*interface.outputs[i].buffer)).cpp_name, i, interface.outputs[i].size_text());
    if (interface.outputs[i].bounded) out += fmt::format("      call->output_shapes != nullptr ? call->output_shapes[{}] : nullptr,\n", i);
  }
  text += fmt::format("std::int32_t {}_run(const onnxc_call* call) {{\n  if (call == nullptr) return ONNXC_NULL_POINTER;\n", ns);
  if (interface.dynamic()) {
    text += "  const std::int64_t* const symbols = call->symbols;\n  if (symbols == nullptr) return ONNXC_NULL_POINTER;\n" + make_dims;
    text += fmt::format("  if (const auto status = {}::check(dims)) return onnxc::tell(status, *call);\n", ns);
  }
  text += fmt::format("  const {}::Inputs in{{\n{}  }};\n  const {}::Outputs out{{\n{}  }};\n", ns, in, ns, out);
  text += fmt::format(
      "  if (call->output_shapes != nullptr) {{\n    for (std::int32_t k = 0; k < {}; ++k) {{\n      if ({}call->output_shapes[k] != "
      "nullptr) {}_output_shape(call->symbols, k, call->output_shapes[k]);\n    }}\n  }}\n",
      interface.outputs.size(), told.empty() ? "" : told + " && ", ns);
  if (program.uses_heap) text += "  if (call->allocator == nullptr) return ONNXC_NULL_POINTER;\n";
  text += fmt::format(
      "  return onnxc::tell({}::run({}in, out, {{static_cast<std::byte*>(call->arena), call->arena_bytes}}{}{}), *call);\n}}\n\n", ns,
      interface.dynamic() ? "dims, " : "", program.uses_heap ? ", *call->allocator" : "", options.threads > 1 ? ", call->executor" : "");
  text += fmt::format(
      "constexpr onnxc_model {0}_description = {{\n    sizeof(onnxc_model), {1}, {2}, {3}, {4}, {5}, {6}, {7},\n    {0}_inputs, "
      "{0}_outputs, {0}_symbols, {8}, {9}, {0}_arena_bytes, {0}_output_shape, {0}_run, {10},\n}};\n\n",
      ns, string_literal(options.name_space), string_literal(options.version), string_literal(options.model_sha256),
      string_literal(options.target), interface.inputs.size(), interface.outputs.size(), interface.symbols.size(), program.arena_alignment,
      weights_bytes, program.uses_heap ? 1 : 0);
  text += fmt::format(
      "}}  // namespace\n\nextern \"C\" __attribute__((visibility(\"default\"))) const onnxc_model* {0}_model(void) {{ return "
      "&{0}_description; }}\n",
      ns);
  return text;
}

}  // namespace onnxc
