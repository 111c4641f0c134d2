#include "codegen/self_test.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/names.h"
#include "codegen/weight_literals.h"
#include "compiler/lowering/memory/placements.h"
#include "compiler/lowering/memory/plan_memory.h"
#include "compiler/lowering/memory/plan_regions.h"

namespace onnxc {
namespace {

Sizes sizes_of(const SelfTest::Vector& vector, const Interface& interface) {
  Sizes sizes;
  for (std::size_t i = 0; i < interface.symbols.size(); ++i) sizes[interface.symbols[i].name()] = vector.dims.at(i);
  return sizes;
}

int64_t outputs_bytes(const SelfTest::Vector& vector, const Program& program) {
  int64_t bytes = 0;
  for (const TensorData& output : vector.outputs)
    bytes += aligned_bytes(static_cast<int64_t>(output.bytes.size()), program.arena.alignment);
  return bytes;
}

/// An array of the tensor's elements, or of its bytes where C++ has no literals of the type.
std::string array(const std::string& name, const TensorData& tensor, const Buffer& buffer, int64_t alignment) {
  const std::string type(info(stored_element(buffer)).cpp_name);
  if (tensor.bytes.empty()) return fmt::format("alignas({}) constexpr unsigned char {}[1] = {{}};  // no elements\n", alignment, name);
  std::string elements;
  const bool typed = append_literals(elements, type, tensor.bytes);
  if (!typed) append_literals(elements, "uint8_t", tensor.bytes);
  return fmt::format("alignas({}) constexpr {} {}[] = {{\n{}\n}};\n", alignment, typed ? type : "unsigned char", name, elements);
}

std::string array_name(const char* what, std::size_t vector, std::size_t i) { return fmt::format("self_test_{}_{}_{}", what, vector, i); }

}  // namespace

int64_t self_test_bytes(const SelfTest& test, const Program& program) {
  const Interface interface(program, false);
  int64_t most = 0;
  for (const SelfTest::Vector& vector : test.vectors) {
    const int64_t arena = aligned_bytes(arena_bytes_at(program, sizes_of(vector, interface)), program.arena.alignment);
    most = std::max(most, arena + outputs_bytes(vector, program));
  }
  return most;
}

std::string self_test_problem(const Interface& interface, const Program& program) {
  if (program.uses_heap) return "it allocates memory";
  for (const auto* list : {&interface.inputs, &interface.outputs}) {
    for (const Member& m : *list) {
      if (!m.is_span() || m.buffer->element == ElementType::String) return fmt::format("'{}' is no tensor of numbers", m.buffer->name);
      if (m.bounded) return fmt::format("the shape of '{}' depends on data", m.buffer->name);
    }
  }
  return "";
}

std::string self_test_declaration(const SelfTest& test, const Program& program) {
  return fmt::format(
      "\n/// Runs the unit on {}, part of it ({}), and compares: ok, ONNXC_WRONG_RESULT with the numbers of the output and of its first "
      "element that is wrong, or why there was no run. `memory` is arena and outputs, aligned like the arena.\ninline constexpr "
      "std::size_t "
      "self_test_bytes = {};\nonnxc::Status self_test(std::span<std::byte> memory) noexcept;\n",
      test.vectors.size() == 1 ? "a vector" : fmt::format("{} vectors", test.vectors.size()), comment_text(test.origin, 200),
      self_test_bytes(test, program));
}

std::string self_test_definition(const SelfTest& test, const Interface& interface, const Program& program, bool threads) {
  const int64_t alignment = program.arena.alignment;
  std::string arrays = "namespace {\n\n", text;
  for (std::size_t v = 0; v < test.vectors.size(); ++v) {
    const SelfTest::Vector& vector = test.vectors[v];
    std::string dims, in, out, checks;
    for (std::size_t i = 0; i < vector.dims.size(); ++i) dims += fmt::format("{}{}", i == 0 ? "" : ", ", vector.dims[i]);
    for (std::size_t i = 0; i < interface.inputs.size(); ++i) {
      const std::string name = array_name("input", v, i);
      arrays += array(name, vector.inputs.at(i), *interface.inputs[i].buffer, alignment);
      in += fmt::format("{}{}", i == 0 ? "" : ", ",
                        interface.inputs[i].from_pointer(fmt::format("static_cast<const void*>({})", name), false));
    }
    int64_t at = aligned_bytes(arena_bytes_at(program, sizes_of(vector, interface)), alignment);
    const int64_t arena = at;
    for (std::size_t i = 0; i < interface.outputs.size(); ++i) {
      const Member& m = interface.outputs[i];
      const std::string name = array_name("output", v, i), pointer = fmt::format("static_cast<void*>(memory.data() + {})", at);
      const std::string type(info(stored_element(*m.buffer)).cpp_name);
      arrays += array(name, vector.outputs.at(i), *m.buffer, alignment);
      out += fmt::format("{}{}", i == 0 ? "" : ", ", m.from_pointer(pointer, true));
      checks += fmt::format(
          "    if (const auto found = onnxc::find_departure(out.{}.data(), static_cast<const {}*>(static_cast<const void*>({})), {}, "
          "tolerance); found >= 0)\n"
          "      return {{ONNXC_WRONG_RESULT, nullptr, {{{}, found}}}};\n",
          m.name, type, name, static_cast<int64_t>(vector.outputs[i].bytes.size()) / (info(stored_element(*m.buffer)).bits / 8), i);
      at += aligned_bytes(static_cast<int64_t>(vector.outputs[i].bytes.size()), alignment);
    }
    text += fmt::format(
        "  {{\n{}    const Inputs in{{{}}};\n    const Outputs out{{{}}};\n    if (const auto status = run({}in, out, {}{})) "
        "return status;\n{}  }}\n",
        interface.dynamic() ? fmt::format("    const Dims dims{{{}}};\n", dims) : "", in, out, interface.dynamic() ? "dims, " : "",
        divides_arena(program) ? "arenas_in(memory)" : fmt::format("memory.first({})", arena), threads ? ", nullptr" : "", checks);
  }
  const auto number = [](double x) {
    return fmt::format("{:.9g}f", x).find_first_of(".en") == std::string::npos ? fmt::format("{:.9g}.0f", x) : fmt::format("{:.9g}f", x);
  };
  return fmt::format(
      "{}\n}}  // namespace\n\nonnxc::Status self_test(std::span<std::byte> memory) noexcept {{\n  if (const auto status = "
      "onnxc::check_arena(memory, self_test_bytes, "
      "arena_alignment)) return status;\n  constexpr onnxc::SelfTestTolerance tolerance{{{}, {}, {}, {}}};\n{}  return {{}};\n}}\n\n",
      arrays, number(test.rtol), number(test.atol), test.int_atol, number(test.rel_l2), text);
}

}  // namespace onnxc
