#include "compiler/lowering/assign_devices.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/lowering/device_costs.h"
#include "compiler/lowering/lowerer.h"
#include "compiler/lowering/partition/partition.h"
#include "compiler/support/error_codes.h"

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

/// The problem of the cut, with its nodes in the graph's order.
struct Posed {
  partition::Problem problem;
  std::vector<ValueId> values;  ///< which each of the problem's values is
};

/// The nodes that read each value, in order.
PerValue<std::vector<int>> readers_of(const Graph& graph) {
  PerValue<std::vector<int>> readers(graph.values.size());
  for (int i = 0; i < std::ssize(graph.nodes); ++i) {
    for (const auto* values : {&graph.node(i).inputs, &graph.node(i).captures}) {
      for (ValueId v : *values) {
        if (v != kAbsent && (readers[v].empty() || readers[v].back() != i)) readers[v].push_back(i);
      }
    }
  }
  return readers;
}

/// Where the caller has an input or an output.
int place_of(const Program& program, BufferId b) {
  return program[b].device == Device::Cpu || program[b].is_value ? partition::kHost : kGpu;
}

/// Of what a node reads and writes, without constants.
double bytes_of_values(const Graph& graph, const Node& node) {
  double bytes = 0;
  for (const auto* values : {&node.inputs, &node.outputs}) {
    for (ValueId v : *values) {
      if (v != kAbsent && graph[v].constant == nullptr) bytes += likely_bytes(graph[v].type);
    }
  }
  return bytes;
}

void add_nodes(const Graph& graph, const Gpu& gpu, const Draft& on_cpu, const Draft& on_gpu, int64_t most_bytes,
               partition::Problem& problem) {
  const auto cpu_costs = node_costs(on_cpu.program, gpu), gpu_costs = node_costs(on_gpu.program, gpu);
  const auto cost = [](const std::map<std::string, double>& costs, const std::string& name) {
    const auto found = costs.find(name);
    return found == costs.end() ? 0.0 : found->second;
  };
  for (const Node& node : graph.nodes) {
    const std::string name = first_output(graph, node);
    const bool refused = on_gpu.lowerer.refused_by_gpu().contains(&node) || bytes_of_values(graph, node) > static_cast<double>(most_bytes);
    partition::Node to{.cost_ns = {cost(cpu_costs, name), refused ? partition::kNoKernel : cost(gpu_costs, name)}, .weight_bytes = {0, 0}};
    for (ValueId v : node.inputs) {
      if (v != kAbsent && graph[v].constant != nullptr) to.weight_bytes[kGpu] += static_cast<int64_t>(graph[v].constant->bytes.size());
    }
    problem.nodes.push_back(std::move(to));
  }
  tie_islands(graph, on_cpu.lowerer, problem);
  tie_islands(graph, on_gpu.lowerer, problem);
}

void add_values(const Graph& graph, const Gpu& gpu, const Program& program, Posed& posed) {
  const PerValue<int> definition = definitions(graph);
  PerValue<std::vector<int>> readers = readers_of(graph);
  for (ValueId v = 0; v < std::ssize(graph.values); ++v) {
    if (graph[v].constant != nullptr) continue;
    partition::Value value;
    value.producer = definition[v];
    value.readers = std::move(readers[v]);
    const auto input = std::ranges::find(graph.inputs, v);
    if (input != graph.inputs.end())
      value.place = place_of(program, program.inputs[static_cast<std::size_t>(input - graph.inputs.begin())]);
    else if (value.producer < 0) continue;
    for (std::size_t k = 0; k < graph.outputs.size(); ++k) {
      const int place = place_of(program, program.outputs[k]);
      if (graph.outputs[k] == v && std::ranges::find(value.wanted, place) == value.wanted.end()) value.wanted.push_back(place);
    }
    const double bytes = likely_bytes(graph[v].type);
    value.transfer_ns = {0, transfer_ns(gpu, bytes, Device::Gpu), transfer_ns(gpu, bytes, Device::Cpu), 0};
    posed.problem.values.push_back(std::move(value));
    posed.values.push_back(v);
  }
}

/// A partition with everything on the host, or with all that can on the GPU.
double cost_of_all(const partition::Problem& problem, int device) {
  std::vector<int> devices(problem.nodes.size(), partition::kHost);
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (problem.may_run(static_cast<int>(i), device)) devices[i] = device;
  }
  return partition::cost_ns(problem, devices);
}

/// What is told of a partition.
DeviceCosts costs_of(const Graph& graph, const Posed& posed, const std::vector<int>& devices) {
  const partition::Problem& problem = posed.problem;
  const auto device = [](int number) { return number == kGpu ? Device::Gpu : Device::Cpu; };
  const auto on = [&](int node) { return devices[static_cast<std::size_t>(node)]; };
  DeviceCosts costs{.chosen_ns = partition::cost_ns(problem, devices),
                    .host_ns = cost_of_all(problem, partition::kHost),
                    .gpu_ns = cost_of_all(problem, kGpu)};
  for (int i = 0; i < std::ssize(graph.nodes); ++i) {
    const Node& node = graph.node(i);
    const std::vector<double>& of_node = problem.nodes[static_cast<std::size_t>(i)].cost_ns;
    costs.nodes.push_back({fmt::format("{} '{}'", node.full_op(), node.name), device(on(i)), of_node[partition::kHost], of_node[kGpu]});
  }
  for (std::size_t i = 0; i < posed.values.size(); ++i) {
    const partition::Value& value = problem.values[i];
    const int from = value.producer < 0 ? value.place : on(value.producer), to = 1 - from;
    const bool goes = std::ranges::any_of(value.readers, [&](int reader) { return on(reader) == to; }) ||
                      std::ranges::find(value.wanted, to) != value.wanted.end();
    if (goes) costs.transfers.push_back({graph[posed.values[i]].name, device(to), problem.transfer_ns(value, from, to)});
  }
  return costs;
}

}  // namespace

DeviceAssignment assign_devices(const Graph& graph, const Target& target, const LowerOptions& options, GpuRoom room) {
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
      node.fail(ErrorCode::NotOnGpu, fmt::format("it cannot run on a GPU: {}", refused->second),
                "let the processor do it, with --devices=gpu,cpu or auto");
    assignment.devices[i] = Device::Cpu;
    give_reason(i, refused->second);
  }
  const bool is_limited = room.weights < partition::kNoLimit;
  if (options.devices != Devices::Auto && !is_limited) return assignment;
  const Draft on_cpu(graph, target, draft, Device::Cpu);
  Posed posed;
  add_nodes(graph, *target.gpu, on_cpu, on_gpu, room.values, posed.problem);
  add_values(graph, *target.gpu, on_gpu.program, posed);
  if (is_limited) posed.problem.limits = {partition::kNoLimit, room.weights};
  partition::Problem wanted = posed.problem;
  // Who asks for the GPU gets it as far as its memory goes.
  if (options.devices != Devices::Auto) {
    for (partition::Node& node : wanted.nodes) node.cost_ns[kGpu] = node.cost_ns[kGpu] < partition::kNoKernel ? 0 : partition::kNoKernel;
  }
  const partition::Partition found = partition::find_partition(wanted);
  if (found.outcome != partition::Outcome::Found)
    throw Error(ErrorCode::GpuMemory, fmt::format("the GPU has room for {} bytes of weights, and more must be there", room.weights),
                "give --gpu-memory more, or leave it out");
  for (int i = 0; i < std::ssize(graph.nodes); ++i) {
    const Device device = found.devices[static_cast<std::size_t>(i)] == kGpu ? Device::Gpu : Device::Cpu;
    if (assignment.devices[i] == Device::Gpu && device == Device::Cpu)
      give_reason(
          i, is_limited ? "the GPU's memory or time is better spent on others" : "with its transfers it is predicted to end sooner here");
    assignment.devices[i] = device;
  }
  assignment.costs = costs_of(graph, posed, found.devices);
  return assignment;
}

}  // namespace onnxc
