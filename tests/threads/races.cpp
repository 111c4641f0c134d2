// Runs a unit for the thread sanitizer: on the pool, and with a thread for each share. Its inputs and outputs are tensors of floats with constant extents.
#include <onnxc/threads.hpp>

#include <cstdlib>
#include <vector>

#include "tools/driver/thread_each.h"
#include "unit.cpp"

namespace {

std::vector<float> tensor(const std::int64_t* extents, std::int32_t rank) {
  std::size_t count = 1;
  for (std::int32_t i = 0; i < rank; ++i) count *= static_cast<std::size_t>(extents[i]);
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i % 13) / 13 - 0.5f;
  return values;
}

int run(const onnxc_model& m, const onnxc_executor& executor) {
  std::vector<std::vector<float>> tensors;
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
  for (std::int32_t k = 0; k < m.input_count; ++k)
    inputs.push_back(tensors.emplace_back(tensor(m.inputs[k].shape, m.inputs[k].rank)).data());
  for (std::int32_t k = 0; k < m.output_count; ++k)
    outputs.push_back(tensors.emplace_back(tensor(m.outputs[k].shape, m.outputs[k].rank)).data());
  const std::size_t bytes = m.arena_bytes(nullptr), alignment = m.arena_alignment;
  void* const arena = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  const onnxc_call call{nullptr, inputs.data(), outputs.data(), nullptr, arena, bytes, &executor, nullptr, nullptr, 0};
  const int status = m.run(&call);
  std::free(arena);
  return status;
}

}  // namespace

int main() {
  constexpr int kThreads = 4;
  onnxc::ThreadPool pool(kThreads);
  const onnxc::ThreadEach each(kThreads);
  const int on_pool = run(*unit_model(), pool.executor()), on_each = run(*unit_model(), *each.executor());
  return on_pool != 0 ? on_pool : on_each;
}
