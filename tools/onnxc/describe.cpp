#include "tools/onnxc/describe.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "compiler/budgets.h"
#include "compiler/ir/origins.h"
#include "compiler/lowering/memory/placements.h"
#include "compiler/lowering/memory/plan_memory.h"
#include "compiler/passes/float_nodes.h"
#include "compiler/support/error.h"

namespace onnxc {
namespace {

using nlohmann::ordered_json;

ordered_json size(Dim d) { return d.is_constant() ? ordered_json(d.value()) : ordered_json(d.text()); }

ordered_json describe_origins(const std::vector<Origin>& origins) {
  ordered_json list = ordered_json::array();
  for (const Origin& origin : origins)
    list.push_back({{"op", origin.node->full_op()}, {"name", origin.node->name}, {"output", origin.output}});
  return list;
}

const char* device_name(Device device) { return device == Device::Gpu ? "gpu" : "host"; }

ordered_json describe_step(const Program& program, const Step& step, int number, int depth) {
  std::set<BufferId> reads, writes;
  Dim weight_bytes = 0;
  for_each_pointer(step, [&](const PointerArg& p) {
    if (!(p.writes ? writes : reads).insert(p.buffer).second) return;
    if (const Buffer& root = program[root_of(program, p.buffer)]; root.space == Buffer::Space::Weights) weight_bytes += root.bytes;
  });
  static const Call kNothing;
  const Call& call = step.call() != nullptr ? *step.call() : kNothing;
  return {{"number", number + 1},
          {"depth", depth},
          {"device", device_name(call.device)},
          {"label", step_label(step)},
          {"what", step.what},
          {"value", step.value},
          {"macs", size(call.macs)},
          {"bytes", size(call.bytes)},
          {"weight_bytes", size(weight_bytes)},
          {"cost_ns", call.cost_ns},
          {"mixes", !call.kernel.empty() && find_kernel(call.kernel).mixes},
          {"parallel", call.parallel},
          {"concurrent", call.concurrent},
          {"reads", reads},
          {"writes", writes}};
}

void describe_steps(const Program& program, const std::vector<Step>& steps, int& number, int depth, ordered_json& list) {
  for (const Step& step : steps) {
    list.push_back(describe_step(program, step, number++, depth));
    for_each_block(step, [&](const std::vector<Step>& block) { describe_steps(program, block, number, depth + 1, list); });
  }
}

ordered_json describe_buffer(const Program& program, BufferId id) {
  const Buffer& b = program[id];
  ordered_json json{{"id", id},
                    {"name", b.name},
                    {"place", space_name(b.space)},
                    {"device", device_name(b.device)},
                    {"type", b.is_value ? "value" : Type::tensor(b.element, b.extents).text()},
                    {"bytes", size(b.bytes)}};
  if (!(b.pixel_stride == Dim(0))) json["pixel_stride"] = size(b.pixel_stride);
  if (b.space == Buffer::Space::Input || b.space == Buffer::Space::Output || b.space == Buffer::Space::Weights) json["index"] = b.index;
  if (b.parent >= 0) json.update({{"parent", b.parent}, {"offset", size(b.offset)}});
  else if (b.space == Buffer::Space::Arena && b.first >= 0) json.update({{"first", b.first}, {"last", b.last}});
  if (b.space == Buffer::Space::Arena && b.parent < 0 && program.arena_of(b.device).placements.empty()) json["offset"] = size(b.offset);
  if (b.region >= 0) json["region"] = program.regions.at(static_cast<std::size_t>(b.region)).name;
  return json;
}

ordered_json describe_totals(const Program& program) {
  return {{"macs", size(total_macs(program))},
          {"weight_bytes", weight_bytes(program)},
          {"weight_bytes_saved", weight_bytes_saved(program)},
          {"cost_ns", predicted_ns(program)}};
}

ordered_json describe_arena(const Program& program, Device device) {
  const Arena& own = program.arena_of(device);
  const LikelyArena arena = likely_arena(program, device);
  ordered_json json{{"bytes", arena.bytes}, {"lower_bound", arena.lower_bound}, {"proved", arena.bytes == arena.lower_bound}};
  if (!own.placements.empty())
    json = {{"likely",
             {{"dims", arena.sizes},
              {"bytes", arena.bytes},
              {"lower_bound", arena.lower_bound},
              {"proved", arena.bytes == arena.lower_bound},
              {"unshared_bytes", own.unshared_bytes.evaluate(arena.sizes)}}}};
  json["unshared_bytes"] = size(own.unshared_bytes);
  return json;
}

/// The bytes of a region's part of the arena, and what they would be otherwise.
ordered_json describe_part(const Program& program, int region) {
  std::vector<Interval> intervals;
  int64_t unshared = 0;
  const std::vector<BufferId> buffers = planned_buffers(program);
  const std::vector<Interval> all = intervals_of(program, buffers, [](Dim d) { return d.value(); });
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (program[buffers[i]].region != region) continue;
    intervals.push_back(all[i]);
    unshared += all[i].size;
  }
  const int64_t bytes = program.regions[static_cast<std::size_t>(region)].arena_bytes, bound = color_intervals(intervals).lower_bound;
  return {{"bytes", bytes}, {"lower_bound", bound}, {"proved", bytes == bound}, {"unshared_bytes", unshared}};
}

ordered_json describe_regions(const Program& program) {
  ordered_json list = ordered_json::array();
  for (std::size_t r = 0; r < program.regions.size(); ++r) {
    const Region& region = program.regions[r];
    list.push_back({{"name", region.name},
                    {"capacity", region.capacity},
                    {"section", region.section},
                    {"constants_only", region.constants_only},
                    {"share", region.share},
                    {"constant_bytes", region.constant_bytes}});
    list.back().update(describe_part(program, static_cast<int>(r)));
  }
  return list;
}

/// What is copied between the host and the GPU, each transfer counted once.
ordered_json describe_transfers(const Program& program) {
  int counts[2] = {};
  Dim bytes[2] = {};
  for_each_call(program.steps, [&](const Call& call, int) {
    for (const bool up : {false, true}) {
      if (call.kernel != (up ? "to_device" : "to_host")) continue;
      ++counts[up ? 1 : 0];
      bytes[up ? 1 : 0] += call.bytes;
    }
  });
  return {{"to_host", counts[0]}, {"to_host_bytes", size(bytes[0])}, {"to_gpu", counts[1]}, {"to_gpu_bytes", size(bytes[1])}};
}

using FloatReasons = std::map<std::string, std::string>;

void describe_nodes(const Graph& graph, const std::map<const Node*, std::vector<int>>& steps, const FloatReasons& reasons,
                    ordered_json& list) {
  for (const Node& node : graph.nodes) {
    ordered_json outputs = ordered_json::array();
    for (const ValueId v : node.outputs) {
      if (v != kAbsent) outputs.push_back(graph[v].name);
    }
    const auto found = steps.find(&node);
    list.push_back({{"op", node.full_op()},
                    {"name", node.name},
                    {"outputs", std::move(outputs)},
                    {"steps", found != steps.end() ? found->second : std::vector<int>()}});
    const std::string output = first_output(graph, node);
    if (const auto reason = reasons.find(output); reason != reasons.end()) list.back()["in_floats"] = reason->second;
    for (const auto& [name, region] : node.regions) describe_nodes(*region, steps, reasons, list);
  }
}

/// Nodes with a reason, those of one operator and reason together, the most frequent first.
ordered_json describe_groups(const ordered_json& nodes, const char* reason) {
  std::vector<ordered_json> groups;
  for (const ordered_json& node : nodes) {
    if (!node.contains(reason)) continue;
    auto group = std::ranges::find_if(groups, [&](const ordered_json& g) { return g["op"] == node["op"] && g["reason"] == node[reason]; });
    if (group == groups.end()) {
      groups.push_back({{"op", node["op"]}, {"reason", node[reason]}, {"nodes", ordered_json::array()}});
      group = groups.end() - 1;
    }
    (*group)["nodes"].push_back({{"name", node["name"]}, {"output", node["outputs"][0]}});
  }
  std::ranges::stable_sort(groups, std::ranges::greater{}, [](const ordered_json& g) { return g["nodes"].size(); });
  return groups;
}

/// Of a program for a GPU: why steps and nodes stay on the host.
void describe_devices(const Program& program, ordered_json& steps, ordered_json& nodes) {
  const std::vector<std::string> reasons = host_reasons_of_steps(program);
  for_each_step(program.steps, [&](const Step&, int number) {
    const auto i = static_cast<std::size_t>(number);
    if (!reasons[i].empty()) steps[i]["on_host"] = reasons[i];
  });
  for (ordered_json& node : nodes) {
    const auto numbers = node["steps"].get<std::vector<std::size_t>>();
    const auto stays = std::ranges::find_if(numbers, [&](std::size_t number) { return !reasons[number - 1].empty(); });
    if (stays != numbers.end()) node["on_host"] = reasons[*stays - 1];
  }
}

}  // namespace

Described compile_described(const std::filesystem::path& model, const CompileOptions& options) {
  Described described{};
  CompileOptions watched = options;
  watched.watch = [&](const std::string& pass, const Graph& graph) {
    if (pass == "import") described.model = clone(graph);
    if (options.watch) options.watch(pass, graph);
  };
  described.compilation = compile_model(model, watched);
  return described;
}

std::optional<int64_t> size_at(const ordered_json& size, const Sizes& dimensions) {
  if (size.is_number()) return size.get<int64_t>();
  const Dim dim = parse_dim(size.get<std::string>());
  std::map<std::string, Dim> symbols;
  dim.collect_symbols(symbols);
  for (const auto& [name, symbol] : symbols) {
    if (!dimensions.contains(name)) return std::nullopt;
  }
  return dim.evaluate(dimensions);
}

std::string line_of(const ordered_json& json) { return json.is_string() ? one_line(json.get<std::string>()) : json.dump(); }

std::string label_of(const ordered_json& origin) {
  const auto name = origin.at("name").get<std::string>();
  return name.empty() ? origin.at("output").get<std::string>() : name;
}

std::string text_of_group(const ordered_json& group) {
  constexpr std::size_t kMost = 3, kLongest = 60;
  const auto shortened = [](const std::string& name) {
    std::size_t end = kLongest;
    while (end < name.size() && end > 0 && (static_cast<unsigned char>(name[end]) & 0xc0) == 0x80) --end;  // whole characters
    return end < name.size() ? name.substr(0, end) + "..." : name;
  };
  const ordered_json& nodes = group.at("nodes");
  std::string names;
  for (std::size_t i = 0; i < std::min(nodes.size(), kMost); ++i)
    names += fmt::format("{}'{}'", i == 0 ? "" : ", ", shortened(one_line(label_of(nodes[i]))));
  if (nodes.size() > kMost) names += fmt::format(" and {} more", nodes.size() - kMost);
  return fmt::format("{} {}: {}", line_of(group.at("op")), names, line_of(group.at("reason")));
}

ordered_json describe(const Described& described, const CompileOptions& options, const Variant* variant) {
  const Compilation& c = described.compilation;
  const Program& program = variant != nullptr ? variant->program : c.program;
  ordered_json steps = ordered_json::array(), buffers = ordered_json::array(), weights = ordered_json::array(),
               choices = ordered_json::array();
  int number = 0;
  describe_steps(program, program.steps, number, 0, steps);
  const auto origins = find_origins(described.model, program);
  std::map<const Node*, std::vector<int>> steps_of;
  for (std::size_t i = 0; i < origins.size(); ++i) {
    steps[i]["origins"] = describe_origins(origins[i]);
    for (const Origin& origin : origins[i]) steps_of[origin.node].push_back(static_cast<int>(i) + 1);
  }
  ordered_json nodes = ordered_json::array();
  describe_nodes(described.model, steps_of, c.float_reasons, nodes);
  ordered_json floats = describe_groups(nodes, "in_floats");
  for (BufferId id = 0; id < std::ssize(program.buffers); ++id) buffers.push_back(describe_buffer(program, id));
  if (c.target.gpu != nullptr) describe_devices(program, steps, nodes);
  for (const Weights& w : program.weights) {
    weights.push_back({{"name", w.name},
                       {"from", w.from},
                       {"type", info(w.element).name},
                       {"bytes", weight_bytes(w)},
                       {"bytes_saved", weight_bytes_saved(w)}});
    if (w.region >= 0) weights.back()["region"] = program.regions.at(static_cast<std::size_t>(w.region)).name;
  }
  for (const Choice& choice : variant != nullptr ? variant->choices : c.choices) {
    ordered_json candidates = ordered_json::array();
    for (const auto& candidate : choice.candidates) {
      candidates.push_back({{"kernel", candidate.kernel},
                            {"cost_ns", candidate.cost_ns},
                            {"growth", candidate.growth},
                            {"note", candidate.note},
                            {"narrow", candidate.narrow}});
      if (candidate.predicted_ns) candidates.back()["predicted_ns"] = *candidate.predicted_ns;
    }
    choices.push_back({{"node", choice.node}, {"value", choice.value}, {"winner", choice.winner}, {"candidates", std::move(candidates)}});
  }
  ordered_json on_host = describe_groups(nodes, "on_host");
  ordered_json all{{"target", full_name(c.target)},
                   {"machine", c.target.machine->name},
                   {"threads", options.threads},
                   {"totals", describe_totals(program)},
                   {"arena", describe_arena(program, Device::Cpu)}};
  if (options.weight_form) all["rounded_weights"] = text(c.rounded_weights, *options.weight_form);
  if (!program.regions.empty()) all["regions"] = describe_regions(program);
  if (c.target.gpu != nullptr) {
    all["device_arena"] = describe_arena(program, Device::Gpu);
    all["transfers"] = describe_transfers(program);
  }
  all.update({{"steps", std::move(steps)},
              {"buffers", std::move(buffers)},
              {"weights", std::move(weights)},
              {"nodes", std::move(nodes)},
              {"floats", std::move(floats)},
              {"on_host", std::move(on_host)},
              {"choices", std::move(choices)}});
  return all;
}

}  // namespace onnxc
