#include "codegen/abi.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/gpu_unit.h"
#include "codegen/names.h"
#include "compiler/lowering/memory/plan_regions.h"
#include "runtime_stub/onnxc/model.h"

namespace onnxc {

std::string character_array(const std::string& name, const std::string& value) {
  std::string characters;
  for (char c : value) characters += fmt::format("'\\{:03o}', ", static_cast<unsigned char>(c));
  return fmt::format("constexpr char {}[] = {{{}0}};\n", name, characters);
}

namespace {

class AbiText {
 public:
  AbiText(const Interface& interface, const SizeLimits& limits, const Program& program, const EmitOptions& options)
      : interface_(interface), limits_(limits), program_(program), options_(options), ns_(options.name_space) {
    if (interface.dynamic()) make_dims_ = interface.dims_of("symbols", ns_);
  }

  std::string print(std::size_t weights_bytes) {
    std::string text = "namespace {\n\n";
    text += tensor_infos(interface_.inputs, "input");
    text += tensor_infos(interface_.outputs, "output");
    text += symbol_infos() + output_states() + "\n";
    text += fmt::format("std::size_t {}_arena_bytes({}const std::int64_t* symbols) {{\n{}  return {}::arena_bytes{};\n}}\n\n", ns_,
                        interface_.dynamic() ? "" : "[[maybe_unused]] ", make_dims_, ns_, interface_.dynamic() ? "(dims)" : "");
    const char* const arena = "{static_cast<std::byte*>(call->arena), call->arena_bytes}";
    const bool parts = divides_arena(program_);
    text += output_shape() + run("run", "const onnxc_call* call", "call == nullptr",
                                 fmt::format("{}::run({}in, out, {}{}{})", ns_, interface_.dynamic() ? "dims, " : "",
                                             parts ? ns_ + "::arenas_in(arena)" : arena, program_.uses_heap ? ", *call->allocator" : "",
                                             options_.threads > 1 ? ", call->executor" : ""),
                                 !parts ? ""
                                        : fmt::format("  const std::span<std::byte> arena{};\n  if (const auto status = onnxc::check_arena("
                                                      "arena, {}::arena_bytes, {}::arena_alignment)) return onnxc::tell(status, *call);\n",
                                                      arena, ns_, ns_));
    if (options_.gpu) text += on_device();
    return text + description(weights_bytes);
  }

 private:
  /// A name as an expression. A name that is too long for a literal becomes an array of its own, which is added to `text`.
  std::string name_text(const std::string& name, std::string& text) {
    if (name.size() < kLongestLiteral) return string_literal(name);
    const std::string array = fmt::format("{}_long_name_{}", ns_, long_names_++);
    text += character_array(array, name);
    return array;
  }

  std::string shape_text(const Buffer& buffer) const {
    std::string shape;
    for (Dim d : buffer.extents) {
      std::string extent = "INT64_MIN";
      if (d.is_constant()) extent = std::to_string(d.value());
      for (std::size_t k = 0; k < interface_.symbols.size(); ++k) {
        if (interface_.symbols[k] == d) extent = std::to_string(-1 - static_cast<int64_t>(k));
      }
      shape += (shape.empty() ? "" : ", ") + extent;
    }
    return shape.empty() ? "0" : shape;
  }

  std::string tensor_infos(const std::vector<Member>& list, const std::string& what) {
    std::string text, rows;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const Buffer& b = *list[i].buffer;
      text += fmt::format("constexpr std::int64_t {}_{}_{}_shape[] = {{{}}};\n", ns_, what, i, shape_text(b));
      const int kind = b.kind == Type::Kind::Sequence   ? ONNXC_SEQUENCE
                       : b.kind == Type::Kind::Optional ? ONNXC_OPTIONAL
                       : b.kind == Type::Kind::Map      ? ONNXC_MAP
                                                        : ONNXC_TENSOR;
      rows += fmt::format("    {{{}, {}, {}, {}, {}_{}_{}_shape, {}, {}}},\n", name_text(b.name, text), string_literal(list[i].name),
                          static_cast<int>(b.element), b.is_ranked ? static_cast<int>(b.extents.size()) : -1, ns_, what, i, list[i].form(),
                          kind);
    }
    if (list.empty()) rows = "    {nullptr, nullptr, 0, 0, nullptr, 0, 0},\n";
    return text + fmt::format("constexpr onnxc_tensor_info {}_{}s[] = {{\n{}}};\n", ns_, what, rows);
  }

  std::string symbol_infos() {
    std::string text, rows;
    for (Dim s : interface_.symbols) {
      const int64_t most = limits_.most.at(s.name());
      rows += fmt::format("    {{{}, {}, {}}},\n", name_text(s.name(), text), s.min_value(),
                          most == INT64_MAX ? "INT64_MAX" : std::to_string(most));
    }
    if (rows.empty()) rows = "    {nullptr, 0, 0},\n";
    return text + fmt::format("constexpr onnxc_symbol_info {}_symbols[] = {{\n{}}};\n", ns_, rows);
  }

  std::string output_shape() const {
    const std::string refusal = fmt::format(
        "  if ({}::check(dims)) {{\n    for (std::int32_t i = 0; k >= 0 && k < {} && i < {}_outputs[k].rank; ++i) extents[i] = -1;\n    "
        "return;\n  }}\n",
        ns_, interface_.outputs.size(), ns_);
    std::string cases;
    bool reads = false, computes = false;
    for (std::size_t i = 0; i < interface_.outputs.size(); ++i) {
      cases += fmt::format("    case {}:\n", i);
      for (std::size_t axis = 0; axis < interface_.outputs[i].buffer->extents.size(); ++axis) {
        const Dim most = interface_.outputs[i].buffer->extents[axis].upper_bound().value_or(Dim(-1));
        reads = reads || !most.is_constant();
        computes = computes || !(most.is_constant() || most.is_symbol());
        cases += fmt::format("      extents[{}] = {};\n", axis, cpp_dim(most, interface_.symbol_names));
      }
      cases += "      break;\n";
    }
    return fmt::format(
        "void {}_output_shape([[maybe_unused]] const std::int64_t* symbols, std::int32_t k, [[maybe_unused]] std::int64_t* extents) {{\n{} "
        " "
        "switch (k) {{\n{}    default: break;\n  }}\n}}\n\n",
        ns_, (reads ? make_dims_ : "") + (computes ? refusal : ""), cases);
  }

  /// The function `name`, which makes Inputs and Outputs of a call's pointers, and gives the Status of `result`. `before`: statements.
  std::string run(const char* name, const char* parameters, const char* null, const std::string& result,
                  const std::string& before = "") const {
    std::string in, out, told;  // told: whether output k does not tell its shape itself
    for (std::size_t i = 0; i < interface_.inputs.size(); ++i) in += argument(interface_.inputs[i], i, false);
    for (std::size_t i = 0; i < interface_.outputs.size(); ++i) {
      const Member& m = interface_.outputs[i];
      out += argument(m, i, true);
      if (!m.is_span() || m.bounded) told += fmt::format("{}k != {}", told.empty() ? "" : " && ", i);
    }
    std::string text = fmt::format("std::int32_t {}_{}({}) {{\n  if ({}) return ONNXC_NULL_POINTER;\n", ns_, name, parameters, null);
    if (interface_.dynamic()) {
      text += "  const std::int64_t* const symbols = call->symbols;\n  if (symbols == nullptr) return ONNXC_NULL_POINTER;\n" + make_dims_;
      text += fmt::format("  if (const auto status = {}::check(dims)) return onnxc::tell(status, *call);\n", ns_);
    }
    text += fmt::format("  const {}::Inputs in{{\n{}  }};\n  const {}::Outputs out{{\n{}  }};\n", ns_, in, ns_, out);
    text += fmt::format(
        "  if (call->output_shapes != nullptr) {{\n    for (std::int32_t k = 0; k < {}; ++k) {{\n      if ({}call->output_shapes[k] != "
        "nullptr) {}_output_shape(call->symbols, k, call->output_shapes[k]);\n    }}\n  }}\n",
        interface_.outputs.size(), told.empty() ? "" : told + " && ", ns_);
    if (program_.uses_heap) text += "  if (call->allocator == nullptr) return ONNXC_NULL_POINTER;\n";
    return text + before + fmt::format("  return onnxc::tell({}, *call);\n}}\n\n", result);
  }

  /// The members of a unit for a GPU. Its session is the unit's own, behind a pointer to what C does not know.
  std::string on_device() const {
    const char* const dims = interface_.dynamic() ? "dims, " : "";
    std::string text;
    for (const auto& [list, name] : {std::pair(&interface_.inputs, "input"), std::pair(&interface_.outputs, "output")}) {
      std::string devices;
      for (const Member& m : *list)
        devices += fmt::format("{}{}", devices.empty() ? "" : ", ", is_on_device(m) ? "onnxc::gpu::kDevice" : "ONNXC_CPU");
      text += fmt::format("constexpr std::int32_t {}_{}_devices[] = {{{}}};\n", ns_, name, devices.empty() ? "ONNXC_CPU" : devices);
    }
    text += fmt::format(
        "\nstd::size_t {0}_device_arena_bytes({1}const std::int64_t* symbols) {{\n{2}  return {0}::device_arena_bytes{3};\n}}\n\n"
        "const void* {0}_weights_image(std::size_t* bytes) {{\n  const auto image = {0}::weights_image();\n"
        "  if (bytes != nullptr) *bytes = image.size();\n  return image.data();\n}}\n\n"
        "std::int32_t {0}_open(const onnxc_device_options* options, onnxc_session** session, char* message, std::size_t message_bytes) {{\n"
        "  if (session == nullptr) return ONNXC_NULL_POINTER;\n  *session = nullptr;\n  auto* const own = new (std::nothrow) "
        "{0}::Session;\n"
        "  if (own == nullptr) return onnxc::tell({{ONNXC_OUT_OF_MEMORY}}, message, message_bytes);\n  onnxc::DeviceOptions asked;\n"
        "  if (options != nullptr) asked = {{.ordinal = options->ordinal, .stream = static_cast<cudaStream_t>(options->stream), .pinned = "
        "options->pageable == 0}};\n  const auto status = own->open(asked);\n"
        "  if (status) delete own;\n  else *session = reinterpret_cast<onnxc_session*>(own);\n"
        "  return onnxc::tell(status, message, message_bytes);\n}}\n\n"
        "void {0}_close(onnxc_session* session) {{ delete reinterpret_cast<{0}::Session*>(session); }}\n\n",
        ns_, interface_.dynamic() ? "" : "[[maybe_unused]] ", make_dims_, interface_.dynamic() ? "(dims)" : "");
    text += run("run_in", "onnxc_session* session, const onnxc_call* call", "session == nullptr || call == nullptr",
                fmt::format("reinterpret_cast<{}::Session*>(session)->run({}in, out{})", ns_, dims,
                            program_.uses_heap ? ", *call->allocator" : ""));
    return text + fmt::format(
                      "std::int32_t {0}_enqueue(const onnxc_device_call* call) {{\n"
                      "  if (call == nullptr{1}) return ONNXC_NULL_POINTER;\n"
                      "  const onnxc::DeviceMemory memory{{static_cast<std::byte*>(call->arena), static_cast<const "
                      "std::byte*>(call->weights), call->words, static_cast<std::byte*>(call->host_arena)}};\n"
                      "  return onnxc::tell({0}::enqueue_unit({{call->symbols, call->inputs, call->outputs, call->output_shapes, "
                      "call->allocator}}, memory, "
                      "static_cast<cudaStream_t>(call->stream)), call->message, call->message_bytes);\n}}\n\n",
                      ns_, interface_.dynamic() ? " || call->symbols == nullptr" : "");
  }

  /// The member of Inputs or Outputs, made from the pointers of the call.
  static std::string argument(const Member& m, std::size_t i, bool output) {
    std::string text = fmt::format("      {},\n", m.from_pointer(fmt::format("call->{}[{}]", output ? "outputs" : "inputs", i), output));
    if (output && m.bounded) text += fmt::format("      call->output_shapes != nullptr ? call->output_shapes[{}] : nullptr,\n", i);
    return text;
  }

  std::string description(std::size_t weights_bytes) const {
    return fmt::format(
        "constexpr onnxc_model {0}_description = {{\n    sizeof(onnxc_model), {1}, {2}, {3}, {4}, {5}, {6}, {7},\n    {0}_inputs, "
        "{0}_outputs, {0}_symbols, {8}, {9}, {0}_arena_bytes, {0}_output_shape, {0}_run, {10},\n{11}}};\n\n"
        "}}  // namespace\n\nextern \"C\" __attribute__((visibility(\"default\"))) const onnxc_model* {0}_model(void) {{ return "
        "&{0}_description; }}\n",
        ns_, string_literal(ns_), string_literal(options_.version), string_literal(options_.model_sha256), string_literal(options_.target),
        interface_.inputs.size(), interface_.outputs.size(), interface_.symbols.size(), program_.arena.alignment, weights_bytes,
        program_.uses_heap ? 1 : 0, last_members());
  }

  /// Members that most units leave out: of GPUs, then of states.
  std::string last_members() const {
    if (options_.gpu)
      return fmt::format(
          "    onnxc::gpu::kDevice, {0}::can_capture, {0}::device_words, {0}_device_arena_bytes, {0}_weights_image, "
          "{0}_input_devices, {0}_output_devices,\n    {0}_open, {0}_close, {0}_run_in, {0}_enqueue,\n",
          ns_);
    if (program_.states.empty()) return "";
    return fmt::format(
        "    ONNXC_CPU, 0, 0, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,\n    {}_output_states,\n", ns_);
  }

  std::string output_states() const {
    if (program_.states.empty()) return "";
    std::string list;
    for (int k = 0; k < static_cast<int>(interface_.outputs.size()); ++k) {
      const auto state = std::ranges::find(program_.states, k, &State::present);
      list += fmt::format("{}{}", k == 0 ? "" : ", ", state == program_.states.end() ? -1 : state->past);
    }
    return fmt::format("constexpr std::int32_t {}_output_states[] = {{{}}};\n", ns_, list);
  }

  const Interface& interface_;
  const SizeLimits& limits_;
  const Program& program_;
  const EmitOptions& options_;
  const std::string& ns_;
  std::string make_dims_;  ///< declares the dimensions from `symbols`; empty where there are none
  int long_names_ = 0;
};

}  // namespace

std::string abi_text(const Interface& interface, const SizeLimits& limits, const Program& program, const EmitOptions& options,
                     std::size_t weights_bytes) {
  return AbiText(interface, limits, program, options).print(weights_bytes);
}

}  // namespace onnxc
