// A decoder that onnxc compiled with --state auto, whatever its layers and sizes: what it is comes from its C description (onnxc/model.h).
//
// Inputs that are known: input_ids [batch, sequence], attention_mask [batch, total], position_ids [batch, sequence], and states. There is
// one sequence. Caches are of one of two kinds, as the model has it:
//
//   they grow     past rows before a run, past + sequence after it; the room behind them is not seen
//   they stay     the model has their capacity as its past, and knows by attention_mask how much of them is filled
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "onnxc/model.h"

class Decoder {
 public:
  /// capacity: of the caches, in tokens. Bounds of the model's dimensions may make it less.
  Decoder(const onnxc_model& model, std::int64_t capacity, const onnxc_executor* executor = nullptr)
      : model_(model), executor_(executor), symbols_(static_cast<std::size_t>(model.symbol_count)) {
    if (model.struct_bytes < sizeof(onnxc_model) || model.output_states == nullptr) fail("it has no states; compile it with --state=auto");
    bind_inputs();
    bind_outputs();
    piece_ = std::min(kPiece, largest_[kSequence]);
    capacity_ = std::min({capacity, largest_[kPast], largest_[kTotal]});
    if (capacity_ < 1) fail("there is no room for a token");
    piece_ = std::min(piece_, capacity_);
    for (State& state : states_) {
      set(1, 0);
      values_[kPast] = capacity_;
      fill_symbols();
      state.room.resize(bytes(model_.inputs[state.input]));
    }
    logits_.resize(static_cast<std::size_t>(piece_ * vocabulary_));
    for (const std::int64_t count : {piece_, std::int64_t{1}}) {  // the largest runs; a run takes more if it has to
      set(count, capacity_ - count);
      arena();
    }
  }

  std::int64_t vocabulary() const { return vocabulary_; }
  std::int64_t capacity() const { return capacity_; }
  std::int64_t size() const { return size_; }
  void reset() { size_ = 0; }

  /// Runs the model on tokens behind those that were there, in pieces of a fixed size, which bounds the memory of a run. Gives the logits of
  /// what comes next, which stay until the next call.
  std::span<const float> append(std::span<const std::int64_t> tokens) {
    if (tokens.empty()) throw std::invalid_argument("there is no token to begin with");
    if (static_cast<std::int64_t>(tokens.size()) > capacity_ - size_)
      throw std::length_error(std::to_string(tokens.size()) + " tokens are too many: there is room for " +
                              std::to_string(capacity_ - size_));
    for (const std::int64_t id : tokens) {
      if (id < 0 || id >= vocabulary_)
        throw std::out_of_range("token " + std::to_string(id) + " is none of the model's " + std::to_string(vocabulary_));
    }
    std::size_t last = 0;
    while (!tokens.empty()) {
      const std::size_t count = std::min(tokens.size(), static_cast<std::size_t>(piece_));
      run(tokens.first(count));
      tokens = tokens.subspan(count);
      last = count - 1;
    }
    return std::span<const float>(logits_).subspan(last * static_cast<std::size_t>(vocabulary_), static_cast<std::size_t>(vocabulary_));
  }

 private:
  static constexpr std::int64_t kPiece = 64;
  enum Extent : std::size_t { kBatch, kSequence, kTotal, kPast, kExtents };
  struct State {
    std::int32_t input, output;
    std::vector<std::byte> room;
  };

  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error("the model '" + std::string(model_.name) + "': " + what);
  }

  /// The extent of an axis is one of ours: the symbol takes its value in each run, and its bounds hold for it.
  void is(Extent extent, std::int64_t dim) {
    if (dim >= 0) {
      if (extent != kBatch || dim != 1) largest_[extent] = std::min(largest_[extent], dim);
      if (extent == kBatch && dim != 1) fail("its batch is " + std::to_string(dim) + ", and there is one text");
      if (extent == kSequence && dim != 1)
        fail("it takes " + std::to_string(dim) + " tokens in each run; leave 'sequence' open, or let it be 1");
    } else if (dim != std::numeric_limits<std::int64_t>::min()) {
      const auto k = static_cast<std::size_t>(-1 - dim);
      if (meaning_.size() <= k) meaning_.resize(symbols_.size(), kExtents);
      if (meaning_[k] != kExtents) return;
      meaning_[k] = extent;
      largest_[extent] = std::min(largest_[extent], model_.symbols[k].max);
    }
  }

  void bind_inputs() {
    for (std::int32_t i = 0; i < model_.input_count; ++i) {
      const onnxc_tensor_info& input = model_.inputs[i];
      const std::string_view name = input.name;
      const std::int32_t* const states_end = model_.output_states + model_.output_count;
      const auto state = std::find(model_.output_states, states_end, i);
      if (state != states_end) {
        states_.push_back({i, static_cast<std::int32_t>(state - model_.output_states), {}});
      } else if (name == "input_ids" || name == "attention_mask" || name == "position_ids") {
        constexpr std::int32_t kInt64 = 7;
        if (input.rank != 2 || input.elem_type != kInt64) fail("its input '" + std::string(name) + "' is no int64 [batch, sequence]");
        is(kBatch, input.shape[0]);
        is(name == "attention_mask" ? kTotal : kSequence, input.shape[1]);
      } else {
        fail("nobody knows what its input '" + std::string(name) + "' is");
      }
    }
    for (const State& state : states_) {
      const onnxc_tensor_info& input = model_.inputs[state.input];
      for (std::int32_t axis = 0; axis < input.rank; ++axis) {
        if (input.shape[axis] < 0) is(kPast, input.shape[axis]);  // what is no symbol of other inputs
      }
    }
    meaning_.resize(symbols_.size(), kExtents);
    if (std::find(meaning_.begin(), meaning_.end(), kExtents) != meaning_.end()) fail("one of its dimensions is unknown");
    if (std::find(meaning_.begin(), meaning_.end(), kPast) == meaning_.end()) fail("no state of it is a cache that grows with the text");
  }

  void bind_outputs() {
    for (std::int32_t k = 0; k < model_.output_count; ++k) {
      constexpr std::int32_t kFloat = 1;
      const onnxc_tensor_info& output = model_.outputs[k];
      if (model_.output_states[k] >= 0) continue;
      if (logits_at_ >= 0 || output.rank != 3 || output.elem_type != kFloat || output.shape[2] <= 0)
        fail("its output '" + std::string(output.name) + "' is no float [batch, sequence, vocabulary], or there are two");
      logits_at_ = k;
      vocabulary_ = output.shape[2];
    }
    if (logits_at_ < 0) fail("it has no logits");
    // With 8 places that are all filled after a run of one token, a cache that stays has 8. In one that grows they would be 9.
    const std::int64_t places = std::min({std::int64_t{8}, largest_[kPast], largest_[kTotal]});
    values_ = {1, 1, places, places};
    fill_symbols();
    std::array<std::int64_t, ONNXC_MAX_RANK> before{}, after{};
    const State& state = states_.front();
    extents(model_.inputs[state.input], before.data());
    model_.output_shape(symbols_.data(), state.output, after.data());
    stays_ = before == after;
  }

  /// The dimensions of a run of `count` tokens behind `before`.
  void set(std::int64_t count, std::int64_t before) {
    values_ = {1, count, before + count, stays_ ? capacity_ : before};
    fill_symbols();
  }
  void fill_symbols() {
    for (std::size_t k = 0; k < symbols_.size(); ++k) symbols_[k] = values_[meaning_[k]];
  }

  void extents(const onnxc_tensor_info& tensor, std::int64_t* result) const {
    for (std::int32_t axis = 0; axis < tensor.rank; ++axis) {
      const std::int64_t dim = tensor.shape[axis];
      if (dim == std::numeric_limits<std::int64_t>::min()) fail("an extent of its input '" + std::string(tensor.name) + "' is no symbol");
      result[axis] = dim >= 0 ? dim : symbols_[static_cast<std::size_t>(-1 - dim)];
    }
  }
  std::size_t bytes(const onnxc_tensor_info& tensor) const {
    std::array<std::int64_t, ONNXC_MAX_RANK> shape{};
    extents(tensor, shape.data());
    std::size_t element = 0;
    switch (tensor.elem_type) {
      case 1: element = 4; break;  // f32
      case 10:
      case 16: element = 2; break;  // f16, bf16
      case 2:
      case 3: element = 1; break;  // u8, i8
      default: fail("its state '" + std::string(tensor.name) + "' has elements of a kind that is not known here");
    }
    return std::accumulate(shape.begin(), shape.begin() + tensor.rank, element,
                           [](std::size_t n, std::int64_t d) { return n * static_cast<std::size_t>(d); });
  }

  /// Memory for a run with the dimensions that are set.
  std::byte* arena() {
    const std::size_t alignment = model_.arena_alignment, needed = model_.arena_bytes(symbols_.data());
    if (needed == std::numeric_limits<std::size_t>::max())
      fail("it refuses " + std::to_string(values_[kSequence]) + " tokens behind " + std::to_string(size_));
    if (needed > arena_bytes_) {
      arena_bytes_ = (needed + alignment - 1) / alignment * alignment;
      arena_.reset(static_cast<std::byte*>(std::aligned_alloc(alignment, arena_bytes_)));
      if (arena_ == nullptr) throw std::bad_alloc();
    }
    return arena_.get();
  }

  void run(std::span<const std::int64_t> tokens) {
    const auto count = static_cast<std::int64_t>(tokens.size());
    set(count, size_);
    mask_.assign(static_cast<std::size_t>(size_ + count), 1);
    positions_.resize(tokens.size());
    std::iota(positions_.begin(), positions_.end(), size_);

    std::vector<const void*> inputs(static_cast<std::size_t>(model_.input_count));
    std::vector<void*> outputs(static_cast<std::size_t>(model_.output_count));
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const std::string_view name = model_.inputs[i].name;
      inputs[i] = name == "input_ids" ? tokens.data() : name == "attention_mask" ? mask_.data() : positions_.data();
    }
    outputs[static_cast<std::size_t>(logits_at_)] = logits_.data();
    for (State& state : states_) {
      inputs[static_cast<std::size_t>(state.input)] = state.room.data();
      outputs[static_cast<std::size_t>(state.output)] = state.room.data();
    }

    std::array<char, 512> message{};
    onnxc_call call{};
    call.symbols = symbols_.data();
    call.inputs = inputs.data();
    call.outputs = outputs.data();
    call.arena = arena();
    call.arena_bytes = arena_bytes_;
    call.executor = executor_;
    call.message = message.data();
    call.message_bytes = message.size();
    if (model_.run(&call) != ONNXC_OK) fail(message.data());
    size_ += count;
  }

  const onnxc_model& model_;
  const onnxc_executor* executor_;
  std::vector<std::int64_t> symbols_;
  std::vector<Extent> meaning_;                  // of each symbol
  std::array<std::int64_t, kExtents> values_{};  // of a run
  std::array<std::int64_t, kExtents> largest_{std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::max(),
                                              std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::max()};
  std::vector<State> states_;
  std::int32_t logits_at_ = -1;
  bool stays_ = false;  // caches have the same extents before and after a run
  std::int64_t vocabulary_ = 0, capacity_ = 0, piece_ = 0, size_ = 0;
  std::vector<float> logits_;
  std::vector<std::int64_t> mask_, positions_;
  std::unique_ptr<std::byte, decltype(&std::free)> arena_{nullptr, &std::free};
  std::size_t arena_bytes_ = 0;
};
