#include "compiler/lowering/assign_devices.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/lowering/device_costs.h"
#include "compiler/lowering/lowerer.h"
#include "compiler/lowering/partition/partition.h"

namespace onnxc {
namespace {

constexpr int kGpu = 1;  // of a partition; partition::kHost is the processor

std::string first_output(const Graph& graph, const Node& node) {
  return node.outputs.empty() || node.outputs[0] == kAbsent ? "" : graph[node.outputs[0]].name;
}

/// The graph lowered with all nodes on one device, as far as costs need it.
struct Draft {
  Lowerer lowerer;
  Program program;
  Draft(const Graph& graph, const Target& target, const LowerOptions& options, Device device)
      : lowerer(target, options, nullptr), program(lowerer.run(graph, PerNode<Device>(graph.nodes.size(), device))) {}
};

/// What one kernel computes on a device stays together: its last node has the cost of all.
void tie_islands(const Graph& graph, const Lowerer& lowerer, partition::Problem& problem) {
  const auto island_of = [&](const Node* node) -> int& {
    return problem.nodes[static_cast<std::size_t>(node - graph.nodes.data())].island;
  };
  for (const auto& [last, absorbed] : lowerer.islands()) {
    const int number = static_cast<int>(last - graph.nodes.data());
    std::vector<const Node*> members = absorbed;
    members.push_back(last);
    for (const Node* node : members) {
      const int former = island_of(node);
      if (former != partition::kNone) {  // of the other device: both become one
        for (partition::Node& other : problem.nodes) other.island = other.island == former ? number : other.island;
      }
      island_of(node) = number;
    }
  }
}

/// The problem of the cut, with its nodes in the graph's order, and the `names` of its values.
partition::Problem problem_of(const Graph& graph, const Gpu& gpu, const Draft& on_cpu, const Draft& on_gpu, int64_t room,
                              std::vector<std::string>& names) {
  partition::Problem problem;
  const auto cpu_costs = node_costs(on_cpu.program, gpu), gpu_costs = node_costs(on_gpu.program, gpu);
  const auto cost = [](const std::map<std::string, double>& costs, const std::string& name) {
    const auto found = costs.find(name);
    return found == costs.end() ? 0.0 : found->second;
  };
  const PerValue<int> definition = definitions(graph);
  for (const Node& node : graph.nodes) {
    const std::string name = first_output(graph, node);
    const bool refused = on_gpu.lowerer.refused_by_gpu().contains(&node);
    partition::Node to{.cost_ns = {cost(cpu_costs, name), refused ? partition::kNoKernel : cost(gpu_costs, name)}, .weight_bytes = {0, 0}};
    for (ValueId v : node.inputs) {
      if (v != kAbsent && graph[v].constant != nullptr) to.weight_bytes[kGpu] += static_cast<int64_t>(graph[v].constant->bytes.size());
    }
    problem.nodes.push_back(std::move(to));
  }
  tie_islands(graph, on_cpu.lowerer, problem);
  tie_islands(graph, on_gpu.lowerer, problem);
  const auto stays_on_host = [](const Program& program, BufferId b) { return program[b].device == Device::Cpu || program[b].is_value; };
  PerValue<std::vector<int>> readers(graph.values.size());
  for (int i = 0; i < std::ssize(graph.nodes); ++i) {
    for (const auto* values : {&graph.node(i).inputs, &graph.node(i).captures}) {
      for (ValueId v : *values) {
        if (v != kAbsent && (readers[v].empty() || readers[v].back() != i)) readers[v].push_back(i);
      }
    }
  }
  for (int i = 0; i < std::ssize(graph.values); ++i) {
    const ValueId v{i};
    if (graph[v].constant != nullptr) continue;
    partition::Value value;
    value.producer = definition[v];
    value.readers = readers[v];
    const auto input = std::ranges::find(graph.inputs, v);
    if (input != graph.inputs.end()) {
      const BufferId b = on_gpu.program.inputs[static_cast<std::size_t>(input - graph.inputs.begin())];
      value.place = stays_on_host(on_gpu.program, b) ? partition::kHost : kGpu;
    } else if (value.producer < 0) {
      continue;
    }
    for (std::size_t k = 0; k < graph.outputs.size(); ++k) {
      const int place = stays_on_host(on_gpu.program, on_gpu.program.outputs[k]) ? partition::kHost : kGpu;
      if (graph.outputs[k] == v && std::ranges::find(value.wanted, place) == value.wanted.end()) value.wanted.push_back(place);
    }
    const double bytes = likely_bytes(graph[v].type);
    value.transfer_ns = {0, transfer_ns(gpu, bytes, Device::Gpu), transfer_ns(gpu, bytes, Device::Cpu), 0};
    problem.values.push_back(std::move(value));
    names.push_back(graph[v].name);
  }
  if (room < partition::kNoLimit) problem.limits = {partition::kNoLimit, room};
  return problem;
}

/// A partition with everything on the host, or with all that can on the GPU.
double cost_of_all(const partition::Problem& problem, int device) {
  std::vector<int> devices(problem.nodes.size(), partition::kHost);
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (problem.may_run(static_cast<int>(i), device)) devices[i] = device;
  }
  return partition::cost_ns(problem, devices);
}

}  // namespace

DeviceAssignment assign_devices(const Graph& graph, const Target& target, const LowerOptions& options, int64_t room) {
  LowerOptions draft = options;
  draft.draft = true;
  const Draft on_gpu(graph, target, draft, Device::Gpu);
  DeviceAssignment assignment{PerNode<Device>(graph.nodes.size(), Device::Gpu), {}};
  const auto give_reason = [&](int node, const std::string& why) {
    if (const std::string name = first_output(graph, graph.node(node)); !name.empty()) assignment.host_reasons.emplace(name, why);
  };
  for (int i = 0; i < std::ssize(graph.nodes); ++i) {
    const Node& node = graph.node(i);
    const auto refused = on_gpu.lowerer.refused_by_gpu().find(&node);
    if (refused == on_gpu.lowerer.refused_by_gpu().end()) continue;
    if (options.devices == Devices::Gpu)
      node.fail(ErrorKind::Unsupported, fmt::format("it cannot run on a GPU: {}", refused->second),
                "let the processor do it, with --devices=gpu,cpu or auto");
    assignment.devices[i] = Device::Cpu;
    give_reason(i, refused->second);
  }
  if (options.devices != Devices::Auto && room == partition::kNoLimit) return assignment;
  const Draft on_cpu(graph, target, draft, Device::Cpu);
  std::vector<std::string> names;
  partition::Problem problem = problem_of(graph, *target.gpu, on_cpu, on_gpu, room, names);
  // Who asks for the GPU gets it as far as its memory goes.
  if (options.devices != Devices::Auto) {
    for (partition::Node& node : problem.nodes) node.cost_ns[kGpu] = node.cost_ns[kGpu] < partition::kNoKernel ? 0 : partition::kNoKernel;
  }
  const partition::Partition found = partition::find_partition(problem);
  if (found.outcome != partition::Outcome::Found)
    throw Error(ErrorKind::Budget, fmt::format("the GPU has room for {} bytes of weights, and more must be there", room),
                "give --gpu-memory more, or leave it out");
  DeviceCosts costs{.chosen_ns = found.cost_ns, .host_ns = cost_of_all(problem, partition::kHost), .gpu_ns = cost_of_all(problem, kGpu)};
  for (int i = 0; i < std::ssize(graph.nodes); ++i) {
    const Node& node = graph.node(i);
    const auto at = static_cast<std::size_t>(i);
    const auto [cpu_ns, gpu_ns] = std::pair(problem.nodes[at].cost_ns[partition::kHost], problem.nodes[at].cost_ns[kGpu]);
    const Device device = found.devices[at] == kGpu ? Device::Gpu : Device::Cpu;
    costs.nodes.push_back({fmt::format("{} '{}'", node.full_op(), node.name), device, cpu_ns, gpu_ns});
    if (assignment.devices[i] == Device::Gpu && device == Device::Cpu)
      give_reason(i, room < partition::kNoLimit ? "the GPU's memory or time is better spent on others"
                                                : "with its transfers it is predicted to end sooner here");
    assignment.devices[i] = device;
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    const partition::Value& value = problem.values[i];
    const int from = value.producer < 0 ? value.place : found.devices[static_cast<std::size_t>(value.producer)], to = 1 - from;
    const bool goes =
        std::ranges::any_of(value.readers, [&](int reader) { return found.devices[static_cast<std::size_t>(reader)] == to; }) ||
        std::ranges::find(value.wanted, to) != value.wanted.end();
    if (goes) costs.transfers.push_back({names[i], to == kGpu ? Device::Gpu : Device::Cpu, problem.transfer_ns(value, from, to)});
  }
  assignment.costs = std::move(costs);
  return assignment;
}

}  // namespace onnxc
