// Runs models that are linked in, through the C ABI, on inputs read from files.
//
//   harness FOLDER SYMBOL...
//
// Each model reads FOLDER/input_K.bin and writes FOLDER/NAME_output_K.bin. SYMBOLs are the values of its dynamic
// dimensions. -DMODELS='M(a) M(b)' names the models. With -DWEIGHTS_FILE=a, the weights of model a are in
// FOLDER/a.weights.bin.
#include <onnxc/model.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#define M(name) extern "C" const onnxc_model* name##_model(void);
MODELS
#undef M

namespace {

std::vector<char> read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) std::exit((std::fprintf(stderr, "no %s\n", path.c_str()), 2));
  return {std::istreambuf_iterator<char>(in), {}};
}

char* align(std::vector<char>& storage, std::size_t bytes, std::size_t alignment) {
  storage.assign(bytes + alignment, 0x5a);
  return storage.data() + (alignment - reinterpret_cast<std::uintptr_t>(storage.data()) % alignment) % alignment;
}

std::size_t element_bytes(int type) {
  switch (type) {
    case 2:
    case 3:
    case 9: return 1;
    case 4:
    case 5:
    case 10:
    case 16: return 2;
    case 7:
    case 11:
    case 13: return 8;
    default: return 4;
  }
}

void run(const onnxc_model& model, const std::string& name, const std::string& folder, const std::vector<int64_t>& symbols) {
  std::vector<std::vector<char>> inputs, outputs;
  std::vector<const void*> input_pointers;
  std::vector<void*> output_pointers;
  for (int32_t k = 0; k < model.input_count; ++k) inputs.push_back(read(folder + "/input_" + std::to_string(k) + ".bin"));
  for (const auto& bytes : inputs) input_pointers.push_back(bytes.data());
  for (int32_t k = 0; k < model.output_count; ++k) {
    std::vector<int64_t> extents(static_cast<std::size_t>(model.outputs[k].rank) + 1);
    model.output_shape(symbols.data(), k, extents.data());
    std::size_t bytes = element_bytes(model.outputs[k].elem_type);
    for (int32_t axis = 0; axis < model.outputs[k].rank; ++axis) bytes *= static_cast<std::size_t>(extents[static_cast<std::size_t>(axis)]);
    outputs.emplace_back(bytes);
  }
  for (auto& bytes : outputs) output_pointers.push_back(bytes.data());
  std::vector<char> storage;
  const std::size_t arena_bytes = model.arena_bytes(symbols.data());
  char* const arena = align(storage, arena_bytes, model.arena_alignment);
  onnxc_call call{symbols.data(), input_pointers.data(), output_pointers.data(), nullptr, arena, arena_bytes, nullptr, nullptr};
  const auto expect = [&](const onnxc_call& c, int32_t status, const char* what) {
    if (const int32_t got = model.run(&c); got != status)
      std::exit((std::fprintf(stderr, "%s: %s gives status %d, not %d\n", name.c_str(), what, got, status), 1));
  };
  expect(call, ONNXC_OK, "a run");
  if (arena_bytes > 0) {
    onnxc_call bad = call;
    bad.arena_bytes = arena_bytes - 1;
    expect(bad, ONNXC_SMALL_ARENA, "an arena that is too small");
    bad = call;
    bad.arena = arena + 1;
    expect(bad, ONNXC_MISALIGNED, "an arena that is not aligned");
  }
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    std::ofstream(folder + "/" + name + "_output_" + std::to_string(k) + ".bin", std::ios::binary)
        .write(outputs[k].data(), static_cast<std::streamsize>(outputs[k].size()));
  }
}

}  // namespace

#ifdef WEIGHTS_FILE
#define JOIN_AGAIN(a, b) a##b
#define JOIN(a, b)       JOIN_AGAIN(a, b)
#define TEXT_AGAIN(a)    #a
#define TEXT(a)          TEXT_AGAIN(a)
extern "C" const std::byte* JOIN(WEIGHTS_FILE, _weights);
#endif

int main(int argc, char** argv) {
  const std::string folder = argv[1];
  std::vector<int64_t> symbols;
  for (int i = 2; i < argc; ++i) symbols.push_back(std::atoll(argv[i]));
#ifdef WEIGHTS_FILE
  static std::vector<char> storage;
  const std::vector<char> file = read(folder + "/" TEXT(WEIGHTS_FILE) ".weights.bin");
  char* const weights = align(storage, file.size(), 64);
  std::copy(file.begin(), file.end(), weights);
  JOIN(WEIGHTS_FILE, _weights) = reinterpret_cast<const std::byte*>(weights);
#endif
#define M(name) run(*name##_model(), #name, folder, symbols);
  MODELS
}
