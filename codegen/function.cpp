#include "codegen/function.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/constant_args.h"
#include "codegen/cpp_branches.h"
#include "codegen/cpp_dialect.h"
#include "codegen/cuda_dialect.h"
#include "codegen/regions.h"
#include "codegen/steps.h"
#include "codegen/unit_names.h"
#include "compiler/lowering/memory/plan_regions.h"

namespace onnxc {

FunctionText::FunctionText(const Program& program, const Interface& interface, bool threads, const Profile* profile,
                           const std::map<std::string, std::size_t>* device_weights, bool small_core)
    : program_(program),
      interface_(interface),
      threads_(threads),
      small_core_(small_core),
      profile_(profile),
      device_weights_(device_weights),
      symbol_names_(interface.symbol_names),
      expr_names_(expr_names(program)) {
  for (const std::string_view n : kUnitNames) locals_.add(n);
  if (device_weights_ != nullptr) {
    for (const std::string_view n : kGpuUnitNames) locals_.add(n);
  }
  if (profile_ != nullptr) {
    for (const char* n : Profile::kNames) locals_.add(n);
  }
  for (const std::string& name : expr_names_) locals_.add(name);
  for (std::size_t i = 0; i < program_.branches.size(); ++i) locals_.add(branches_name(static_cast<int>(i)));
  for (const Weights& w : program_.weights) locals_.add(w.name);
  if (!program_.regions.empty()) locals_.add("arenas");
  for_each_step(program_.steps, [&](const Step& s, int) {
    for (Dim d : symbols_bound(s)) {
      auto& name = symbol_names_[d.name()];
      if (name.empty()) name = locals_.add(d.name(), "n");
    }
  });
}

std::string FunctionText::print(const WeightsText& weights) {
  const bool gpu = device_weights_ != nullptr;
  std::string text;
  for (std::size_t i = 0; i < program_.exprs.size(); ++i) text += cpp_expr_struct(expr_names_[i], program_.exprs[i], gpu) + "\n";
  for (std::size_t i = 0; i < program_.branches.size(); ++i)
    text += cpp_branches_struct(branches_name(static_cast<int>(i)), program_.branches[i]) + "\n";
  if (interface_.dynamic()) text += plan(Device::Cpu) + (gpu ? plan(Device::Gpu) : "");
  std::string statements = signature() + buffers(weights);
  ConstantArgs constants;
  const CppDialect cpp(program_, symbol_names_, buffer_names_, expr_names_, small_core_ ? &constants : nullptr);
  const CudaDialect cuda(program_, symbol_names_, buffer_names_, expr_names_);
  const Dialect& dialect = gpu ? static_cast<const Dialect&>(cuda) : cpp;
  StepsText steps{program_, dialect, symbol_names_, buffer_names_, threads_, profile_, {}};
  for (std::size_t i = 0; i < interface_.outputs.size(); ++i)
    steps.shape_pointers[program_.outputs[i]] = "out." + interface_.outputs[i].name + "_shape";
  const std::string body = steps.print();
  if (body.find(".weights_end") != std::string::npos)
    statements += fmt::format("  [[maybe_unused]] const float* const weights_end = {};\n", weights.end);
  return text + constants.definitions() + statements + body +
         (!gpu                  ? "  return {};\n}\n"
          : profile_ != nullptr ? "  return step_times.finish();\n}\n"
                                : "  return gpu.result();\n}\n");
}

std::string FunctionText::signature() const {
  const char* const dims = interface_.dynamic() ? "const Dims& dims, " : "";
  const char* const heap = program_.uses_heap ? ", onnxc::Heap heap" : "";
  if (device_weights_ == nullptr)
    return fmt::format("onnxc::Status steps({}const Inputs& in, const Outputs& out, {}{}{}) {{\n", dims,
                       divides_arena(program_) ? "const Arenas& arenas" : "std::byte* arena", heap,
                       threads_ ? ", onnxc::Threads threads" : "");
  return fmt::format(
      "onnxc::Status steps({}const DeviceInputs& in, const DeviceOutputs& out, const onnxc::DeviceMemory& memory, cudaStream_t "
      "stream{}) {{\n  onnxc::gpu::Queue gpu{{stream, memory.words}};\n{}  [[maybe_unused]] std::byte* const arena = memory.host;\n",
      dims, heap, profile_ != nullptr ? profile_->step_times() : "");
}

/// Symbolic arenas: offsets as straight-line code. If all buffers have fixed sizes, only the size.
std::string FunctionText::plan(Device device) const {
  const bool host = device == Device::Cpu;
  const char *const type = host ? "Plan" : "DevicePlan", *const plan = host ? "plan" : "device_plan";
  const int64_t alignment = program_.arena_of(device).alignment;
  const std::string aligned = alignment == 64 ? "onnxc::aligned" : fmt::format("onnxc::aligned<{}>", alignment);
  const auto bytes = [&](BufferId id) { return fmt::format("{}({})", aligned, cpp_dim(program_[id].bytes, symbol_names_)); };
  const auto body = [&](const Placement& placement) {
    std::string text;
    for (const auto& [id, below, centre] : placement.offsets) {
      std::string offset = "0";
      const auto at_least = [&](const std::string& bound) {
        offset = offset == "0" ? bound : fmt::format("onnxc::max_of({}, {})", offset, bound);
      };
      for (const BufferId c : below) at_least(fmt::format("p.b{} + {}", c, bytes(c)));
      if (centre >= 0) at_least(fmt::format("p.b{} + {}(({} - {}) / 2)", centre, aligned, bytes(centre), bytes(id)));
      text += fmt::format("  p.b{} = {};\n  p.bytes = onnxc::max_of(p.bytes, p.b{} + {});\n", id, offset, id, bytes(id));
    }
    return text;
  };
  const auto function = [&](const std::string& name, const char* parameter, const std::string& statements) {
    return fmt::format("{} {}({}) {{\n  {} p;\n{}  return p;\n}}\n", type, name, parameter, type, statements);
  };
  const std::vector<Placement>& placements = program_.arena_of(device).placements;
  std::string members;
  if (!placements.empty()) {
    for (const auto& offset : placements.front().offsets) {
      const Buffer& b = program_[offset.buffer];
      members += fmt::format("  std::int64_t b{} = 0;  // {}: {}\n", offset.buffer, comment_text(b.name, 60),
                             comment_text(onnxc::text(b.extents)));
    }
  }
  std::string text =
      fmt::format("/// Where each buffer lies in the arena{}.\nstruct {} {{\n  std::int64_t bytes = {};\n{}}};\n",
                  host ? "" : " of the GPU", type, placements.empty() ? program_.arena_of(device).bytes.value() : 0, members);
  if (placements.empty()) return text + function(plan, "[[maybe_unused]] const Dims& dims", "") + "\n";
  if (placements.size() == 1) return text + function(plan, "const Dims& dims", body(placements.front())) + "\n";
  std::string choice;
  for (std::size_t i = 0; i < placements.size(); ++i) {
    text += function(fmt::format("{}_{}", plan, i), "const Dims& dims", body(placements[i]));
    choice += i == 0 ? fmt::format("  p = {}_0(dims);\n", plan)
                     : fmt::format("  if (const {} q = {}_{}(dims); q.bytes < p.bytes) p = q;\n", type, plan, i);
  }
  return text + "/// No one order of the buffers is the best for all dimensions.\n" + function(plan, "const Dims& dims", choice) + "\n";
}

/// The pointer to a buffer of the caller, or to weights; empty for others.
std::string FunctionText::base_of(const Buffer& root, const WeightsText& weights) const {
  const auto index = static_cast<std::size_t>(root.index);
  const char* const data = root.device == Device::Gpu ? "" : ".data()";
  switch (root.space) {
    case Buffer::Space::Input: return "in." + interface_.inputs[index].name + data;
    case Buffer::Space::Output: return "out." + interface_.outputs[index].name + data;
    case Buffer::Space::Weights: {
      const Weights& w = program_.weights[index];
      if (root.device == Device::Gpu)
        return fmt::format("onnxc::at<{}>(memory.weights, {})", info(w.element).cpp_name, device_weights_->at(w.name));
      return w.strings ? w.name : weights.access(w.name);
    }
    case Buffer::Space::Arena:
    case Buffer::Space::Heap:
    case Buffer::Space::Object: break;
  }
  return "";
}

/// A constant pointer for each buffer that a step uses.
std::string FunctionText::buffers(const WeightsText& weights) {
  PerBuffer<bool> used(program_.buffers.size());
  for_each_step(program_.steps, [&](const Step& s, int) { for_each_pointer(s, [&](const PointerArg& p) { used[p.buffer] = true; }); });
  buffer_names_.assign(program_.buffers.size(), "");
  std::string text;
  bool arena = false, input = false, output = false, planned = false, planned_on_device = false;
  Names& names = locals_;
  for (BufferId id = 0; id < std::ssize(program_.buffers); ++id) {
    if (!used[id]) continue;
    const Buffer& b = program_[id];
    const BufferId root = root_of(program_, id);
    const Buffer& r = program_[root];
    Dim offset = 0;
    for (BufferId v = id; program_[v].parent >= 0; v = program_[v].parent) offset += program_[v].offset;
    const std::string type(info(stored_element(b)).cpp_name);
    if (b.is_value) {
      input = input || b.space == Buffer::Space::Input;
      output = output || b.space == Buffer::Space::Output;
      buffer_names_[id] = "&" + (b.space == Buffer::Space::Input    ? "in." + interface_.inputs[static_cast<std::size_t>(b.index)].name
                                 : b.space == Buffer::Space::Output ? "out." + interface_.outputs[static_cast<std::size_t>(b.index)].name
                                                                    : names.add(b.name, "v"));
      continue;
    }
    if (r.space == Buffer::Space::Heap) {  // declared by a step
      auto& root_name = buffer_names_[root];
      if (root_name.empty()) root_name = names.add(r.name, "v");
      if (b.parent < 0) continue;
      std::string view =
          b.element == r.element ? root_name : fmt::format("reinterpret_cast<{}{}*>({})", r.borrowed ? "const " : "", type, root_name);
      const Dim elements = floor_div(offset, held_bits(b.element) / 8);
      buffer_names_[id] = elements == Dim(0) ? view : fmt::format("({} + {})", view, cpp_dim(elements, symbol_names_));
      continue;
    }
    input = input || r.space == Buffer::Space::Input;
    output = output || r.space == Buffer::Space::Output;
    arena = arena || r.space == Buffer::Space::Arena;
    const std::string base = base_of(r, weights);
    if (r.space == Buffer::Space::Weights && b.parent < 0) {
      buffer_names_[id] = base;
      continue;
    }
    const std::string name = names.add(b.name, "v");
    if (r.space == Buffer::Space::Arena) {
      const bool host = r.device == Device::Cpu, fixed = program_.arena_of(r.device).placements.empty();
      std::string at = fixed ? cpp_dim(r.offset + offset, symbol_names_) : fmt::format("{}.b{}", host ? "p" : "device", root);
      if (!fixed) {
        (host ? planned : planned_on_device) = true;
        if (!(offset == Dim(0))) at += " + " + cpp_dim(offset, symbol_names_);
        at = fmt::format("static_cast<std::size_t>({})", at);
      }
      text +=
          fmt::format("  {}* const {} = onnxc::at<{}>({}, {});\n", type, name, type, host ? arena_base(program_, r) : "memory.arena", at);
    } else {
      const bool is_const = r.space == Buffer::Space::Input || r.space == Buffer::Space::Weights;
      const Dim elements = floor_div(offset, held_bits(b.element) / 8);
      text += fmt::format("  {}{}* const {} = {}{};\n", is_const ? "const " : "", type, name, base,
                          offset == Dim(0) ? "" : " + " + cpp_dim(elements, symbol_names_));
    }
    buffer_names_[id] = name;
  }
  if (planned) text = "  const Plan p = plan(dims);\n" + text;
  if (planned_on_device) text = "  const DevicePlan device = device_plan(dims);\n" + text;
  if (!arena && device_weights_ == nullptr)
    text = fmt::format("  static_cast<void>({});\n", divides_arena(program_) ? "arenas" : "arena") + text;
  if (!input) text = "  static_cast<void>(in);\n" + text;
  if (!output) text = "  static_cast<void>(out);\n" + text;
  if (interface_.dynamic()) text = "  static_cast<void>(dims);\n" + text;
  if (threads_) text = "  static_cast<void>(threads);\n" + text;
  return text;
}

}  // namespace onnxc
