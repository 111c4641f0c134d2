// Runs the unit `unit` once, by the C ABI: call SYMBOL... -- INPUT_FILE... -- OUTPUT_FILE...; raw bytes of plain tensors.
#include <onnxc/model.h>
#include <onnxc/memory.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" const onnxc_model* unit_model(void);

int main(int count, char** words) {
  std::vector<std::vector<std::string>> given(1);
  for (int i = 1; i < count; ++i) {
    if (std::strcmp(words[i], "--") == 0) given.emplace_back();
    else given.back().emplace_back(words[i]);
  }
  const onnxc_model& model = *unit_model();
  if (given.size() != 3 || static_cast<int>(given[0].size()) != model.symbol_count ||
      static_cast<int>(given[1].size()) != model.input_count)
    return 2;
  std::vector<std::int64_t> symbols(given[0].size() + 1);
  for (std::size_t i = 0; i < given[0].size(); ++i) symbols[i] = std::atoll(given[0][i].c_str());
  std::vector<std::vector<char>> inputs, outputs;
  std::vector<const void*> in;
  std::vector<void*> out;
  for (const std::string& name : given[1]) {
    std::ifstream file(name, std::ios::binary);
    inputs.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  for (const auto& bytes : inputs) in.push_back(bytes.data());
  std::vector<std::size_t> sizes;
  for (int k = 0; k < model.output_count; ++k) {
    std::int64_t extents[ONNXC_MAX_RANK];
    model.output_shape(symbols.data(), k, extents);
    std::size_t elements = 1;
    for (int axis = 0; axis < model.outputs[k].rank; ++axis) elements *= static_cast<std::size_t>(extents[axis]);
    sizes.push_back(elements * (model.outputs[k].elem_type == 7 ? 8 : 4));  // i64, else f32
    outputs.emplace_back(sizes.back());
  }
  for (auto& bytes : outputs) out.push_back(bytes.data());
  const std::size_t bytes = model.arena_bytes(symbols.data());
  std::vector<char> arena(bytes + model.arena_alignment);
  const std::size_t past = reinterpret_cast<std::uintptr_t>(arena.data()) % model.arena_alignment;
  char message[256] = {};
  onnxc::Memory memory;
  onnxc_call call{};
  call.symbols = symbols.data();
  call.inputs = in.data();
  call.outputs = out.data();
  call.arena = arena.data() + (past == 0 ? 0 : model.arena_alignment - past);
  call.arena_bytes = bytes;
  call.allocator = &memory.allocator();
  call.message = message;
  call.message_bytes = sizeof message;
  if (const int status = model.run(&call)) return std::fprintf(stderr, "status %d: %s\n", status, message), 1;
  for (std::size_t k = 0; k < outputs.size() && k < given[2].size(); ++k)
    std::ofstream(given[2][k], std::ios::binary).write(outputs[k].data(), static_cast<std::streamsize>(sizes[k]));
  return 0;
}
