#include "codegen/gpu_unit.h"

#include <fmt/format.h>

#include "codegen/names.h"

namespace onnxc {
namespace {

/// Strings, for example, stay on the host.
bool is_on_device(const Member& m) { return m.is_span() && m.buffer->device == Device::Gpu; }

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

/// `{static_cast<const float*>(inputs[0]), in.text}`
std::string device_arguments(const std::vector<Member>& list, const char* pointers, const char* spans, bool output) {
  std::string text;
  int span = 0;
  for (const Member& m : list) {
    if (!text.empty()) text += ", ";
    if (is_on_device(m))
      text += fmt::format("static_cast<{}{}*>({}[{}])", output ? "" : "const ", info(stored_element(*m.buffer)).cpp_name, pointers, span++);
    else text += fmt::format("{}.{}", spans, m.name);
    if (m.bounded) text += fmt::format(", {}.{}_shape", spans, m.name);
  }
  return "{" + text + "}";
}

/// `{in.x.data(), in.x.size_bytes()}, ` for each span.
std::string host_spans(const std::vector<Member>& list, const char* of) {
  std::string text;
  for (const Member& m : list) {
    if (is_on_device(m)) text += fmt::format("{}{{{}.{}.data(), {}.{}.size_bytes()}}", text.empty() ? "" : ", ", of, m.name, of, m.name);
  }
  return "{" + text + "}";
}

const char* dims_parameter(const Interface& interface) { return interface.dynamic() ? "const Dims& dims, " : ""; }

}  // namespace

void DeviceWeights::add(const Weights& weights) {
  constexpr std::size_t kAlignment = 256;
  if (!offsets.emplace(weights.name, image->size()).second) return;
  image->insert(image->end(), weights.bytes->begin(), weights.bytes->end());
  image->resize((image->size() + kAlignment - 1) / kAlignment * kAlignment);
}

std::string device_declarations(const Interface& interface, const Program& program, std::size_t weights_bytes) {
  std::string text = "\n/// The same in memory of the GPU.\n" + device_members("DeviceInputs", interface.inputs, false) +
                     device_members("DeviceOutputs", interface.outputs, true) + "\n";
  if (interface.dynamic())
    text +=
        "/// Bytes of arena on the GPU that a run needs at these dimensions; SIZE_MAX as for arena_bytes.\n"
        "std::size_t device_arena_bytes(const Dims& dims) noexcept;\n";
  else text += fmt::format("inline constexpr std::size_t device_arena_bytes = {};\n", program.device_arena.bytes.value());
  text += fmt::format("inline constexpr std::size_t device_weights_bytes = {}, device_words = 1;\n", weights_bytes);
  return text +
         fmt::format(
             "/// What DeviceMemory::weights is a copy of.\nstd::span<const std::byte> weights_image() noexcept;\n"
             "/// Enqueues a run on `stream`. The status says whether all was enqueued; what kernels found is in the first of `words` once "
             "they "
             "are done.\nonnxc::Status enqueue({}const DeviceInputs& in, const DeviceOutputs& out, const onnxc::DeviceMemory& memory, "
             "cudaStream_t stream) noexcept;\n",
             dims_parameter(interface));
}

std::string device_definitions(const Interface& interface, const std::string& image, std::size_t weights_bytes, const std::string& body) {
  const std::string bytes = weights_bytes == 0 ? "{}" : fmt::format("{{reinterpret_cast<const std::byte*>({}), {}}}", image, weights_bytes);
  return fmt::format(
      "std::span<const std::byte> weights_image() noexcept {{ return {}; }}\n\n"
      "onnxc::Status enqueue({}const DeviceInputs& in, const DeviceOutputs& out, const onnxc::DeviceMemory& memory, cudaStream_t stream) "
      "noexcept {{\n{}}}\n\n",
      bytes, dims_parameter(interface), body);
}

std::string run_once(const Interface& interface, bool uses_heap) {
  return fmt::format(
      "  return onnxc::gpu::run_once(\n      {}, {}, device_arena_bytes{}, weights_image(), arena.data(), {},\n"
      "      [&]([[maybe_unused]] const void* const* inputs, [[maybe_unused]] void* const* outputs, const onnxc::DeviceMemory& device, "
      "cudaStream_t stream) noexcept {{\n        return enqueue({}{}, {}, device, stream);\n      }});\n}}\n\n",
      host_spans(interface.inputs, "in"), host_spans(interface.outputs, "out"), interface.dynamic() ? "(dims)" : "",
      uses_heap ? "&memory" : "nullptr", interface.dynamic() ? "dims, " : "", device_arguments(interface.inputs, "inputs", "in", false),
      device_arguments(interface.outputs, "outputs", "out", true));
}

}  // namespace onnxc
