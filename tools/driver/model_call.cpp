#include "tools/driver/model_call.h"

#include <fmt/format.h>
#include <onnxc/base.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>

#include "compiler/support/error_codes.h"

namespace onnxc {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr int64_t kNotBound = INT64_MIN;

ElementType element_type(const onnxc_tensor_info& tensor) {
  const auto type = element_type_numbered(tensor.elem_type);
  if (!type) throw Error(ErrorKind::Internal, fmt::format("'{}' has element type {}", tensor.name, tensor.elem_type));
  return *type;
}

/// Throws SizeOverflow.
std::size_t bytes_of(ElementType type, int64_t count) {
  return static_cast<std::size_t>(type == ElementType::String ? checked_mul(count, int64_t{sizeof(onnxc_string)})
                                                              : storage_bytes(type, count));
}

/// The bytes of an output of that shape.
std::size_t output_bytes(const onnxc_tensor_info& output, const std::vector<int64_t>& shape) {
  try {
    int64_t count = 1;
    for (int64_t d : shape) count = checked_mul(count, d);
    if (std::ranges::none_of(shape, [](int64_t d) { return d < 0; })) return bytes_of(element_type(output), count);
  } catch (const SizeOverflow&) {  // as impossible as a negative extent
  }
  throw Error(ErrorKind::Invalid, fmt::format("output '{}' gets an impossible shape", output.name));
}

/// The content of the arena before the first run: NaN in every floating-point type, so that reads of unwritten bytes
/// show.
constexpr std::byte kUnwritten{0xff};

}  // namespace

ModelCall::ModelCall(const onnxc_model& model, std::span<const HostValue* const> inputs, const onnxc_executor* executor)
    : model_(model), symbols_(static_cast<std::size_t>(model.symbol_count), kNotBound), arena_(0, 1, kUnwritten) {
  bind_inputs(inputs);
  const std::size_t arena_bytes = model.arena_bytes(symbols_.data());
  const bool refused = arena_bytes == SIZE_MAX;  // `run` says why, before it touches anything
  for (int32_t k = 0; k < model.output_count; ++k) {
    const onnxc_tensor_info& wanted = model.outputs[k];
    std::vector<int64_t>& shape = shapes_.emplace_back(static_cast<std::size_t>(std::max(wanted.rank, 0)));
    shape.reserve(1);  // gives a pointer even for scalars
    if (wanted.form == ONNXC_VALUE) {
      outputs_.emplace_back(sizeof(onnxc_value), kAlignment, kUnwritten);
    } else {
      model.output_shape(symbols_.data(), k, shape.data());
      outputs_.emplace_back(refused ? 0 : output_bytes(wanted, shape), kAlignment, kUnwritten);
    }
    output_pointers_.push_back(outputs_.back().data());
  }
  share_states();
  for (std::vector<int64_t>& shape : shapes_) shape_pointers_.push_back(shape.data());
  arena_ = GuardedBuffer(refused ? 0 : arena_bytes, model.arena_alignment, kUnwritten);
  call_ = {symbols_.data(), input_pointers_.data(), output_pointers_.data(), shape_pointers_.data(), arena_.data(), arena_.size(),
           executor,        &memory_.allocator(),   message_.data(),         message_.size()};
}

void ModelCall::share_states() {
  constexpr auto kBefore = offsetof(onnxc_model, output_states);
  if (model_.struct_bytes <= kBefore || model_.output_states == nullptr) return;
  for (std::size_t k = 0; k < outputs_.size(); ++k) {
    if (model_.output_states[k] < 0) continue;
    const void*& past = input_pointers_[static_cast<std::size_t>(model_.output_states[k])];
    const auto given = std::ranges::find(inputs_, past, &GuardedBuffer::data);
    if (given != inputs_.end() && given->size() > 0) std::memcpy(outputs_[k].data(), past, std::min(given->size(), outputs_[k].size()));
    past = outputs_[k].data();
  }
}

std::set<std::string> names_of_several_extents(const onnxc_model& model, std::span<const HostValue* const> inputs) {
  std::map<int64_t, int64_t> extents;  // of symbols, as numbered in shapes
  std::set<std::string> names;
  for (std::size_t k = 0; k < inputs.size() && k < static_cast<std::size_t>(model.input_count); ++k) {
    const onnxc_tensor_info& wanted = model.inputs[k];
    const std::vector<int64_t>& shape = inputs[k]->tensor.shape;
    if (wanted.form == ONNXC_VALUE || shape.size() != static_cast<std::size_t>(wanted.rank)) continue;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      const int64_t symbol = wanted.shape[axis];
      if (symbol < 0 && symbol != INT64_MIN && extents.emplace(symbol, shape[axis]).first->second != shape[axis])
        names.insert(model.symbols[-1 - symbol].name);
    }
  }
  return names;
}

void ModelCall::bind_inputs(std::span<const HostValue* const> inputs) {
  if (inputs.size() != static_cast<std::size_t>(model_.input_count)) {
    throw Error(ErrorCode::DataMisfit, fmt::format("the model takes {} inputs, {} were given", model_.input_count, inputs.size()));
  }
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const onnxc_tensor_info& wanted = model_.inputs[k];
    const HostValue* given = inputs[k];
    while (wanted.kind != ONNXC_OPTIONAL && given->kind == ValueKind::Optional && given->items.size() == 1) given = &given->items[0];
    if (wanted.form != ONNXC_VALUE) {
      if (given->kind != ValueKind::Tensor)
        throw Error(ErrorCode::DataMisfit, fmt::format("input '{}' was given {}: it is a tensor", wanted.name, describe(*given)));
      bind_tensor(wanted, given->tensor);
      input_pointers_.push_back(inputs_.back().data());
      continue;
    }
    const auto kind = static_cast<ValueKind>(wanted.kind);
    if (kind == ValueKind::Optional && given->kind != ValueKind::Optional) {
      values_.emplace_back(HostValue{ValueKind::Optional, {}, {}, {*given}});
    } else if (kind == given->kind) {
      values_.emplace_back(*given);
    } else {
      throw Error(ErrorCode::DataMisfit, fmt::format("input '{}' was given {}: it is of another kind", wanted.name, describe(*given)));
    }
    input_pointers_.push_back(values_.back().get());
  }
  for (std::size_t s = 0; s < symbols_.size(); ++s) {
    if (symbols_[s] == kNotBound) symbols_[s] = model_.symbols[s].min;  // no input has it
  }
}

void ModelCall::bind_tensor(const onnxc_tensor_info& wanted, const TensorData& given) {
  const auto misfit = [&](const std::string& why) {
    return Error(ErrorCode::DataMisfit, fmt::format("input '{}' was given {}: {}", wanted.name, describe(given), why));
  };
  const bool bits_of_bf16 =
      given.type == ElementType::U16 && element_type(wanted) == ElementType::BF16;  // how ONNX's tests held bfloat16 before 1.13
  if (element_type(wanted) != given.type && !bits_of_bf16) throw misfit(fmt::format("its type is {}", name(element_type(wanted))));
  if (static_cast<std::size_t>(wanted.rank) != given.shape.size()) throw misfit(fmt::format("it has {} dimensions", wanted.rank));
  for (std::size_t axis = 0; axis < given.shape.size(); ++axis) {
    const int64_t extent = wanted.shape[axis], actual = given.shape[axis];
    if (extent >= 0 && extent != actual) throw misfit(fmt::format("dimension {} is {}", axis, extent));
    if (extent >= 0 || extent == INT64_MIN) continue;
    const auto symbol = static_cast<std::size_t>(-1 - extent);
    const onnxc_symbol_info& info = model_.symbols[symbol];
    if (symbols_[symbol] != kNotBound && symbols_[symbol] != actual)
      throw misfit(fmt::format("{0} is {1} elsewhere; where that name stands for extents that differ, compile with --dim {0}=*", info.name,
                               symbols_[symbol]));
    if (actual < info.min || actual > info.max) throw misfit(fmt::format("{} lies in {}..{}", info.name, info.min, info.max));
    symbols_[symbol] = actual;
  }
  const auto copy = [&](const void* from, std::size_t bytes) {
    inputs_.emplace_back(bytes, kAlignment, std::byte{0});
    if (bytes > 0) std::memcpy(inputs_.back().data(), from, bytes);
  };
  if (given.type != ElementType::String) return copy(given.bytes.data(), given.bytes.size());
  const std::vector<onnxc_string> strings = to_abi(strings_.emplace_back(given.strings));
  copy(strings.data(), strings.size() * sizeof(onnxc_string));
}

int32_t ModelCall::run_in_session() {
  if (session_ == nullptr) {
    onnxc_session* opened = nullptr;
    if (const int32_t code = model_.open(nullptr, &opened, message_.data(), message_.size()); code != ONNXC_OK) return code;
    session_ = {opened, model_.close};
  }
  return model_.run_in(session_.get(), &call_);
}

HostValue ModelCall::output(int32_t k) const {
  const auto at = static_cast<std::size_t>(k);
  const std::byte* const data = outputs_[at].data();
  if (model_.outputs[k].form == ONNXC_VALUE) {
    onnxc_value value;
    std::memcpy(&value, data, sizeof(value));
    return to_host(value);
  }
  TensorData tensor{element_type(model_.outputs[k]), shapes_[at], {}, {}};
  const std::size_t bytes = bytes_of(tensor.type, tensor.count());
  if (bytes > outputs_[at].size()) {
    throw Error(ErrorKind::Internal,
                fmt::format("output '{}' has the shape of {}, more than output_shape said", model_.outputs[k].name, describe(tensor)));
  }
  if (tensor.type == ElementType::String)
    tensor.strings = to_host(reinterpret_cast<const onnxc_string*>(data), bytes / sizeof(onnxc_string));
  else tensor.bytes.assign(data, data + bytes);
  return HostValue::of(std::move(tensor));
}

std::string ModelCall::find_stray_write() const {
  for (std::size_t k = 0; k < outputs_.size(); ++k) {
    if (!outputs_[k].is_intact()) return fmt::format("bytes behind output '{}' were written", model_.outputs[k].name);
  }
  for (const GuardedBuffer& input : inputs_) {
    if (!input.is_intact()) return "bytes behind an input were written";
  }
  return arena_.is_intact() ? "" : "bytes behind the arena were written";
}

}  // namespace onnxc
