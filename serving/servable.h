// One version of a model, ready to be called from any number of threads.
#pragma once
#include <onnxc/model.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "serving/bounded_memory.h"
#include "serving/request.h"

namespace onnxc::serving {

using Clock = std::chrono::steady_clock;

/// Memory at a multiple of 64 bytes that grows and is kept.
class Buffer {
 public:
  /// Room for so many bytes, whose contents mean nothing. Throws RequestError(503) where there is none.
  void* room(std::size_t bytes);

 private:
  struct Free {
    void operator()(void* block) const { ::operator delete(block, std::align_val_t(64)); }
  };
  std::unique_ptr<void, Free> block_;
  std::size_t bytes_ = 0;
};

/// Outputs of one run, which may have answered several requests.
struct RunResult {
  struct Output {
    const DataType* type;
    std::vector<int64_t> shape;
    const void* data;  ///< elements; onnxc_string for strings
  };
  std::vector<Output> outputs;

  // What they point to.
  std::vector<Buffer> buffers;
  BoundedMemory memory;
  std::vector<std::shared_ptr<const InferRequest>> requests;
};

/// A request on its way through a queue. Its result or error is set before `done` is called, once, by some thread.
struct Job {
  std::shared_ptr<InferRequest> request;
  std::vector<int64_t> symbols;  ///< the model's dimensions
  int64_t rows = 1;              ///< of the batch's axis; 1 for models without
  Clock::time_point arrival, deadline;
  std::function<void(std::shared_ptr<Job>)> done;  ///< takes the job itself
  std::function<bool()> is_abandoned;              ///< the client has left; may be empty

  std::shared_ptr<const RunResult> result;
  int64_t first_row = 0, all_rows = 1;  ///< in the result
  std::optional<RequestError> error;
  Clock::duration queued{}, ran{};
};

/// What a worker keeps between runs.
struct Workspace {
  Buffer arena;
  std::vector<Buffer> inputs;
  const onnxc_executor* executor = nullptr;
};

struct Limits {
  std::size_t run_bytes = std::size_t{4} << 30;  ///< outputs and scratch memory of one run
};

class Servable {
 public:
  struct Tensor {
    std::string name;
    const DataType* type;
    std::vector<int64_t> shape;  ///< as in onnxc_tensor_info
    int32_t form;
  };

  /// `library` lives as long as this. Throws std::runtime_error for what the protocol cannot express: sequences, maps, types of 4 bits, units for GPUs.
  Servable(const onnxc_model& unit, std::shared_ptr<const void> library, Limits limits);

  const onnxc_model& unit() const { return unit_; }
  const std::vector<Tensor>& inputs() const { return inputs_; }
  const std::vector<Tensor>& outputs() const { return outputs_; }

  /// The symbol that is the first extent of every input and every output, or -1: requests could be joined along it.
  int batch_symbol() const { return batch_symbol_; }
  /// How many rows of it a run may have; 1 where there is none.
  int64_t most_rows() const { return batch_symbol_ < 0 ? 1 : unit_.symbols[batch_symbol_].max; }
  /// Throws std::runtime_error where a row of made-up inputs gives another result beside other rows than alone: such a model must not run in batches.
  void check_rows() const;

  /// Orders the inputs as the model has them and binds its dimensions. Throws RequestError(400).
  Job make_job(std::shared_ptr<InferRequest> request) const;
  /// Runs jobs that agree in all symbols but the batch's, whose sum they become, and gives each its result or error.
  void run(std::span<Job* const> jobs, Workspace& workspace) const;

 private:
  std::shared_ptr<const RunResult> run_joined(std::span<Job* const> jobs, Workspace& workspace) const;
  const void* joined_input(std::span<Job* const> jobs, std::size_t k, Buffer& room) const;

  const onnxc_model& unit_;
  std::shared_ptr<const void> library_;
  Limits limits_;
  std::vector<Tensor> inputs_, outputs_;
  int batch_symbol_ = -1;
};

}  // namespace onnxc::serving
