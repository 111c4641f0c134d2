// Sessions of an emitted unit by its C ABI, on the emulated GPU. Whatever the sizes, and whatever ran before, a session gives the bits
// of a run that has a session of its own; so do two of them at once, and work that the caller enqueues. What goes wrong is told.
//
//   sessions.cpp and the unit, compiled together, with -DMODEL=churn_model
#include <onnxc/model.h>
#include <onnxc/contract/device_memory.hpp>
#include <onnxc/gpu/device.hpp>
#include <onnxc/memory.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

extern "C" const onnxc_model* MODEL(void);

namespace {

using onnxc::gpu::emulator::settings;
const onnxc_model& model = *MODEL();

void require(bool holds, const char* what, const char* more = "") {
  if (holds) return;
  std::fprintf(stderr, "%s: not so: %s %s\n", model.name, what, more);
  std::_Exit(1);
}

constexpr int32_t kString = 8;
std::size_t element_bytes(int32_t type) {
  switch (type) {
    case 2:
    case 3:
    case 9: return 1;  // u8, s8, bool
    case 4:
    case 5:
    case 10:
    case 16: return 2;  // u16, s16, f16, bf16
    case 1:
    case 6:
    case 12: return 4;  // f32, s32, u32
    case 7:
    case 11:
    case 13: return 8;  // s64, f64, u64
    case kString: return sizeof(onnxc_string);
    default: require(false, "a type that this test knows"); return 0;
  }
}

std::size_t count_of(const int64_t* shape, int32_t rank) {
  std::size_t count = 1;
  for (int32_t i = 0; i < rank; ++i) count *= static_cast<std::size_t>(shape[i]);
  return count;
}

/// Inputs and outputs of one run, with symbols `size`, or their bounds where these forbid it.
struct Data {
  std::vector<int64_t> symbols;
  std::vector<std::vector<std::byte>> inputs, outputs;
  std::vector<std::vector<int64_t>> shapes;
  std::vector<const void*> input_pointers;
  std::vector<void*> output_pointers;
  std::vector<int64_t*> shape_pointers;
  std::unique_ptr<std::byte[]> arena;
  onnxc::Memory memory;
  onnxc_call call{};
  char message[500] = {};
  bool possible = false;

  explicit Data(int64_t size) {
    for (int32_t k = 0; k < model.symbol_count; ++k) {
      const onnxc_symbol_info& s = model.symbols[k];
      symbols.push_back(std::min(std::max(size, s.min), s.max));
    }
    const std::size_t arena_bytes = model.arena_bytes(symbols.data());
    possible = arena_bytes != SIZE_MAX;
    if (!possible) return;
    for (int32_t k = 0; k < model.input_count; ++k) {
      const onnxc_tensor_info& t = model.inputs[k];
      std::vector<int64_t> shape;
      for (int32_t i = 0; i < t.rank; ++i) {
        require(t.shape[i] != INT64_MIN, "an input's extent is a symbol");
        shape.push_back(t.shape[i] >= 0 ? t.shape[i] : symbols[static_cast<std::size_t>(-1 - t.shape[i])]);
      }
      inputs.push_back(made_up(t.elem_type, count_of(shape.data(), t.rank), static_cast<uint32_t>(k)));
    }
    for (int32_t k = 0; k < model.output_count; ++k) {
      const onnxc_tensor_info& t = model.outputs[k];
      require(t.form != ONNXC_VALUE, "an output is a tensor of a known rank");
      std::vector<int64_t>& shape = shapes.emplace_back(static_cast<std::size_t>(t.rank) + 1);
      model.output_shape(symbols.data(), k, shape.data());
      outputs.emplace_back(count_of(shape.data(), t.rank) * element_bytes(t.elem_type));
    }
    for (auto& bytes : inputs) input_pointers.push_back(bytes.data());
    for (auto& bytes : outputs) output_pointers.push_back(bytes.data());
    for (auto& shape : shapes) shape_pointers.push_back(shape.data());
    arena.reset(static_cast<std::byte*>(::operator new[](arena_bytes + 64)));
    call = {
        symbols.data(), input_pointers.data(), output_pointers.data(), shape_pointers.data(), arena.get(), arena_bytes, nullptr, nullptr,
        message,        sizeof(message)};
    if (model.needs_allocator != 0) call.allocator = &memory.allocator();
    call.arena = reinterpret_cast<void*>((reinterpret_cast<std::uintptr_t>(arena.get()) + 63) / 64 * 64);
  }

  static std::vector<std::byte> made_up(int32_t type, std::size_t count, uint32_t seed) {
    std::vector<std::byte> bytes(count * element_bytes(type));
    for (std::size_t i = 0; i < count; ++i) {
      seed = seed * 1664525u + 1013904223u;
      const float f = static_cast<float>(seed >> 8) * 0x1p-23f - 1;
      const double d = static_cast<double>(f);
      const int64_t integer = seed >> 31;
      const onnxc_string text{"ab" + integer, 1};
      const void* const from = type == 1         ? static_cast<const void*>(&f)
                               : type == 11      ? static_cast<const void*>(&d)
                               : type == kString ? static_cast<const void*>(&text)
                                                 : &integer;
      std::memcpy(bytes.data() + i * element_bytes(type), from, element_bytes(type));
    }
    return bytes;
  }

  /// What the run gave.
  std::string results() const {
    std::string all;
    for (int32_t k = 0; k < model.output_count; ++k) {
      const auto at = static_cast<std::size_t>(k);
      const onnxc_tensor_info& t = model.outputs[k];
      for (int32_t i = 0; i < t.rank; ++i) all += std::to_string(shapes[at][static_cast<std::size_t>(i)]) + " ";
      const std::size_t count = count_of(shapes[at].data(), t.rank);
      require(count * element_bytes(t.elem_type) <= outputs[at].size(), "a shape has no more than its bound");
      if (t.elem_type != kString) {
        all.append(reinterpret_cast<const char*>(outputs[at].data()), count * element_bytes(t.elem_type));
        continue;
      }
      for (std::size_t i = 0; i < count; ++i) {
        const onnxc_string& text = reinterpret_cast<const onnxc_string*>(outputs[at].data())[i];
        all.append(text.data, text.size);
      }
    }
    return all;
  }
  void forget() {
    memory.clear();
    for (auto& bytes : outputs) std::memset(bytes.data(), 0xAB, bytes.size());
  }
};

class Session {
 public:
  explicit Session(bool pageable = false) {
    const onnxc_device_options options{sizeof(options), 0, pageable, nullptr};
    char message[500] = {};
    require(model.open(&options, &session_, message, sizeof(message)) == 0, "a session opens", message);
  }
  ~Session() { model.close(session_); }
  std::string run(Data& data) {
    data.forget();
    data.call.arena = nullptr;
    require(model.run_in(session_, &data.call) == 0, "a session runs", data.message);
    return data.results();
  }

 private:
  onnxc_session* session_ = nullptr;
};

/// By `enqueue`, in memory that this program takes.
std::string enqueued(Data& data) {
  using namespace onnxc::gpu;
  const auto take = [](std::size_t bytes) {
    void* p = nullptr;
    require(!allocate(p, bytes), "there is memory");
    return p;
  };
  data.forget();
  Stream stream{};
  require(!open_stream(stream), "a stream opens");
  std::size_t weights_bytes = 0;
  const void* const image = model.weights_image(&weights_bytes);
  // Memory of the emulated GPU begins at multiples of 16 bytes, that of others at multiples of 256.
  const auto room = [](std::size_t bytes) { return onnxc::contract::device_room(bytes); };
  std::vector<void*> all{take(room(model.device_arena_bytes(data.symbols.data()))), take(room(weights_bytes)),
                         take(model.device_words * 4)};
  require(!to_device(stream, all[1], image, weights_bytes), "a copy");
  require(!clear(stream, all[2], model.device_words * 4), "zeros");
  std::vector<const void*> inputs = data.input_pointers;
  std::vector<void*> outputs = data.output_pointers;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    if (model.input_devices[k] == ONNXC_CPU) continue;
    all.push_back(take(data.inputs[k].size()));
    require(!to_device(stream, all.back(), inputs[k], data.inputs[k].size()), "a copy");
    inputs[k] = all.back();
  }
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    if (model.output_devices[k] != ONNXC_CPU) all.push_back(outputs[k] = take(data.outputs[k].size()));
  }
  std::vector<std::byte> host_arena(model.arena_bytes(data.symbols.data()) + 64);
  void* const host = reinterpret_cast<void*>((reinterpret_cast<std::uintptr_t>(host_arena.data()) + 63) / 64 * 64);
  const onnxc_device_call call{sizeof(call),
                               data.symbols.data(),
                               inputs.data(),
                               outputs.data(),
                               data.shape_pointers.data(),
                               all[0],
                               all[1],
                               static_cast<uint32_t*>(all[2]),
                               host,
                               stream,
                               data.call.allocator,
                               data.message,
                               sizeof(data.message)};
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    if (model.input_devices[k] == ONNXC_CPU || data.inputs[k].empty()) continue;
    const void* const begin = std::exchange(inputs[k], static_cast<const std::byte*>(inputs[k]) + 8);
    require(model.enqueue(&call) == ONNXC_MISALIGNED, "an input that lies between two multiples of 16 bytes is told");
    inputs[k] = begin;
  }
  onnxc_device_call other = call;
  other.arena = static_cast<std::byte*>(call.arena) + 16;
  require(model.enqueue(&other) == ONNXC_MISALIGNED, "an arena that is not aligned is told");
  Graph graph;
  if (model.can_capture != 0) require(!graph.begin(stream), "a graph of the caller's");
  require(model.enqueue(&call) == 0, "work is enqueued", data.message);
  if (model.can_capture != 0) require(!graph.end(stream) && !graph.launch(stream), "a graph of the caller's runs");
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    if (model.output_devices[k] != ONNXC_CPU)
      require(!to_host(stream, data.output_pointers[k], outputs[k], data.outputs[k].size()), "a copy");
  }
  unsigned code = 1;
  require(!to_host(stream, &code, all[2], 4) && !finish(stream) && code == 0, "kernels find nothing");
  close_stream(stream);
  for (void* p : all) release(p);
  return data.results();
}

void check_failures() {
  onnxc_session* session = nullptr;
  char message[500] = {};
  const auto before = settings();
  settings().devices = 0;
  require(model.open(nullptr, &session, message, sizeof(message)) == ONNXC_DEVICE_FAILED && session == nullptr, "no GPU is told");
  require(std::strcmp(message, "the GPU failed: no GPU is emulated") == 0, "the message says which", message);
  Data data(1);
  require(model.run(&data.call) == ONNXC_DEVICE_FAILED, "a run without a GPU is told");
  require(std::strcmp(data.message, message) == 0, "a run gives the same message", data.message);
  settings() = before;
  const onnxc_device_options second{sizeof(second), 1, 0, nullptr};
  require(model.open(&second, &session, nullptr, 0) == ONNXC_DEVICE_FAILED && session == nullptr, "a second GPU is not there");
  settings().memory_bytes = 0;
  require(model.open(nullptr, &session, message, sizeof(message)) == ONNXC_OUT_OF_MEMORY && session == nullptr,
          "too little memory is told");
  require(std::strcmp(message, "out of memory: memory of the emulated GPU") == 0, "the message says whose", message);
  settings() = before;
  require(model.open(nullptr, nullptr, nullptr, 0) == ONNXC_NULL_POINTER, "a session needs a place");
  require(model.run_in(nullptr, &data.call) == ONNXC_NULL_POINTER, "a run needs a session");
  require(model.enqueue(nullptr) == ONNXC_NULL_POINTER, "work needs a call");
}

}  // namespace

int main() {
  require(model.struct_bytes == sizeof(onnxc_model) && model.device == ONNXC_CUDA_EMULATED, "the unit is one for GPUs");
  const std::size_t before = onnxc::gpu::emulator::bytes_in_use();
  check_failures();
  std::vector<int64_t> sizes{1, 2, 3, 5, 8, 13, 4, 6, 7, 9};  // more than a session has graphs for
  if (model.symbol_count == 0) sizes.resize(1);
  std::vector<std::string> expected;
  std::vector<std::unique_ptr<Data>> data;
  for (const int64_t size : sizes) {
    auto of_size = std::make_unique<Data>(size);
    if (!of_size->possible) continue;
    of_size->forget();
    require(model.run(&of_size->call) == 0, "a run of its own", of_size->message);
    expected.push_back(of_size->results());
    require(enqueued(*of_size) == expected.back(), "work that is enqueued gives the same");
    data.push_back(std::move(of_size));
  }
  require(!data.empty(), "some sizes are possible");
  const auto use = [&](bool pageable, unsigned seed) {
    Session session(pageable);
    for (int i = 0; i < 50; ++i) {
      seed = seed * 1664525u + 1013904223u;
      const std::size_t k = (seed >> 16) % sizes.size() % data.size();
      Data own(data[k]->symbols.empty() ? 1 : sizes[k]);
      if (own.possible && own.symbols == data[k]->symbols) require(session.run(own) == expected[k], "a session gives the same bits");
    }
  };
  std::thread other(use, true, 1u);
  use(false, 2u);
  other.join();
  require(onnxc::gpu::emulator::bytes_in_use() == before, "all memory has been given back");
}
