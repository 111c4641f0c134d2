// Whether a unit for a GPU gives what ONNX Runtime gave, and how long a run takes: with its inputs and outputs on the host, in a session; with
// them on the device, by `enqueue`, and by a graph of it. One line of JSON.
//
//   unit DATA SECONDS      DATA: what data.py writes; how long each figure is measured
//
// It is compiled together with the unit, with -DMODEL=churn_mlp_model.
#include <onnxc/model.h>
#include <onnxc/contract/device_memory.hpp>
#include <onnxc/gpu/device.hpp>
#include <onnxc/memory.hpp>
#include <onnxc/types.hpp>

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>

#include "bench/gpu/measure.hpp"

extern "C" const onnxc_model* MODEL(void);

namespace {

using onnxc::bench::median_us;
using onnxc::bench::require;
const onnxc_model& model = *MODEL();

struct Array {
  std::vector<int64_t> shape;
  std::vector<char> bytes;
};

/// Of one element; 0 for types that nothing is compared of.
std::size_t element_bytes(int32_t type) {
  switch (type) {
    case 2:
    case 3:
    case 9: return 1;
    case 10:
    case 16: return 2;
    case 1:
    case 6: return 4;
    case 7:
    case 11: return 8;
    default: return 0;
  }
}
template <class T>
double as(const char* from) {
  T v;
  std::memcpy(&v, from, sizeof(T));
  return static_cast<double>(v);
}
double value_of(int32_t type, const char* p) {
  switch (type) {
    case 1: return as<float>(p);
    case 2:
    case 9: return as<uint8_t>(p);
    case 3: return as<int8_t>(p);
    case 6: return as<int32_t>(p);
    case 7: return static_cast<double>(as<int64_t>(p));
    case 10: return static_cast<float>(onnxc::float16::from_bits(static_cast<uint16_t>(as<uint16_t>(p))));
    case 11: return as<double>(p);
    default: return static_cast<float>(onnxc::bfloat16::from_bits(static_cast<uint16_t>(as<uint16_t>(p))));
  }
}

/// What data.py wrote: a line "tolerance T", then "input FILE RANK EXTENT..." and "output FILE RANK EXTENT...", in the model's order.
struct Data {
  double tolerance = 0;
  std::vector<Array> inputs, outputs;

  explicit Data(const std::string& folder) {
    std::ifstream list(folder + "/data.txt");
    require(list.good(), "there is data:", folder.c_str());
    std::string line, word, file;
    while (std::getline(list, line)) {
      std::istringstream words(line);
      words >> word;
      if (word == "tolerance") {
        words >> tolerance;
        continue;
      }
      std::size_t rank = 0;
      words >> file >> rank;
      Array& a = (word == "input" ? inputs : outputs).emplace_back();
      a.shape.resize(rank);
      for (int64_t& extent : a.shape) words >> extent;
      std::ifstream content(folder + "/" + file, std::ios::binary);
      a.bytes.assign(std::istreambuf_iterator<char>(content), {});
    }
    require(static_cast<int32_t>(inputs.size()) == model.input_count && static_cast<int32_t>(outputs.size()) == model.output_count,
            "data is of this model");
  }
};

/// One run's sizes and pointers, all on the host.
struct Run {
  std::vector<int64_t> symbols;
  std::vector<const void*> inputs;
  std::vector<std::vector<char>> results;
  std::vector<void*> outputs;
  std::vector<std::vector<int64_t>> shapes;
  std::vector<int64_t*> shape_pointers;
  onnxc::Memory memory;
  char message[500] = {};
  onnxc_call call{};

  explicit Run(const Data& data) : symbols(static_cast<std::size_t>(model.symbol_count)) {
    for (int32_t k = 0; k < model.input_count; ++k) {
      const onnxc_tensor_info& t = model.inputs[k];
      const Array& a = data.inputs[static_cast<std::size_t>(k)];
      require(t.form == ONNXC_PLAIN && element_bytes(t.elem_type) > 0 && static_cast<std::size_t>(t.rank) == a.shape.size(),
              "an input is a tensor of numbers:", t.name);
      std::size_t bytes = element_bytes(t.elem_type);
      for (int32_t i = 0; i < t.rank; ++i) {
        const int64_t extent = a.shape[static_cast<std::size_t>(i)];
        bytes *= static_cast<std::size_t>(extent);
        if (t.shape[i] < 0 && t.shape[i] != INT64_MIN) symbols[static_cast<std::size_t>(-1 - t.shape[i])] = extent;
      }
      require(bytes == a.bytes.size(), "an input's file has its size:", t.name);
      inputs.push_back(a.bytes.data());
    }
    require(model.arena_bytes(symbols.data()) != SIZE_MAX, "the model takes these sizes");
    for (int32_t k = 0; k < model.output_count; ++k) {
      const onnxc_tensor_info& t = model.outputs[k];
      require(t.form != ONNXC_VALUE && t.rank >= 0 && element_bytes(t.elem_type) > 0, "an output is a tensor of numbers:", t.name);
      std::vector<int64_t>& shape = shapes.emplace_back(static_cast<std::size_t>(t.rank) + 1);
      model.output_shape(symbols.data(), k, shape.data());
      std::size_t bytes = element_bytes(t.elem_type);
      for (int32_t i = 0; i < t.rank; ++i) bytes *= static_cast<std::size_t>(shape[static_cast<std::size_t>(i)]);
      results.emplace_back(bytes);
    }
    for (auto& bytes : results) outputs.push_back(bytes.data());
    for (auto& shape : shapes) shape_pointers.push_back(shape.data());
    call.symbols = symbols.data();
    call.inputs = inputs.data();
    call.outputs = outputs.data();
    call.output_shapes = shape_pointers.data();
    call.allocator = model.needs_allocator != 0 ? &memory.allocator() : nullptr;
    call.message = message;
    call.message_bytes = sizeof(message);
  }

  void forget() {
    memory.clear();
    for (auto& bytes : results) std::memset(bytes.data(), 0xAB, bytes.size());
  }

  /// The largest of |y - expected| / |expected|, in the Euclidean norm, over the outputs; infinite where shapes differ or NaNs do.
  double error(const Data& data) const {
    double worst = 0;
    for (std::size_t k = 0; k < results.size(); ++k) {
      const int32_t type = model.outputs[k].elem_type;
      const Array& expected = data.outputs[k];
      for (std::size_t i = 0; i < expected.shape.size(); ++i) {
        if (shapes[k][i] != expected.shape[i]) return std::numeric_limits<double>::infinity();
      }
      double off = 0, size = 0;
      for (std::size_t at = 0; at < expected.bytes.size(); at += element_bytes(type)) {
        const double e = value_of(type, expected.bytes.data() + at), y = value_of(type, results[k].data() + at);
        if (y == e || (std::isnan(y) && std::isnan(e))) {
          size += std::isfinite(e) ? e * e : 0;
          continue;
        }
        off += (y - e) * (y - e);
        size += e * e;
      }
      const double relative = off == 0 ? 0 : std::sqrt(off / size);
      worst = relative <= worst ? worst : std::isnan(relative) ? std::numeric_limits<double>::infinity() : relative;
    }
    return worst;
  }
};

/// What `enqueue` needs, with inputs and outputs on the device where it takes them there.
class OnDevice {
 public:
  explicit OnDevice(Run& run) : run_(run), inputs_(run.inputs), outputs_(run.outputs) {
    require(onnxc::gpu::open_stream(stream_));
    std::size_t weights_bytes = 0;
    const void* const image = model.weights_image(&weights_bytes);
    using onnxc::contract::device_room;  // the emulator aligns the ends of its memory, and not the beginnings
    void *const arena = take(device_room(model.device_arena_bytes(run.symbols.data()))), *const weights = take(device_room(weights_bytes));
    words_ = take(model.device_words * 4);
    require(onnxc::gpu::to_device(stream_, weights, image, weights_bytes));
    require(onnxc::gpu::clear(stream_, words_, model.device_words * 4));
    for (std::size_t k = 0; k < inputs_.size(); ++k) {
      if (model.input_devices[k] == ONNXC_CPU) continue;
      const Bytes bytes = bytes_of(model.inputs[k], k);
      void* const there = take(bytes.count);
      require(onnxc::gpu::to_device(stream_, there, bytes.from, bytes.count));
      inputs_[k] = there;
    }
    for (std::size_t k = 0; k < outputs_.size(); ++k) {
      if (model.output_devices[k] != ONNXC_CPU) outputs_[k] = take(run.results[k].size());
    }
    host_.resize(model.arena_bytes(run.symbols.data()) + model.arena_alignment);
    const auto at = reinterpret_cast<std::uintptr_t>(host_.data()), step = static_cast<std::uintptr_t>(model.arena_alignment);
    call_.struct_bytes = sizeof(call_);
    call_.symbols = run.symbols.data();
    call_.inputs = inputs_.data();
    call_.outputs = outputs_.data();
    call_.output_shapes = run.shape_pointers.data();
    call_.arena = arena;
    call_.weights = weights;
    call_.words = static_cast<uint32_t*>(words_);
    call_.host_arena = reinterpret_cast<void*>((at + step - 1) / step * step);
    call_.stream = stream_;
    call_.allocator = run.call.allocator;
    call_.message = run.message;
    call_.message_bytes = sizeof(run.message);
    require(onnxc::gpu::finish(stream_));
  }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
  ~OnDevice() {
    graph_.reset();
    onnxc::gpu::close_stream(stream_);
    for (void* p : all_) onnxc::gpu::release(p);
  }

  void enqueue() {
    run_.memory.clear();
    require(model.enqueue(&call_) == 0, "work is enqueued:", run_.message);
  }
  void make_graph() {
    require(graph_.begin(stream_));
    enqueue();
    require(graph_.end(stream_));
  }
  void launch_graph() { require(graph_.launch(stream_)); }
  void finish() { require(onnxc::gpu::finish(stream_)); }
  /// Brings the outputs to the host.
  void fetch() {
    for (std::size_t k = 0; k < outputs_.size(); ++k) {
      if (model.output_devices[k] != ONNXC_CPU)
        require(onnxc::gpu::to_host(stream_, run_.results[k].data(), outputs_[k], run_.results[k].size()));
    }
    unsigned code = 1;
    require(onnxc::gpu::to_host(stream_, &code, words_, 4));
    finish();
    require(code == 0, "kernels find nothing in the data");
  }

 private:
  struct Bytes {
    const void* from;
    std::size_t count;
  };
  Bytes bytes_of(const onnxc_tensor_info& t, std::size_t k) const {
    std::size_t count = element_bytes(t.elem_type);
    for (int32_t i = 0; i < t.rank; ++i) {
      count *= static_cast<std::size_t>(t.shape[i] >= 0 ? t.shape[i] : run_.symbols[static_cast<std::size_t>(-1 - t.shape[i])]);
    }
    return {run_.inputs[k], count};
  }
  void* take(std::size_t bytes) {
    void* p = nullptr;
    require(onnxc::gpu::allocate(p, bytes));
    all_.push_back(p);
    return p;
  }

  Run& run_;
  std::vector<const void*> inputs_;
  std::vector<void*> outputs_, all_;
  std::vector<std::byte> host_;
  void* words_ = nullptr;
  onnxc::gpu::Stream stream_{};
  onnxc::gpu::Graph graph_;
  onnxc_device_call call_{};
};

}  // namespace

int main(int count, char** arguments) {
  require(count == 3, "two arguments");
  const Data data(arguments[1]);
  const double seconds = std::atof(arguments[2]);
  require(model.device != ONNXC_CPU, "the unit is one for GPUs");
  Run run(data);

  onnxc_session* session = nullptr;
  require(model.open(nullptr, &session, run.message, sizeof(run.message)) == 0, "a session opens:", run.message);
  const auto in_session = [&] {
    run.memory.clear();
    require(model.run_in(session, &run.call) == 0, "a session runs:", run.message);
  };
  run.forget();
  in_session();
  double worst = run.error(data);
  const double host_us = median_us(seconds, in_session);
  model.close(session);

  double enqueue_us = 0, graph_us = 0;
  {
    OnDevice there(run);
    const auto checked = [&](auto work) {
      run.forget();
      work();
      there.fetch();
      worst = std::max(worst, run.error(data));
    };
    checked([&] { there.enqueue(); });
    enqueue_us = median_us(seconds, [&] {
      there.enqueue();
      there.finish();
    });
    if (model.can_capture != 0) {
      there.make_graph();
      checked([&] { there.launch_graph(); });
      graph_us = median_us(seconds, [&] {
        there.launch_graph();
        there.finish();
      });
    }
  }
  const bool right = worst <= data.tolerance;
  std::printf(
      "{\"model\": \"%s\", \"right\": %s, \"error\": %.3g, \"tolerance\": %.3g, \"host_us\": %.1f, \"device_us\": %.1f, \"graph_us\": ",
      model.name, right ? "true" : "false", std::isfinite(worst) ? worst : 1e30, data.tolerance, host_us, enqueue_us);
  if (model.can_capture != 0) std::printf("%.1f}\n", graph_us);
  else std::printf("null}\n");
  return right ? 0 : 1;
}
