#include "compiler/ir/origins.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace onnxc {
namespace {

class Origins {
 public:
  Origins(const Graph& model, const Program& program) : program_(program) {
    add_producers(model);
    for_each_step(program.steps, [&](const Step& step, int) {
      steps_.push_back(&step);
      values_.push_back(value_of(step));
      kept_.insert(values_.back());
    });
  }

  std::vector<std::vector<Origin>> find() {
    std::vector<std::vector<Origin>> result(steps_.size());
    std::map<BufferId, std::size_t> reader;  // the first after the step at hand
    for (std::size_t i = steps_.size(); i-- > 0;) {
      std::set<std::size_t> nodes;
      collect(values_[i], nodes);
      for (std::size_t n : nodes) result[i].push_back(nodes_[n]);
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
  /// What the step computes, by a name of the model: an output of the model may have another one in the graph after the passes.
  std::string value_of(const Step& step) const {
    std::string value = step.value;
    if (producers_.contains(value)) return value;
    for_each_pointer(step, [&](const PointerArg& p) {
      if (const Buffer& buffer = program_[p.buffer]; p.writes && buffer.place == Buffer::Place::Output && producers_.contains(buffer.name)) value = buffer.name;
    });
    if (producers_.contains(value)) return value;
    // A value that is computed once more, or in parts, has the name with a number behind it.
    const std::size_t end = value.find_last_not_of("0123456789");
    if (end == std::string::npos || value[end] != '.' || end + 1 == value.size()) return value;
    const std::string base = value.substr(0, end);
    return producers_.contains(base) ? base : value;
  }

  void add_producers(const Graph& graph) {
    for (const Node& node : graph.nodes) {
      for (ValueId v : node.outputs) {
        if (v != kAbsent) producers_.try_emplace(graph[v].name, Producer{&graph, nodes_.size()});
      }
      const auto first = std::ranges::find_if(node.outputs, [](ValueId v) { return v != kAbsent; });
      nodes_.push_back({&node, first != node.outputs.end() ? graph[*first].name : ""});
      for (const auto& [name, region] : node.regions) add_producers(*region);
    }
  }

  /// The node that makes the value, and those before it up to values that steps compute.
  void collect(const std::string& value, std::set<std::size_t>& nodes) const {
    std::vector<std::string> open{value};
    while (!open.empty()) {
      const auto producer = producers_.find(open.back());
      open.pop_back();
      if (producer == producers_.end() || !nodes.insert(producer->second.node).second) continue;
      const auto& [graph, number] = producer->second;
      for (ValueId v : nodes_[number].node->inputs) {
        if (v != kAbsent && !kept_.contains((*graph)[v].name)) open.push_back((*graph)[v].name);
      }
    }
  }

  struct Producer {
    const Graph* graph;
    std::size_t node;  // its number in nodes_
  };
  const Program& program_;
  std::vector<const Step*> steps_;
  std::vector<std::string> values_;  // that they compute
  std::vector<Origin> nodes_;
  std::map<std::string, Producer> producers_;
  std::set<std::string> kept_;  // values that steps compute
};

}  // namespace

std::vector<std::vector<Origin>> find_origins(const Graph& model, const Program& program) { return Origins(model, program).find(); }

}  // namespace onnxc
