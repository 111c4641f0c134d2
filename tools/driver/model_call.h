// A call of a compiled model with host tensors: dimensions bound, outputs and arena allocated, ready to run many times.
#pragma once
#include <onnxc/memory.hpp>
#include <onnxc/model.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tools/driver/host_value.h"

namespace onnxc {

/// Memory with a pattern behind its end, which shows writes beyond it.
class GuardedBuffer {
 public:
  GuardedBuffer(std::size_t bytes, std::size_t alignment, std::byte fill);
  std::byte* data() const { return data_.get(); }
  std::size_t size() const { return bytes_; }
  bool is_intact() const;

 private:
  struct Free {
    void operator()(std::byte* p) const;
  };
  std::size_t bytes_;
  std::unique_ptr<std::byte[], Free> data_;
};

class ModelCall {
 public:
  /// One tensor for each input of the model, in its order. They are copied into aligned memory. Throws Error{Invalid} when types or shapes do
  /// not fit the model, Error{Unsupported} for types that have no host form yet.
  ModelCall(const onnxc_model& model, std::span<const TensorData* const> inputs, const onnxc_executor* executor = nullptr);

  /// 0 or an onnxc_status. As cheap as a call gets: nothing is allocated or copied.
  int32_t run() { return model_.run(&call_); }

  /// The outputs of the last run.
  TensorData output(int32_t k) const;
  /// What the last runs wrote that they must not have, or nothing.
  std::string find_stray_write() const;

  const std::vector<int64_t>& symbols() const { return symbols_; }
  std::size_t arena_bytes() const { return arena_.size(); }

 private:
  void bind_inputs(std::span<const TensorData* const> inputs);

  const onnxc_model& model_;
  std::vector<int64_t> symbols_;
  std::vector<GuardedBuffer> inputs_, outputs_;
  std::vector<std::vector<int64_t>> shapes_;
  std::vector<const void*> input_pointers_;
  std::vector<void*> output_pointers_;
  std::vector<int64_t*> shape_pointers_;
  GuardedBuffer arena_;
  Memory memory_;  // of what a run takes for itself
  onnxc_call call_{};
};

/// The text of an onnxc_status.
std::string status_text(int32_t status);

}  // namespace onnxc
