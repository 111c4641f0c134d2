// Lowerer's buffers: how they are created, and the steps that allocate and release those of the caller's allocator.
#include <fmt/format.h>

#include "compiler/lowering/lowerer.h"
#include "compiler/support/error_codes.h"

namespace onnxc {

BufferId Lowerer::add_buffer(Buffer buffer) {
  if (buffer.parent >= 0) buffer.device = program_[buffer.parent].device;
  else if (buffer.space == Buffer::Space::Arena || buffer.space == Buffer::Space::Weights) buffer.device = device_;
  program_.buffers.push_back(std::move(buffer));
  return static_cast<BufferId>(program_.buffers.size()) - 1;
}

PointerArg Lowerer::add_weights(Weights weights) {
  const auto is_same = [&](BufferId id) {
    const Weights& other = program_.weights[static_cast<std::size_t>(program_[id].index)];
    if (program_[id].device != device_ || other.element != weights.element || (other.strings == nullptr) != (weights.strings == nullptr))
      return false;
    return weights.strings ? *other.strings == *weights.strings : other.bytes == weights.bytes;
  };
  std::vector<BufferId>& alike = weights_by_digest_[weights.bytes.digest()];
  if (const auto known = std::ranges::find_if(alike, is_same); known != alike.end()) return {*known, false, 0, weights.element};
  const auto number = program_.weights.size();
  const auto size = static_cast<int64_t>(weights.bytes.size());
  const int64_t count = weights.strings ? static_cast<int64_t>(weights.strings->size()) : size * 8 / held_bits(weights.element);
  weights.name = fmt::format("w{}", number);
  alike.push_back(add_buffer({.name = weights.from,
                              .space = Buffer::Space::Weights,
                              .element = weights.element,
                              .extents = {count},
                              .bytes = weights.strings ? storage_bytes(weights.element, count) : size,
                              .index = static_cast<int>(number)}));
  program_.weights.push_back(std::move(weights));
  return {alike.back(), false, 0, program_.weights.back().element};
}

PointerArg Lowerer::add_weights(const std::string& from, ElementType element, WeightBytes bytes, std::optional<int64_t> wide_bytes) {
  return add_weights({.name = {}, .from = from, .element = element, .bytes = std::move(bytes), .wide_bytes = wide_bytes});
}

PointerArg Lowerer::add_weights(const std::string& from, const TensorData& tensor) {
  if (tensor.type != ElementType::String) return add_weights(from, tensor.type, tensor.bytes);
  return add_weights(
      {.name = {}, .from = from, .element = tensor.type, .strings = std::make_shared<const std::vector<std::string>>(tensor.strings)});
}

PointerArg Lowerer::draft_weights(const std::string& from, const Packed& packed, ElementType element) {
  const auto [it, fresh] = drafts_.try_emplace({packed.source.data(), packed.count, element, device_}, -1);
  if (fresh) {
    const auto number = program_.weights.size();
    const int64_t bytes = storage_bytes(element, packed.count);
    Weights weights{.name = fmt::format("w{}", number), .from = from, .element = element, .bytes = WeightBytes::planned(bytes)};
    if (element != ElementType::F32) weights.wide_bytes = storage_bytes(ElementType::F32, packed.count);
    program_.weights.push_back(std::move(weights));
    it->second = add_buffer({.name = from,
                             .space = Buffer::Space::Weights,
                             .element = element,
                             .extents = {packed.count},
                             .bytes = bytes,
                             .index = static_cast<int>(number)});
  }
  return {it->second, false, 0, element};
}

void Lowerer::need_heap(const Node& node) {
  need_host("the size of its memory has no bound before the model runs");
  if (!options_.heap)
    node.fail(ErrorCode::NeedsHeap, "needs memory whose size has no bound before the model runs",
              node.op == "ZipMap" ? "--zipmap=tensor gives the scores as a tensor, without a heap"
                                  : "leave out --no-heap, or state the dimensions it depends on with --dim");
  program_.uses_heap = true;
}

void Lowerer::allocate(BufferId buffer, Dim bytes) {
  const int64_t width = held_bits(program_[buffer].element) / 8;
  emit(Allocate{buffer, floor_div(bytes, width)}, fmt::format("memory of '{}'", program_[buffer].name));
}

BufferId Lowerer::declare(Buffer buffer) {
  const BufferId id = add_buffer(std::move(buffer));
  emit(DeclareBuffer{id}, fmt::format("'{}'", program_[id].name));
  return id;
}

BufferId Lowerer::declare_pointer(Buffer buffer) {
  buffer.space = Buffer::Space::Heap;
  const bool owned = !buffer.borrowed;
  const BufferId id = declare(std::move(buffer));
  if (owned) owned_.push_back(id);
  return id;
}

BufferId Lowerer::declare_object(const Value& value) {
  return declare(
      {.name = value.name, .space = Buffer::Space::Object, .is_value = true, .is_ranked = value.type.ranked, .kind = value.type.kind});
}

BufferId Lowerer::add_storage(Buffer buffer) {
  // Dimensions that contradict each other may lead to negative sizes. A run refuses them, but the plan must hold for
  // them too.
  if (buffer.bytes.min_value() < 0) buffer.bytes = max(buffer.bytes, 0);
  if (!buffer.bytes.depends_on_run()) return add_buffer(std::move(buffer));
  if (const auto most = buffer.bytes.upper_bound()) {
    buffer.bytes = *most;
    return add_buffer(std::move(buffer));
  }
  const auto room = buffer.bytes.upper_bound([&](const std::string& symbol) { return bound_.count(symbol) != 0; });
  ONNXC_CHECK(room, "the size of a heap block is known when it is taken");
  // without a node, an output is written, which needs the heap only if its node did
  if (node_ != nullptr) need_heap(*node_);
  program_.uses_heap = true;
  const BufferId id = declare_pointer(std::move(buffer));
  allocate(id, *room);
  return id;
}

void Lowerer::release_owned() {
  for (BufferId id : owned_) emit(Release{id}, fmt::format("memory of '{}' is given back", program_[id].name));
  owned_.clear();
}

}  // namespace onnxc
