#include "compiler/lowering/device_costs.h"

#include <algorithm>

#include "compiler/ir/element_type.h"

namespace onnxc {
namespace {

constexpr int64_t kLikelyTrips = 8;

double likely(Dim d) { return std::max(0.0, static_cast<double>(likely_value(d))); }

bool is_transfer(const Call& call) { return call.function.starts_with("."); }

double cost_of(const Call& call, const Gpu& gpu) {
  if (is_transfer(call)) return 0;
  const Kernel& kernel = find_kernel(call.kernel);
  const double on_one = call.cost_ns > 0 ? call.cost_ns : kernel.cost(likely(call.macs), likely(call.bytes));
  if (call.device == Device::Cpu) return on_one;
  if (kernel.runs_on == RunsOn::Gpu) return on_one * gpu.slowdown;
  const double lanes = std::clamp(likely(call.items), 1.0, gpu.multiprocessors * Gpu::kLanes);
  return gpu.launch_ns + on_one * Gpu::kLaneSlowdown / lanes;
}

double cost_of(const std::vector<Step>& steps, const Gpu& gpu);

double cost_of(const Step& step, const Gpu& gpu) {
  if (const Call* const call = step.call()) return cost_of(*call, gpu);
  if (const auto* const branch = std::get_if<If>(&step.action))
    return std::max(cost_of(branch->then_steps, gpu), cost_of(branch->else_steps, gpu));
  if (const auto* const loop = std::get_if<Loop>(&step.action))
    return cost_of(loop->body, gpu) *
           static_cast<double>(loop->most.is_constant() ? std::max<int64_t>(loop->most.value(), 0) : kLikelyTrips);
  return 0;
}

double cost_of(const std::vector<Step>& steps, const Gpu& gpu) {
  double sum = 0;
  for (const Step& step : steps) sum += cost_of(step, gpu);
  return sum;
}

}  // namespace

std::map<std::string, double> node_costs(const Program& program, const Gpu& gpu) {
  std::map<std::string, double> costs;
  for (const Step& step : program.steps) costs[step.value] += cost_of(step, gpu);
  return costs;
}

double transfer_ns(const Gpu& gpu, double bytes, Device to) {
  return gpu.transfer_ns + bytes / gpu.transfer_bytes_per_ns + (to == Device::Cpu ? gpu.wait_ns : 0);
}

double likely_bytes(const Type& type) {
  return type.is_tensor() && type.ranked ? likely(element_count(type.extents)) * static_cast<double>(held_bits(type.element)) / 8 : 0;
}

}  // namespace onnxc
