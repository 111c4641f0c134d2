#include "compiler/ir/origins.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "compiler/ir/equal_values.h"

namespace onnxc {
namespace {

/// A value's name without the number that makes it unique. Empty if it has no such number.
std::string without_number(const std::string& name) {
  const std::size_t end = name.find_last_not_of("0123456789");
  return end == std::string::npos || name[end] != '.' || end + 1 == name.size() ? "" : name.substr(0, end);
}

class Origins {
 public:
  Origins(const Graph& model, const Program& program) : program_(program) {
    add_nodes(model);
    for_each_step(program.steps, [&](const Step& step, int) {
      steps_.push_back(&step);
      starts_.push_back(start_of(step));
    });
  }

  std::vector<std::vector<Origin>> find() {
    std::vector<std::vector<Origin>> result(steps_.size());
    std::map<BufferId, std::size_t> reader;  // the first reader after the current step
    for (std::size_t i = steps_.size(); i-- > 0;) {
      std::set<std::size_t> nodes;
      if (starts_[i]) collect(*starts_[i], nodes);
      for (std::size_t n : nodes) result[i].push_back(nodes_[n].origin);
      for_each_pointer(*steps_[i], [&](const PointerArg& p) {
        if (!p.writes || !result[i].empty()) return;
        if (const auto first = reader.find(root_of(program_, p.buffer)); first != reader.end()) result[i] = result[first->second];
      });
      for_each_pointer(*steps_[i], [&](const PointerArg& p) {
        if (!p.writes) reader[root_of(program_, p.buffer)] = i;
      });
    }
    return result;
  }

 private:
  struct ModelNode {
    Origin origin;
    std::vector<std::string> reads;    ///< what runs before it: the first names of its inputs and captures
    std::vector<std::size_t> twins{};  ///< equal nodes
    bool known = false;                ///< when the model is compiled
    bool taken_apart = false;          ///< steps compute parts of it
  };

  void add_nodes(const Graph& graph) {
    const PerValue<ValueId> same = equal_values(graph);
    const auto first_name = [&](ValueId v) { return graph[same[v]].name; };
    for (const Node& node : graph.nodes) {
      const std::size_t number = nodes_.size();
      ModelNode& added = nodes_.emplace_back();
      const auto output = std::ranges::find_if(node.outputs, [](ValueId v) { return v != kAbsent; });
      added.origin = {&node, output != node.outputs.end() ? graph[*output].name : ""};
      added.known = node.regions.empty();
      for (const std::vector<ValueId>* list : {&node.inputs, &node.captures}) {
        for (ValueId v : *list) {
          if (v == kAbsent || graph[v].constant) continue;
          added.reads.push_back(first_name(v));
          const auto producer = producers_.find(added.reads.back());
          const bool only_extents = node.is("Shape") || node.is("Size");
          added.known = added.known && (only_extents || (producer != producers_.end() && nodes_[producer->second].known));
        }
      }
      for (ValueId v : node.outputs) {
        if (v == kAbsent) continue;
        names_.try_emplace(graph[v].name, first_name(v));
        const auto [first, fresh] = producers_.try_emplace(first_name(v), number);
        if (!fresh && v == *output) nodes_[first->second].twins.push_back(number);
      }
      if (!node.name.empty()) {
        const auto [named, fresh] = by_name_.try_emplace(node.name, number);
        if (!fresh) named->second.reset();  // the name is ambiguous
      }
      for (const auto& [name, region] : node.regions) add_nodes(*region);
    }
  }

  /// The node that computes the value of that name; records that a step computes it.
  std::optional<std::size_t> node_of_value(const std::string& name) {
    const auto first = names_.find(name);
    if (first == names_.end()) return std::nullopt;
    kept_.insert(first->second);
    return producers_.at(first->second);
  }

  /// The node of that name; records that a step computes a part of it.
  std::optional<std::size_t> node_of_part(const std::string& name) {
    const auto node = by_name_.find(name);
    if (node == by_name_.end() || !node->second) return std::nullopt;
    nodes_[*node->second].taken_apart = true;
    return node->second;
  }

  /// The node whose result the step computes.
  std::optional<std::size_t> start_of(const Step& step) {
    std::optional<std::size_t> start = node_of_value(step.value);
    // After the passes, an output of the model may have another name in the graph.
    for_each_pointer(step, [&](const PointerArg& p) {
      if (const Buffer& buffer = program_[p.buffer]; !start && p.writes && buffer.space == Buffer::Space::Output)
        start = node_of_value(buffer.name);
    });
    const std::string base = without_number(step.value);
    if (!start) start = node_of_part(step.value);
    if (!start) start = node_of_part(base);
    // A value that is computed once more, or in stripes.
    return start ? start : node_of_value(base);
  }

  /// Collects the node and those before it, up to values that steps compute.
  void collect(std::size_t start, std::set<std::size_t>& found) const {
    std::vector<std::size_t> open{start};
    while (!open.empty()) {
      const std::size_t number = open.back();
      open.pop_back();
      if (!found.insert(number).second) continue;
      const ModelNode& node = nodes_[number];
      found.insert(node.twins.begin(), node.twins.end());
      if (node.taken_apart && number != start) continue;
      for (const std::string& value : node.reads) {
        const auto producer = producers_.find(value);
        if (producer == producers_.end() || kept_.contains(value)) continue;
        if (!nodes_[producer->second].known || nodes_[start].known) open.push_back(producer->second);
      }
    }
  }

  const Program& program_;
  std::vector<const Step*> steps_;
  std::vector<std::optional<std::size_t>> starts_;  // of the steps
  std::vector<ModelNode> nodes_;
  std::map<std::string, std::string> names_;                   // of values; the first equal one
  std::map<std::string, std::size_t> producers_;               // of those first ones
  std::map<std::string, std::optional<std::size_t>> by_name_;  // nodes; empty if several have the name
  std::set<std::string> kept_;                                 // values that steps compute, by the first equal one
};

}  // namespace

std::vector<std::vector<Origin>> find_origins(const Graph& model, const Program& program) { return Origins(model, program).find(); }

}  // namespace onnxc
