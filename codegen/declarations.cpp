#include "codegen/declarations.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/names.h"
#include "codegen/regions.h"
#include "codegen/requirements.h"
#include "compiler/lowering/memory/plan_regions.h"

namespace onnxc {
namespace {

/// What the comment at an input or output says of its shape.
std::string shape_text(const Buffer& b) {
  switch (b.kind) {
    case Type::Kind::Tensor: return b.is_ranked ? onnxc::text(b.extents) : "a tensor of a rank that the run tells";
    case Type::Kind::Sequence: return "a sequence";
    case Type::Kind::Map: return "a map";
    case Type::Kind::Optional: return "an optional";
    case Type::Kind::Unknown: break;
  }
  return "a value";
}

std::string bounds_text(Dim symbol, int64_t most) {
  std::string text = symbol.name() + ", at least " + std::to_string(symbol.min_value());
  if (most != INT64_MAX) text += ", at most " + std::to_string(most);
  return comment_text(text);
}

}  // namespace

std::string memory_parameter(const Program& program) { return program.uses_heap ? ", const onnxc_allocator& memory" : ""; }

std::string declarations(const Interface& interface, const SizeLimits& limits, const Program& program, const EmitOptions& options,
                         const std::string& weights, const std::string& of_gpu) {
  std::string text = fmt::format("\nnamespace {} {{\n\n", options.name_space);
  if (interface.dynamic()) {
    text += "/// The dynamic dimensions of the inputs.\nstruct Dims {\n";
    for (Dim s : interface.symbols)
      text += fmt::format("  std::int64_t {};  // {}\n", interface.symbol_members.at(s.name()), bounds_text(s, limits.most.at(s.name())));
    for (const SizeLimits::Product& p : limits.products)
      text += fmt::format("  // {} is at most {}: sizes fit in 64 bits.\n", comment_text(onnxc::text(p), 300), p.most);
    for (const Requirement& r : requirements_of_dims(program.requirements, interface))
      text += fmt::format("  // The model needs that {} ({}).\n", comment_text(onnxc::text(r), 300), comment_text(r.who, 120));
    text +=
        "};\n/// ok, or which of the dimensions does not fit; `run` asks it first.\nonnxc::Status check(const Dims& dims) "
        "noexcept;\n\ninline constexpr std::size_t arena_alignment = " +
        std::to_string(program.arena.alignment) +
        ";\n/// Bytes of arena that a run needs at these dimensions; SIZE_MAX where `check` refuses them, or this machine cannot address "
        "so many.\nstd::size_t arena_bytes(const Dims& dims) noexcept;\n\n";
  } else if (divides_arena(program)) {
    text += arenas_declaration(program);
  } else {
    text += fmt::format("inline constexpr std::size_t arena_bytes = {}, arena_alignment = {};\n\n", program.arena.bytes.value(),
                        program.arena.alignment);
  }
  if (options.stack_bytes)
    text += fmt::format(
        "/// A bound of the stack that a run uses below the frame of its caller, interrupts apart: the frames of the deepest chain of "
        "calls, as {} made them.\ninline constexpr std::size_t stack_bytes = {};\n\n",
        comment_text(options.stack_compiler), *options.stack_bytes);
  const auto members = [&](const char* name, const std::vector<Member>& list, bool output) {
    text += fmt::format("struct {} {{\n", name);
    for (const Member& m : list) {
      const std::string type = m.is_span() ? m.span_type(output) : output ? "onnxc_value&" : "const onnxc_value&";
      const std::string real_name = m.buffer->name == m.name ? "" : " '" + comment_text(m.buffer->name) + "'";
      const auto state =
          std::ranges::find_if(program.states, [&](const State& s) { return output && &m == &list[static_cast<std::size_t>(s.present)]; });
      const std::string place = state == program.states.end() ? ""
                                                              : fmt::format("; begins where in.{} does",
                                                                            interface.inputs[static_cast<std::size_t>(state->past)].name);
      text += fmt::format("  {} {};  // {}{}{}\n", type, m.name, comment_text(shape_text(*m.buffer)), real_name, place);
      if (m.bounded)
        text +=
            fmt::format("  std::int64_t* {}_shape = nullptr;  // room for {} extents, which run tells\n", m.name, m.buffer->extents.size());
    }
    text += "};\n";
  };
  members("Inputs", interface.inputs, false);
  members("Outputs", interface.outputs, true);
  text += of_gpu;
  const std::string dims = interface.dynamic() ? "const Dims& dims, " : "";
  if (program.uses_heap)
    text +=
        "\n/// `memory` gives scratch memory, which is given back, and memory for outputs, which stays the caller's: see "
        "onnxc/memory.hpp.";
  text += fmt::format(
      "\n/// Runs the model{}. `{}` is scratch memory; nothing in it needs to be kept between runs.\n"
      "onnxc::Status run({}const Inputs& in, const Outputs& out, {}{}{}) noexcept;\n",
      options.gpu ? " in a session for this one run, which is slow" : "", !divides_arena(program) ? "arena" : "arenas", dims,
      arena_parameter(program), memory_parameter(program), options.threads > 1 ? ", const onnxc_executor* executor = nullptr" : "");
  if (options.self_test) text += self_test_declaration(*options.self_test, program);
  if (!weights.empty()) text += "\n" + weights;
  text += fmt::format(
      "\n}}  // namespace {}\n\n/// The same for any language: names, types, shapes, sizes, run.\nextern \"C\" const onnxc_model* "
      "{}_model(void);\n",
      options.name_space, options.name_space);
  if (options.profile)
    text += fmt::format("/// How long each step takes: see onnxc/profile.h.\nextern \"C\" const onnxc_profile* {}_profile(void);\n",
                        options.name_space);
  return text;
}

}  // namespace onnxc
