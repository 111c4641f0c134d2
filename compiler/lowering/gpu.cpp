// Lowerer's part for GPUs: which steps run there, and how values get from one memory to the other.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "compiler/lowering/lowerer.h"
#include "compiler/support/error_codes.h"

namespace onnxc {

Device Lowerer::device_of(const Node& node) const {
  const auto known = devices_.find(&node);
  return known == devices_.end() ? Device::Cpu : known->second;
}

void Lowerer::need_host(std::string why) {
  if (device_ == Device::Cpu) return;
  if (node_ == nullptr) throw Error(ErrorCode::NotOnGpu, why, "compile it for a processor");
  refused_by_gpu_.emplace(node_, std::move(why));
}

void Lowerer::check_values(const Scope& scope, const Node& node) {
  for (const auto* values : {&node.inputs, &node.outputs}) {
    for (ValueId v : *values) {
      if (v == kAbsent) continue;
      const Value& value = (*scope.graph)[v];
      if (!fits_gpu(value.type)) need_host(fmt::format("'{}' is {}", value.name, value.type.text()));
    }
  }
}

void Lowerer::run_on_gpu(decltype(Step::action)& action) {
  auto* const call = std::get_if<Call>(&action);
  if (call == nullptr) {
    const bool is_of_extents = std::holds_alternative<Declare>(action) || std::holds_alternative<Assign>(action) ||
                               std::holds_alternative<Require>(action) || std::holds_alternative<StoreShape>(action);
    if (std::holds_alternative<If>(action) || std::holds_alternative<Loop>(action)) need_host("the host runs branches and loops");
    else if (std::holds_alternative<Bind>(action)) need_host("the host must know its values, which are extents");
    else if (!is_of_extents) need_host("its memory comes from the caller's allocator");
    return;
  }
  const Kernel& kernel = find_kernel(call->kernel);
  if (kernel.runs_on == RunsOn::Cpu) return need_host(fmt::format("{} runs on processors only", kernel.name));
  if (!call->binds.empty()) return need_host("the host must know the extents of its result");
  call->device = Device::Gpu;
  call->divisible = kernel.divisible;
  if (kernel.runs_on != RunsOn::Any) return;
  call->items = 1;
  if (!kernel.parallel && !kernel.divisible) return;
  // As many threads as the largest result has elements. Kernels that share out lines or pixels leave some of them idle.
  // Where threads need scratch memory, there are as many of them as have some.
  const Step step{action};
  Dim items = 1;
  std::optional<Dim> shares;
  for_each_pointer(step, [&](const PointerArg& p) {
    if (!p.writes) return;
    if (const auto scratch = shares_of_scratch_.find(p.buffer); scratch != shares_of_scratch_.end())
      shares = shares ? min(*shares, scratch->second) : scratch->second;
    else items = max(items, element_count(program_[p.buffer].extents));
  });
  call->items = shares ? max(min(items, *shares), 1) : items;
}

void Lowerer::transfer(Scope& scope, ValueId value, const View& from) {
  const Value& v = (*scope.graph)[value];
  if (!fits_gpu(v.type) || program_[from.pointer.buffer].is_value) return need_host(fmt::format("'{}' is {}", v.name, v.type.text()));
  const View to = define(scope, value, from.layout);
  const bool up = device_ == Device::Gpu;
  Call call = call_of(find_kernel(up ? "to_device" : "to_host"));
  call.device = Device::Gpu;
  call.bytes = storage_elements(v.type.extents, from.layout) * (held_bits(v.type.element) / 8);
  call.args = {to.pointer, from.pointer, DimArg{call.bytes}};
  set_cost_of_moving(call);
  steps_->push_back({std::move(call), fmt::format("{}: to the {}", v.name, up ? "GPU" : "host"), value_});
}

}  // namespace onnxc
