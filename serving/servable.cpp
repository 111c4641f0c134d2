#include "serving/servable.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <set>

namespace onnxc::serving {
namespace {

constexpr int kBadRequest = 400, kTooLarge = 413, kFailed = 500, kNoRoom = 503;

std::string shape_text(const std::vector<int64_t>& shape) {
  std::string text = "[";
  for (const int64_t extent : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(extent);
  return text + "]";
}

Servable::Tensor tensor_of(const onnxc_tensor_info& info, const char* role) {
  const DataType* const type = find_type(info.elem_type);
  const std::string name = std::string(role) + " '" + info.name + "'";
  if (info.kind != ONNXC_TENSOR)
    throw std::runtime_error(name +
                             " is no tensor, and the protocol has tensors alone; where it is a ZipMap's output, --zipmap=tensor helps");
  if (type == nullptr) throw std::runtime_error(name + " has an element type that the protocol does not have");
  return {info.name, type, {info.shape, info.shape + std::max(info.rank, 0)}, info.form};
}

/// Whether the first extent of all is the same symbol; -1 otherwise.
int common_first_symbol(const std::vector<Servable::Tensor>& inputs, const std::vector<Servable::Tensor>& outputs) {
  std::set<int64_t> first;
  for (const auto* tensors : {&inputs, &outputs}) {
    for (const Servable::Tensor& tensor : *tensors) first.insert(tensor.form == ONNXC_PLAIN && !tensor.shape.empty() ? tensor.shape[0] : 0);
  }
  if (inputs.empty() || first.size() != 1 || *first.begin() >= 0 || *first.begin() == INT64_MIN) return -1;
  return static_cast<int>(-1 - *first.begin());
}

/// The product of non-negative extents, or nothing beyond 2^62.
std::optional<int64_t> product(std::span<const int64_t> extents) {
  if (std::ranges::find(extents, 0) != extents.end()) return 0;
  int64_t count = 1;
  for (const int64_t extent : extents) {
    if (extent < 0 || __builtin_mul_overflow(count, extent, &count) || count > INT64_MAX / 2) return std::nullopt;
  }
  return count;
}

std::size_t stored_bytes(const DataType& type) { return type.is_string() ? sizeof(onnxc_string) : type.bytes; }

const char* reason(int32_t status) {
  switch (status) {
    case ONNXC_BAD_DIMENSION: return "a dimension is out of its bounds, or dimensions do not fit together";
    case ONNXC_INDEX_OUT_OF_RANGE: return "an index among the data is out of range";
    case ONNXC_BAD_VALUE: return "no result is defined for these data";
    case ONNXC_TRIP_LIMIT: return "a loop ran longer than it may";
    case ONNXC_OUT_OF_MEMORY: return "there is not enough memory for this run";
    default: return "the run failed";
  }
}

/// Data that end a run are the client's; all else is not.
unsigned http_status(int32_t status) {
  switch (status) {
    case ONNXC_BAD_DIMENSION:
    case ONNXC_INDEX_OUT_OF_RANGE:
    case ONNXC_BAD_VALUE:
    case ONNXC_TRIP_LIMIT: return kBadRequest;
    case ONNXC_OUT_OF_MEMORY: return kNoRoom;
    default: return kFailed;
  }
}

RequestError too_large(const Limits& limits) {
  return {kTooLarge, "a run of this size needs more than " + std::to_string(limits.run_bytes) + " bytes of memory"};
}

}  // namespace

void* Buffer::room(std::size_t bytes) {
  if (bytes <= bytes_ && block_) return block_.get();
  block_.reset();
  bytes_ = 0;
  block_.reset(::operator new(std::max<std::size_t>(bytes, 64), std::align_val_t(64), std::nothrow));
  if (!block_) throw RequestError(kNoRoom, "there is not enough memory for this run");
  bytes_ = bytes;
  return block_.get();
}

Servable::Servable(const onnxc_model& unit, std::shared_ptr<const void> library, Limits limits)
    : unit_(unit), library_(std::move(library)), limits_(limits) {
  if (unit.device != ONNXC_CPU) throw std::runtime_error("it is for a GPU, and only units for processors are served");
  if (unit.output_states != nullptr)
    throw std::runtime_error("it keeps states between runs, and requests have none: compile it without --state");
  for (int32_t k = 0; k < unit.input_count; ++k) inputs_.push_back(tensor_of(unit.inputs[k], "input"));
  for (int32_t k = 0; k < unit.output_count; ++k) outputs_.push_back(tensor_of(unit.outputs[k], "output"));
  batch_symbol_ = common_first_symbol(inputs_, outputs_);
}

Job Servable::make_job(std::shared_ptr<InferRequest> request) const {
  Job job;
  job.symbols.assign(static_cast<std::size_t>(unit_.symbol_count), -1);
  std::vector<InputTensor> ordered;
  for (const Tensor& wanted : inputs_) {
    const auto given = std::ranges::find(request->inputs, wanted.name, &InputTensor::name);
    if (given == request->inputs.end()) throw RequestError(kBadRequest, "input '" + wanted.name + "' is missing");
    const std::string who = "input '" + wanted.name + "': ";
    if (given->type != wanted.type)
      throw RequestError(kBadRequest,
                         who + "datatype " + std::string(given->type->name) + ", and the model has " + std::string(wanted.type->name));
    if (given->shape.size() != wanted.shape.size())
      throw RequestError(
          kBadRequest, who + "shape " + shape_text(given->shape) + ", and the model has " + std::to_string(wanted.shape.size()) + " axes");
    for (std::size_t axis = 0; axis < wanted.shape.size(); ++axis) {
      const int64_t extent = given->shape[axis], expected = wanted.shape[axis];
      const std::string where = who + "shape " + shape_text(given->shape) + ": axis " + std::to_string(axis);
      if (expected >= 0 && extent != expected) throw RequestError(kBadRequest, where + " is " + std::to_string(expected) + " in the model");
      if (expected >= 0 || expected == INT64_MIN) continue;
      const auto k = static_cast<std::size_t>(-1 - expected);
      const onnxc_symbol_info& symbol = unit_.symbols[k];
      if (job.symbols[k] >= 0 && job.symbols[k] != extent)
        throw RequestError(kBadRequest,
                           where + " is '" + symbol.name + "', which is " + std::to_string(job.symbols[k]) + " elsewhere in this request");
      if (extent < symbol.min || extent > symbol.max)
        throw RequestError(kBadRequest, where + " is '" + symbol.name + "', which lies between " + std::to_string(symbol.min) + " and " +
                                            std::to_string(symbol.max));
      job.symbols[k] = extent;
    }
    ordered.push_back(std::move(*given));
    given->name.clear();  // a name that is given twice is found as one too many
    ordered.back().name = wanted.name;
  }
  if (ordered.size() != request->inputs.size())
    throw RequestError(kBadRequest, "the model has " + std::to_string(inputs_.size()) + " inputs, and the request " +
                                        std::to_string(request->inputs.size()));
  std::set<std::string_view> asked;
  for (const WantedOutput& output : request->outputs) {
    if (!asked.insert(output.name).second) throw RequestError(kBadRequest, "output '" + output.name + "' is asked for twice");
    if (std::ranges::find(outputs_, output.name, &Tensor::name) == outputs_.end())
      throw RequestError(kBadRequest, "the model has no output '" + output.name + "'");
  }
  request->inputs = std::move(ordered);
  if (batch_symbol_ >= 0) job.rows = job.symbols[static_cast<std::size_t>(batch_symbol_)];
  job.request = std::move(request);
  return job;
}

const void* Servable::joined_input(std::span<Job* const> jobs, std::size_t k, Buffer& room) const {
  const DataType& type = *inputs_[k].type;
  const InputTensor& first = jobs[0]->request->inputs[k];
  if (jobs.size() == 1) {
    if (type.is_string()) return first.strings.data();
    if (reinterpret_cast<std::uintptr_t>(first.data) % type.bytes == 0) return first.data;
  }
  std::size_t bytes = 0;
  for (const Job* job : jobs) bytes += static_cast<std::size_t>(job->request->inputs[k].count) * stored_bytes(type);
  char* const begin = static_cast<char*>(room.room(bytes));
  char* to = begin;
  for (const Job* job : jobs) {
    const InputTensor& input = job->request->inputs[k];
    const std::size_t part = static_cast<std::size_t>(input.count) * stored_bytes(type);
    if (part > 0) std::memcpy(to, type.is_string() ? static_cast<const void*>(input.strings.data()) : input.data, part);
    to += part;
  }
  return begin;
}

std::shared_ptr<const RunResult> Servable::run_joined(std::span<Job* const> jobs, Workspace& workspace) const {
  std::vector<int64_t> symbols = jobs[0]->symbols;
  if (batch_symbol_ >= 0) {
    int64_t rows = 0;
    for (const Job* job : jobs) rows += job->rows;
    symbols[static_cast<std::size_t>(batch_symbol_)] = rows;
  }
  const auto result = std::make_shared<RunResult>();
  for (const Job* job : jobs) result->requests.push_back(job->request);
  workspace.inputs.resize(inputs_.size());
  std::vector<const void*> inputs;
  for (std::size_t k = 0; k < inputs_.size(); ++k) inputs.push_back(joined_input(jobs, k, workspace.inputs[k]));

  const std::size_t arena_bytes = unit_.arena_bytes(symbols.data());
  std::array<char, 512> message{};
  const std::size_t outputs = outputs_.size();
  std::vector<void*> pointers(outputs);
  std::vector<int64_t*> shapes(outputs);
  std::vector<onnxc_value> values(outputs);
  result->buffers.resize(outputs);
  std::size_t taken = 0;
  if (arena_bytes != SIZE_MAX) {  // else the run refuses the dimensions, and says which
    taken = arena_bytes;
    const auto take = [&](std::size_t more) {
      if (__builtin_add_overflow(taken, more, &taken) || taken > limits_.run_bytes) throw too_large(limits_);
    };
    take(0);
    for (std::size_t k = 0; k < outputs; ++k) {
      RunResult::Output output{outputs_[k].type, std::vector<int64_t>(outputs_[k].shape.size()), nullptr};
      if (outputs_[k].form != ONNXC_VALUE) {
        unit_.output_shape(symbols.data(), static_cast<int32_t>(k), output.shape.data());
        const std::optional<int64_t> count = product(output.shape);
        std::size_t size = 0;
        if (!count || __builtin_mul_overflow(static_cast<std::size_t>(*count), stored_bytes(*output.type), &size)) size = SIZE_MAX;
        take(size);
        pointers[k] = result->buffers[k].room(size);
        output.data = pointers[k];
      } else {
        pointers[k] = &values[k];
      }
      result->outputs.push_back(std::move(output));
      if (outputs_[k].form == ONNXC_BOUNDED) shapes[k] = result->outputs[k].shape.data();
    }
  } else {
    static char nowhere[64];  // is not written to: the run ends before
    for (std::size_t k = 0; k < outputs; ++k) pointers[k] = outputs_[k].form == ONNXC_VALUE ? static_cast<void*>(&values[k]) : nowhere;
  }
  result->memory.limit(limits_.run_bytes - std::min(taken, limits_.run_bytes));
  onnxc_call call{};
  call.symbols = symbols.data();
  call.inputs = inputs.data();
  call.outputs = pointers.data();
  call.output_shapes = shapes.data();
  call.arena_bytes = arena_bytes == SIZE_MAX ? 0 : arena_bytes;
  call.arena = workspace.arena.room(call.arena_bytes + unit_.arena_alignment);  // 64 or more is asked for on huge pages only
  call.arena = reinterpret_cast<void*>((reinterpret_cast<std::uintptr_t>(call.arena) + unit_.arena_alignment - 1) / unit_.arena_alignment *
                                       unit_.arena_alignment);
  call.executor = workspace.executor;
  call.allocator = unit_.needs_allocator != 0 ? &result->memory.allocator() : nullptr;
  call.message = message.data();
  call.message_bytes = message.size();
  if (const int32_t status = unit_.run(&call); status != ONNXC_OK) {
    if (status == ONNXC_OUT_OF_MEMORY && result->memory.is_exhausted()) throw too_large(limits_);
    throw RequestError(http_status(status), message[0] != '\0' ? message.data() : reason(status));
  }
  for (std::size_t k = 0; k < outputs; ++k) {
    if (outputs_[k].form != ONNXC_VALUE) continue;
    result->outputs[k].shape.assign(values[k].shape, values[k].shape + values[k].rank);
    result->outputs[k].data = values[k].data;
  }
  return result;
}

void Servable::run(std::span<Job* const> jobs, Workspace& workspace) const {
  try {
    const std::shared_ptr<const RunResult> result = run_joined(jobs, workspace);
    int64_t rows = 0, all = 0;
    for (const Job* job : jobs) all += job->rows;
    for (Job* job : jobs) {
      job->result = result;
      job->first_row = rows;
      job->all_rows = all;
      rows += job->rows;
    }
  } catch (const RequestError& error) {
    // What one of them has done must not end the others.
    if (jobs.size() > 1) {
      for (Job* const job : jobs) run(std::span(&job, 1), workspace);
      return;
    }
    jobs[0]->error = error;
  } catch (const std::bad_alloc&) {
    jobs[0]->error = RequestError(kNoRoom, "there is not enough memory for this run");
    for (Job* const job : jobs) job->error = jobs[0]->error;
  }
}

}  // namespace onnxc::serving
