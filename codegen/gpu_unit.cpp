#include "codegen/gpu_unit.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/declarations.h"
#include "codegen/names.h"
#include "runtime_stub/onnxc/contract/device_memory.hpp"

namespace onnxc {
namespace {

/// The struct `name` with a pointer for each member of `list` that is on the device.
std::string device_members(const char* name, const std::vector<Member>& list, bool output) {
  std::string text = fmt::format("struct {} {{\n", name);
  for (const Member& m : list) {
    const char* const qualifier = output ? "" : "const ";
    text += is_on_device(m) ? fmt::format("  {}{}* {};\n", qualifier, info(stored_element(*m.buffer)).cpp_name, m.name)
            : m.is_span()   ? fmt::format("  {} {};  // on the host\n", m.span_type(output), m.name)
                            : fmt::format("  {}onnxc_value& {};\n", qualifier, m.name);
    if (m.bounded) text += fmt::format("  std::int64_t* {}_shape = nullptr;  // on the host\n", m.name);
  }
  return text + "};\n";
}

/// `in.x, out.y`: those that are on the device.
std::string device_pointers(const Interface& interface) {
  std::string text;
  for (const bool output : {false, true}) {
    for (const Member& m : output ? interface.outputs : interface.inputs) {
      if (is_on_device(m)) text += fmt::format("{}{}.{}", text.empty() ? "" : ", ", output ? "out" : "in", m.name);
    }
  }
  return text;
}

/// `{static_cast<const float*>(a.inputs[0]), std::span<const onnxc_string>(...)}`
std::string device_arguments(const std::vector<Member>& list, bool output) {
  std::string text;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Member& m = list[i];
    const std::string pointer = fmt::format("a.{}[{}]", output ? "outputs" : "inputs", i);
    text += i == 0 ? "" : ", ";
    text += is_on_device(m)
                ? fmt::format("static_cast<{}{}*>({})", output ? "" : "const ", info(stored_element(*m.buffer)).cpp_name, pointer)
                : m.from_pointer(pointer, output);
    if (m.bounded) text += fmt::format(", a.shapes != nullptr ? a.shapes[{}] : nullptr", i);
  }
  return "{" + text + "}";
}

std::string return_if(const std::string& missing) {
  return missing.empty() ? "" : fmt::format("  if ({}) return {{ONNXC_NULL_POINTER}};\n", missing);
}

bool needs_host(const Step& step) {
  return std::visit(
      Overloaded{
          [](const Call& call) { return call.device == Device::Cpu || call.kernel == "to_device" || call.kernel == "to_host"; },
          [](const Declare&) { return false; },
          [](const Assign&) { return false; },
          // A graph would have all iterations, and there may be many.
          [](const auto&) { return true; },
      },
      step.action);
}

}  // namespace

bool is_on_device(const Member& member) { return member.is_span() && member.buffer->device == Device::Gpu; }

void DeviceWeights::add(const Weights& weights) {
  if (!offsets.emplace(weights.name, image->size()).second) return;
  const std::shared_ptr<const Bytes> bytes = weights.bytes.get();
  image->insert(image->end(), bytes->begin(), bytes->end());
  image->resize(contract::device_room(image->size()));
}

int64_t device_words(const Program& program, const std::vector<Variant>& variants) {
  int64_t tickets = 0;
  const auto count = [&](const Program& p) {
    for_each_step(p.steps, [&](const Step& s, int) { tickets = s.call() != nullptr ? std::max(tickets, s.call()->tickets) : tickets; });
  };
  count(program);
  for (const Variant& variant : variants) count(variant.program);
  return 1 + tickets;
}

bool can_capture(const Program& program, const std::vector<Variant>& variants) {
  const auto is_free = [](const Program& p) {
    const auto on_host = [&](BufferId id) { return p[id].is_value || p[id].device == Device::Cpu; };
    bool free = std::ranges::none_of(p.inputs, on_host) && std::ranges::none_of(p.outputs, on_host);
    for_each_step(p.steps, [&](const Step& step, int) { free = free && !needs_host(step); });
    return free;
  };
  return is_free(program) && std::ranges::all_of(variants, [&](const Variant& variant) { return is_free(variant.program); });
}

std::string GpuUnit::declarations() const {
  std::string text = "\n/// The same in memory of the GPU.\n" + device_members("DeviceInputs", interface.inputs, false) +
                     device_members("DeviceOutputs", interface.outputs, true) + "\n";
  if (interface.dynamic())
    text +=
        "/// Bytes of arena on the GPU that a run needs at these dimensions; SIZE_MAX as for arena_bytes.\n"
        "std::size_t device_arena_bytes(const Dims& dims) noexcept;\n";
  else text += fmt::format("inline constexpr std::size_t device_arena_bytes = {};\n", program.device_arena.bytes.value());
  text += fmt::format(
      "inline constexpr std::size_t device_weights_bytes = {}, device_words = {}, device_alignment = {};\n"
      "inline constexpr std::size_t device_tensor_alignment = {};\n",
      weights_bytes, words, contract::kDeviceAlignment, contract::kTensorAlignment);
  text +=
      fmt::format("/// {}\ninline constexpr bool can_capture = {};\n",
                  can_capture ? "`enqueue` waits for nothing: a graph of the caller's may capture it."
                              : "`enqueue` waits for the GPU, since the host takes part in a run, or measures it: no graph can capture it.",
                  can_capture);
  text += fmt::format(
      "/// What DeviceMemory::weights is a copy of.\nstd::span<const std::byte> weights_image() noexcept;\n"
      "/// Enqueues a run on `stream`. The status says whether all was enqueued; what kernels found is in the first of `words` once they "
      "are done.\nonnxc::Status enqueue({}const DeviceInputs& in, const DeviceOutputs& out, const onnxc::DeviceMemory& memory, "
      "cudaStream_t stream{}) noexcept;\n",
      dims_parameter(), heap_parameter("allocator"));
  return text + fmt::format(
                    "\n/// Memory of one GPU, with the weights in it{}. One run at a time; any number of sessions, on any threads.\n"
                    "class Session {{\n public:\n  Session() = default;\n  Session(const Session&) = delete;\n"
                    "  Session& operator=(const Session&) = delete;\n  ~Session() {{ close(); }}\n\n"
                    "  /// Takes memory and copies the weights. What went wrong is told in the words of CUDA: onnxc::describe.\n"
                    "  onnxc::Status open(const onnxc::DeviceOptions& options = {{}}) noexcept;\n"
                    "  /// Copies the inputs, computes, copies the outputs, and waits for them.\n"
                    "  onnxc::Status run({}const Inputs& in, const Outputs& out{}) noexcept;\n"
                    "  /// Gives all memory back.\n  void close() noexcept;\n\n private:\n  void* session_ = nullptr;\n}};\n",
                    can_capture ? ", and graphs of runs" : "", dims_parameter(), heap_parameter("memory"));
}

std::string GpuUnit::definitions(const std::string& image, const std::string& body, const std::string& missing) const {
  const std::string bytes = weights_bytes == 0 ? "{}" : fmt::format("{{reinterpret_cast<const std::byte*>({}), {}}}", image, weights_bytes);
  return fmt::format(
      "std::span<const std::byte> weights_image() noexcept {{\n{}  return {};\n}}\n\n"
      "onnxc::Status enqueue({}const DeviceInputs& in, const DeviceOutputs& out, const onnxc::DeviceMemory& memory, cudaStream_t stream{}) "
      "noexcept {{\n{}  if (const auto status = onnxc::gpu::check_memory(memory, arena_alignment, {{{}}})) return status;\n{}}}\n\n",
      missing.empty() ? "" : fmt::format("  if ({}) return {{}};\n", missing), bytes, dims_parameter(), heap_parameter("allocator"),
      return_if(missing), device_pointers(interface), body);
}

/// `{in.x.data(), &in.value}`
std::string GpuUnit::pointers(const std::vector<Member>& list, const char* of, bool output) const {
  std::string text;
  for (const Member& m : list)
    text += fmt::format("{}{}", text.empty() ? "" : ", ",
                        m.is_span() ? fmt::format("{}.{}.data()", of, m.name) : fmt::format("&{}.{}", of, m.name));
  const char* const type = output ? "void* const" : "const void* const";
  if (list.empty()) return fmt::format("  {}* const {}puts = nullptr;\n", type, of);
  return fmt::format("  {} {}puts[] = {{{}}};\n", type, of, text);
}

/// What a run needs at given symbols, for a session.
std::string GpuUnit::sizes() const {
  std::string text;
  for (const bool output : {false, true}) {
    const std::vector<Member>& list = output ? interface.outputs : interface.inputs;
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (!is_on_device(list[i])) continue;
      text += fmt::format("  to.{}[{}] = {} * sizeof({});\n", output ? "outputs" : "inputs", i, list[i].size_text(),
                          info(stored_element(*list[i].buffer)).cpp_name);
    }
  }
  const char* const of = interface.dynamic() ? "(dims)" : "";
  return fmt::format(
      "onnxc::Status unit_sizes([[maybe_unused]] const std::int64_t* symbols, onnxc::gpu::UnitSizes& to) noexcept {{\n{}{}"
      "  to.arena = device_arena_bytes{};\n  to.host_arena = arena_bytes{};\n  return {{}};\n}}\n",
      interface.dynamic() ? interface.dims_of("symbols") + "  if (const auto status = check(dims)) return status;\n" : "", text, of, of);
}

std::string GpuUnit::session(const std::string& checks, const std::string& missing) const {
  const char* const dims = interface.dynamic() ? "dims, " : "";
  const std::string parameters = fmt::format("{}const Inputs& in, const Outputs& out", dims_parameter());
  const std::string heap = heap_parameter("memory"), memory = program.uses_heap ? ", memory" : "";
  std::string on_host, shapes;
  bool any_on_host = false, any_shape = false;
  for (const auto* list : {&interface.inputs, &interface.outputs}) {
    for (const Member& m : *list) {
      any_on_host = any_on_host || !is_on_device(m);
      on_host += fmt::format("{}{}", on_host.empty() ? "" : ", ", !is_on_device(m));
    }
  }
  for (const Member& m : interface.outputs) {
    any_shape = any_shape || m.bounded;
    shapes += fmt::format("{}{}", shapes.empty() ? "" : ", ", m.bounded ? fmt::format("out.{}_shape", m.name) : "nullptr");
  }
  std::string text = "namespace {\n\n" + sizes();
  text += fmt::format(
      "onnxc::Status enqueue_unit([[maybe_unused]] const onnxc::gpu::Arguments& a, const onnxc::DeviceMemory& memory, cudaStream_t stream) "
      "noexcept {{\n{}{}  return enqueue({}{}, {}, memory, stream{});\n}}\n",
      program.uses_heap ? "  if (a.allocator == nullptr) return {ONNXC_NULL_POINTER};\n" : "",
      interface.dynamic() ? interface.dims_of("a.symbols") : "", dims, device_arguments(interface.inputs, false),
      device_arguments(interface.outputs, true), program.uses_heap ? ", *a.allocator" : "");
  if (any_on_host) text += fmt::format("constexpr bool on_host[] = {{{}}};\n", on_host);
  text += fmt::format(
      "constexpr onnxc::gpu::Unit unit = {{\n    .inputs = {},\n    .outputs = {},\n    .symbols = {},\n    .on_host = {},\n"
      "    .host_alignment = arena_alignment,\n    .words = device_words,\n    .can_capture = can_capture,\n    .weights = weights_image,\n"
      "    .sizes = unit_sizes,\n    .enqueue = enqueue_unit,\n}};\n\n",
      interface.inputs.size(), interface.outputs.size(), interface.symbols.size(), any_on_host ? "on_host" : "nullptr");
  std::string symbols;
  for (Dim s : interface.symbols) symbols += (symbols.empty() ? "" : ", ") + interface.symbol_names.at(s.name());
  text += fmt::format(
      "/// use(arguments) with what the caller gave, once it has been checked.\ntemplate <class Use>\n"
      "onnxc::Status with_arguments({}{}, Use use) noexcept {{\n{}{}{}{}{}  return use(onnxc::gpu::Arguments{{{}, inputs, outputs, "
      "{}{}}});\n"
      "}}\n\n}}  // namespace\n\n",
      parameters, heap, checks + return_if(missing),
      interface.dynamic() ? fmt::format("  const std::int64_t symbols[] = {{{}}};\n", symbols) : "",
      pointers(interface.inputs, "in", false), pointers(interface.outputs, "out", true),
      any_shape ? fmt::format("  std::int64_t* const shapes[] = {{{}}};\n", shapes) : "", interface.dynamic() ? "symbols" : "nullptr",
      any_shape ? "shapes" : "nullptr", program.uses_heap ? ", &memory" : "");
  text += fmt::format(
      "onnxc::Status Session::open(const onnxc::DeviceOptions& options) noexcept {{\n{3}  close();\n"
      "  auto* const session = new (std::nothrow) onnxc::gpu::Session(unit);\n  if (session == nullptr) return {{ONNXC_OUT_OF_MEMORY}};\n"
      "  session_ = session;\n  return session->open(options);\n}}\n\n"
      "onnxc::Status Session::run({0}{4}) noexcept {{\n"
      "  if (session_ == nullptr) return {{ONNXC_DEVICE_FAILED, \"the session is not open\"}};\n"
      "  return with_arguments({1}in, out{5}, [&](const onnxc::gpu::Arguments& arguments) noexcept {{\n"
      "    return static_cast<onnxc::gpu::Session*>(session_)->run(arguments);\n  }});\n}}\n\n"
      "void Session::close() noexcept {{\n  delete static_cast<onnxc::gpu::Session*>(session_);\n  session_ = nullptr;\n}}\n\n"
      "onnxc::Status run({0}, std::span<std::byte> arena{4}) noexcept {{\n"
      "  return with_arguments({1}in, out{5}, [&](const onnxc::gpu::Arguments& arguments) noexcept {{\n"
      "    if (const auto status = onnxc::check_arena(arena, arena_bytes{2}, arena_alignment)) return status;\n"
      "    return onnxc::gpu::Session::run_once(unit, arguments, arena.data());\n  }});\n}}\n\n",
      parameters, dims, interface.dynamic() ? "(dims)" : "", return_if(missing), heap, memory);
  return text;
}

}  // namespace onnxc
