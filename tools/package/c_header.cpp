#include "tools/package/c_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "codegen/names.h"

namespace onnxc {
namespace {

/// The type of an element in C: of the same size where C has none of that kind.
std::string c_type(const Member& member) {
  const std::string_view type = info(stored_element(*member.buffer)).cpp_name;
  if (type.starts_with("std::") || type == "float" || type == "double") return std::string(type.substr(type.starts_with("std::") ? 5 : 0));
  const int bits = info(stored_element(*member.buffer)).bits;
  return fmt::format("uint{}_t", std::max(bits, 8));  // bool, and floats that C does not have
}

std::string macro(const std::string& name, const Member& member) {
  return fmt::format("{}_{}_COUNT", upper_case(name), upper_case(member.name));
}

std::string parameters(const Interface& interface) {
  std::string text;
  for (const Member& m : interface.inputs) text += fmt::format("const {}* {}, ", c_type(m), m.name);
  for (const Member& m : interface.outputs) text += fmt::format("{}* {}, ", c_type(m), m.name);
  return text + "void* arena";
}

}  // namespace

std::string upper_case(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

std::string c_header(const std::string& name, const Interface& interface, const Program& program) {
  const std::string upper = upper_case(name);
  std::string text = fmt::format(
      "/* {}: a model compiled by onnxc, for C11 and later, and C++11 and later. */\n#ifndef {}_C_H\n#define {}_C_H\n#include "
      "<stdint.h>\n\n#include "
      "\"onnxc_model.h\"\n\n#define {}_ARENA_BYTES {}\n#define {}_ARENA_ALIGNMENT {}\n",
      name, upper, upper, upper, std::max<int64_t>(program.arena.bytes.value(), 1), upper, program.arena.alignment);
  for (const auto* list : {&interface.inputs, &interface.outputs}) {
    for (const Member& m : *list)
      text += fmt::format("#define {} {} /* {} '{}': {} */\n", macro(name, m), m.size, list == &interface.inputs ? "input" : "output",
                          comment_text(m.buffer->name), comment_text(onnxc::text(m.buffer->extents)));
  }
  std::string inputs, outputs;
  for (const Member& m : interface.inputs) inputs += (inputs.empty() ? "" : ", ") + m.name;
  for (const Member& m : interface.outputs) outputs += (outputs.empty() ? "" : ", ") + m.name;
  const auto array = [](const char* type, const char* variable, const std::string& values) {
    return values.empty() ? fmt::format("  {}* {} = 0;\n", type, variable) : fmt::format("  {} {}[] = {{{}}};\n", type, variable, values);
  };
  const std::string ins = array("const void* const", "in", inputs), outs = array("void* const", "out", outputs);
  text += fmt::format(
      "\n#ifdef __cplusplus\n#define {0}_ALIGNED alignas({1})\nextern \"C\"\n#else\n#define {0}_ALIGNED _Alignas({1})\n#endif\n"
      "const onnxc_model* {2}_model(void);\n\n"
      "/* Runs the model: 0, or an onnxc_status. Arrays have as many elements as the macros say; the arena is scratch memory of "
      "{0}_ARENA_BYTES bytes, "
      "aligned to {0}_ARENA_ALIGNMENT. */\n"
      "static inline int32_t {2}_run({3}) {{\n{4}{5}  onnxc_call call = {{0, in, out, 0, arena, {0}_ARENA_BYTES, 0, 0, 0, 0}};\n  return "
      "{2}_model()->run(&call);\n}}\n\n#endif\n",
      upper, program.arena.alignment, name, parameters(interface), ins, outs);
  return text;
}

CUse c_use(const std::string& name, const Interface& interface, const Program&) {
  const std::string upper = upper_case(name);
  CUse use;
  for (const auto* list : {&interface.inputs, &interface.outputs}) {
    for (const Member& m : *list) {
      use.arrays += fmt::format("static {} {}[{}];\n", c_type(m), m.name, macro(name, m));
      use.arguments += m.name + ", ";
    }
  }
  use.arrays += fmt::format("{0}_ALIGNED static uint8_t {1}_arena[{0}_ARENA_BYTES];\n", upper, name);
  use.arguments += name + "_arena";
  for (const Member& m : interface.outputs)
    use.print +=
        fmt::format("  for (int i = 0; i < {0} && i < 10; ++i) printf(\"{1}[%d] = %g\\n\", i, (double){1}[i]);\n", macro(name, m), m.name);
  return use;
}

}  // namespace onnxc
