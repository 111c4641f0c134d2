#include "tools/onnxc/report/graph_views.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "tools/onnxc/report/node_text.h"

namespace onnxc {
namespace {

using nlohmann::ordered_json;

class Edges {
 public:
  /// From -1: from nowhere.
  void add(int from, int to) {
    if (from >= 0 && from != to && seen_.emplace(from, to).second) list_.push_back({from, to});
  }
  ordered_json take() { return std::move(list_); }

 private:
  std::set<std::pair<int, int>> seen_;
  ordered_json list_ = ordered_json::array();
};

class ModelView {
 public:
  explicit ModelView(const std::map<std::string, Type>& types) : types_(types) {}

  ordered_json draw(const Graph& graph) {
    std::vector<int> producers(graph.values.size(), -1);
    for (ValueId v : graph.inputs) {
      producers[static_cast<std::size_t>(v)] = static_cast<int>(nodes_.size());
      nodes_.push_back({{"kind", "input"}, {"title", graph[v].name}, {"subtitle", type_of(graph, v)}, {"name", graph[v].name}});
    }
    add(graph, producers, -1);
    for (ValueId v : graph.outputs) {
      edges_.add(producers[static_cast<std::size_t>(v)], static_cast<int>(nodes_.size()));
      nodes_.push_back({{"kind", "output"}, {"title", graph[v].name}, {"subtitle", type_of(graph, v)}, {"name", graph[v].name}});
    }
    return {{"nodes", std::move(nodes_)}, {"edges", edges_.take()}};
  }

 private:
  std::string type_of(const Graph& graph, ValueId v) const {
    const Type& own = graph[v].type;
    if (own.ranked || own.kind > Type::Kind::Tensor) return own.text();
    const auto known = types_.find(graph[v].name);
    return known == types_.end() ? own.text() : known->second.text();
  }

  /// Adds the nodes of a graph, `producers` being the node that makes each of its values, so far as they are known.
  void add(const Graph& graph, std::vector<int>& producers, int inside) {
    for (const Node& node : graph.nodes) {
      const int number = static_cast<int>(nodes_.size());
      nodes_.push_back(describe_node(graph, node, inside));
      const auto producer = [&](ValueId v) { return v == kAbsent ? -1 : producers[static_cast<std::size_t>(v)]; };
      for (ValueId v : node.inputs) edges_.add(producer(v), number);
      for (const auto& [name, region] : node.regions) {
        std::vector<int> inner(region->values.size(), -1);
        const std::size_t formals = region->inputs.size() - node.captures.size();
        for (std::size_t i = 0; i < region->inputs.size(); ++i) {
          const ValueId outer = i < formals ? node.input(static_cast<int>(i)) : node.captures[i - formals];
          inner[static_cast<std::size_t>(region->inputs[i])] = producer(outer);
        }
        add(*region, inner, number);
        for (ValueId v : region->outputs) edges_.add(inner[static_cast<std::size_t>(v)], number);
      }
      for (ValueId v : node.outputs) {
        if (v != kAbsent) producers[static_cast<std::size_t>(v)] = number;
      }
    }
  }

  ordered_json describe_node(const Graph& graph, const Node& node, int inside) const {
    ordered_json inputs = ordered_json::array(), outputs = ordered_json::array();
    for (ValueId v : node.inputs) {
      if (v == kAbsent) continue;
      inputs.push_back({{"name", graph[v].name}, {"type", type_of(graph, v)}});
      if (graph[v].constant) inputs.back()["constant"] = true;
    }
    for (ValueId v : node.outputs) {
      if (v != kAbsent) outputs.push_back({{"name", graph[v].name}, {"type", type_of(graph, v)}});
    }
    const ordered_json type = outputs.empty() ? ordered_json("") : outputs[0]["type"];
    ordered_json json{{"kind", "node"}, {"title", node.full_op()}, {"subtitle", type}, {"name", node.name}, {"inputs", std::move(inputs)}, {"outputs", std::move(outputs)}};
    if (inside >= 0) json["inside"] = inside;
    if (!node.attributes.empty()) json["attributes"] = attributes_text(node);
    return json;
  }

  const std::map<std::string, Type>& types_;
  ordered_json nodes_ = ordered_json::array();
  Edges edges_;
};

class StepView {
 public:
  explicit StepView(const Program& program) : program_(program), written_(program.buffers.size()) {}

  ordered_json draw() {
    for (BufferId id : program_.inputs) {
      written_[static_cast<std::size_t>(id)].push_back({0, -1, static_cast<int>(nodes_.size())});
      add_border("input", id);
    }
    add(program_.steps, -1);
    for (BufferId id : program_.outputs) {
      read(id, static_cast<int>(nodes_.size()));
      add_border("output", id);
    }
    return {{"nodes", std::move(nodes_)}, {"edges", edges_.take()}};
  }

 private:
  /// Bytes [begin, end) of a root buffer, and the node that wrote them last; end -1: to the end.
  struct Written {
    int64_t begin, end;
    int node;
  };

  static bool overlap(const Written& a, const Written& b) { return (a.end < 0 || b.begin < a.end) && (b.end < 0 || a.begin < b.end); }

  Written place(BufferId id, int node) const {
    Dim begin = 0;
    BufferId root = id;
    for (; program_[root].parent >= 0; root = program_[root].parent) begin += program_[root].offset;
    if (root == id || !begin.is_constant() || !program_[id].bytes.is_constant()) return {0, -1, node};
    return {begin.value(), begin.value() + program_[id].bytes.value(), node};
  }

  void read(BufferId id, int node) {
    const Written here = place(id, node);
    for (const Written& w : written_[static_cast<std::size_t>(root_of(program_, id))]) {
      if (overlap(w, here)) edges_.add(w.node, node);
    }
  }

  void write(BufferId id, int node) {
    const Written here = place(id, node);
    auto& list = written_[static_cast<std::size_t>(root_of(program_, id))];
    std::erase_if(list, [&](const Written& w) { return here.begin <= w.begin && (here.end < 0 || (w.end >= 0 && w.end <= here.end)); });
    list.push_back(here);
  }

  void add_border(const char* kind, BufferId id) {
    const Buffer& b = program_[id];
    nodes_.push_back({{"kind", kind}, {"title", b.name}, {"subtitle", type_text(b)}, {"name", b.name}});
  }

  static std::string type_text(const Buffer& b) { return b.is_value ? "value" : Type::tensor(b.element, b.extents).text(); }

  void add(const std::vector<Step>& steps, int owner) {
    for (const Step& step : steps) {
      const int node = static_cast<int>(nodes_.size());
      const Buffer* result = nullptr;
      for_each_pointer(step, [&](const PointerArg& p) {
        if (!p.writes) return read(p.buffer, node);
        if (result == nullptr || (result->name != step.value && program_[p.buffer].name == step.value)) result = &program_[p.buffer];
      });
      for_each_pointer(step, [&](const PointerArg& p) {
        if (p.writes) write(p.buffer, node);
      });
      nodes_.push_back({{"kind", "step"}, {"title", fmt::format("{} {}", step_number_ + 1, step_label(step))}, {"subtitle", result == nullptr ? "" : type_text(*result)},
                        {"name", step.value}, {"step", step_number_}});
      ++step_number_;
      edges_.add(owner, node);
      for (const auto& block : step.blocks) add(block, node);
    }
  }

  const Program& program_;
  std::vector<std::vector<Written>> written_;  // of root buffers
  int step_number_ = 0;
  ordered_json nodes_ = ordered_json::array();
  Edges edges_;
};

}  // namespace

ordered_json describe_model_graph(const Graph& model, const std::map<std::string, Type>& types) { return ModelView(types).draw(model); }

ordered_json describe_step_graph(const Program& program) { return StepView(program).draw(); }

}  // namespace onnxc
