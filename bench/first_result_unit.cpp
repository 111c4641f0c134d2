// The smallest host of a compiled model, whatever its inputs: one run through the C ABI. Compiled together with a unit of the namespace `unit`.
//
//   program THREADS SYMBOL... INPUT_FILE...     the dynamic dimensions in the unit's order, then a file with the elements of each input
//
// Prints the monotonic clock at the first result in seconds, and the peak resident set in KiB.
#include <onnxc/memory.hpp>
#include <onnxc/threads.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

extern "C" const onnxc_model* unit_model(void);

namespace {

std::vector<char> read_file(const char* path) {
  std::FILE* const file = std::fopen(path, "rb");
  if (file == nullptr) std::exit(3);
  std::fseek(file, 0, SEEK_END);
  std::vector<char> bytes(static_cast<std::size_t>(std::ftell(file)));
  std::rewind(file);
  if (std::fread(bytes.data(), 1, bytes.size(), file) != bytes.size()) std::exit(3);
  std::fclose(file);
  return bytes;
}

/// Bits of an element, by the number of its ONNX type; strings are onnxc_string. Those of 4 and 2 bits are packed.
constexpr std::size_t kBits[] = {0, 32, 8, 8, 16, 16, 32, 64, 128, 8, 16, 64, 32, 64, 64, 128, 16, 8, 8, 8, 8, 4, 4, 4, 8, 2, 2};

long peak_kib() {
  char line[256];
  long kib = 0;
  std::FILE* const file = std::fopen("/proc/self/status", "r");
  while (file != nullptr && std::fgets(line, sizeof line, file) != nullptr) {
    if (std::strncmp(line, "VmHWM:", 6) == 0) kib = std::strtol(line + 6, nullptr, 10);
  }
  if (file != nullptr) std::fclose(file);
  return kib;
}

}  // namespace

int main(int argc, char** argv) {
  const onnxc_model& model = *unit_model();
  if (argc != 2 + model.symbol_count + model.input_count) return 2;
  onnxc::ThreadPool threads(std::atoi(argv[1]));
  const onnxc_executor executor = threads.executor();
  onnxc::Memory memory;

  std::vector<int64_t> symbols;
  for (int k = 0; k < model.symbol_count; ++k) symbols.push_back(std::atoll(argv[2 + k]));
  std::vector<std::vector<char>> given, results;
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
  for (int k = 0; k < model.input_count; ++k) {
    given.push_back(read_file(argv[2 + model.symbol_count + k]));
    inputs.push_back(given.back().data());
  }
  for (int k = 0; k < model.output_count; ++k) {
    int64_t extents[ONNXC_MAX_RANK];
    model.output_shape(symbols.data(), k, extents);
    std::size_t count = 1;
    for (int axis = 0; axis < model.outputs[k].rank; ++axis) count *= static_cast<std::size_t>(extents[axis]);
    const bool is_value = model.outputs[k].form == ONNXC_VALUE;
    results.emplace_back(is_value ? sizeof(onnxc_value) : (count * kBits[model.outputs[k].elem_type] + 7) / 8);
    outputs.push_back(results.back().data());
  }
  const std::size_t arena_bytes = model.arena_bytes(symbols.data()), alignment = model.arena_alignment;
  void* const arena = std::aligned_alloc(alignment, (arena_bytes / alignment + 1) * alignment);
  const onnxc_call call{
      symbols.data(),     inputs.data(), outputs.data(), nullptr, arena, arena_bytes, threads.count() > 1 ? &executor : nullptr,
      &memory.allocator()};
  if (const int32_t status = model.run(&call); status != 0) return 10 + status;
  const auto now = std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  std::printf("%.9f %ld\n", now, peak_kib());
  std::fflush(stdout);
  std::free(arena);
  return 0;
}
