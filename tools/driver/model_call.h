// A call of a compiled model with host values: dimensions are bound, outputs and arena allocated, and it can run many
// times.
#pragma once
#include <onnxc/model.h>

#include <array>
#include <cstddef>
#include <deque>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "tools/driver/abi_value.h"
#include "tools/driver/guarded_buffer.h"
#include "tools/driver/host_value.h"

namespace onnxc {

/// The dimensions of the model to which `inputs` give more than one extent. ONNX does not allow this, but other
/// engines accept it.
std::set<std::string> names_of_several_extents(const onnxc_model& model, std::span<const HostValue* const> inputs);

class ModelCall {
 public:
  /// One value for each input of the model, in its order; for an optional input, the contained value will do. Values
  /// are copied into aligned memory. Throws Error{Invalid} if kinds, types or shapes do not fit the model.
  ModelCall(const onnxc_model& model, std::span<const HostValue* const> inputs, const onnxc_executor* executor = nullptr);

  /// 0 or an onnxc_status. It costs no more than the call itself: nothing is copied, and nothing is allocated except
  /// what the model requests. The outputs of the last run are lost.
  int32_t run() {
    memory_.clear();
    return model_.device == ONNXC_CPU ? model_.run(&call_) : run_in_session();
  }
  /// The message of the last run, which failed.
  std::string message() const { return message_.data(); }

  /// The outputs of the last run.
  HostValue output(int32_t k) const;
  /// Describes forbidden writes of the last runs; empty if there are none.
  std::string find_stray_write() const;

  const std::vector<int64_t>& symbols() const { return symbols_; }
  std::size_t arena_bytes() const { return arena_.size(); }

 private:
  /// A unit for a GPU runs in a session, which is opened by the first run.
  int32_t run_in_session();
  void bind_inputs(std::span<const HostValue* const> inputs);
  void bind_tensor(const onnxc_tensor_info& wanted, const TensorData& given);
  /// Puts states where they are after the run.
  void share_states();

  const onnxc_model& model_;
  std::vector<int64_t> symbols_;
  std::vector<GuardedBuffer> inputs_, outputs_;
  std::deque<std::vector<std::string>> strings_;  // that inputs point to
  std::vector<AbiValue> values_;
  std::vector<std::vector<int64_t>> shapes_;
  std::vector<const void*> input_pointers_;
  std::vector<void*> output_pointers_;
  std::vector<int64_t*> shape_pointers_;
  GuardedBuffer arena_;
  RunMemory memory_;  // that runs allocate
  std::array<char, 1024> message_{};
  onnxc_call call_{};
  std::shared_ptr<onnxc_session> session_;
};

}  // namespace onnxc
