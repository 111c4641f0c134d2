#include "tools/onnxc/report/graph_views.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "tools/onnxc/report/node_text.h"

namespace onnxc {
namespace {

using nlohmann::ordered_json;

class Edges {
 public:
  /// `from` may be -1: there is no source.
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
    PerValue<int> producers(graph.values.size(), -1);
    for (ValueId v : graph.inputs) {
      producers[v] = static_cast<int>(nodes_.size());
      nodes_.push_back({{"kind", "input"}, {"title", graph[v].name}, {"subtitle", type_of(graph, v)}, {"name", graph[v].name}});
    }
    add(graph, producers, -1);
    for (ValueId v : graph.outputs) {
      edges_.add(producers[v], static_cast<int>(nodes_.size()));
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

  /// Adds the nodes of a graph. `producers`: the node that computes each of its values, as far as they are known.
  void add(const Graph& graph, PerValue<int>& producers, int inside) {
    for (const Node& node : graph.nodes) {
      const int number = static_cast<int>(nodes_.size());
      nodes_.push_back(describe_node(graph, node, inside));
      const auto producer = [&](ValueId v) { return v == kAbsent ? -1 : producers[v]; };
      for (ValueId v : node.inputs) edges_.add(producer(v), number);
      for (const auto& [name, region] : node.regions) {
        PerValue<int> inner(region->values.size(), -1);
        const std::size_t formals = region->inputs.size() - node.captures.size();
        for (std::size_t i = 0; i < region->inputs.size(); ++i) {
          const ValueId outer = i < formals ? node.input(static_cast<int>(i)) : node.captures[i - formals];
          inner[region->inputs[i]] = producer(outer);
        }
        add(*region, inner, number);
        for (ValueId v : region->outputs) edges_.add(inner[v], number);
      }
      for (ValueId v : node.outputs) {
        if (v != kAbsent) producers[v] = number;
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
    ordered_json json{{"kind", "node"},    {"title", node.full_op()},     {"subtitle", type},
                      {"name", node.name}, {"inputs", std::move(inputs)}, {"outputs", std::move(outputs)}};
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
      written_[id].push_back({0, -1, static_cast<int>(nodes_.size()), 0});
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
  /// Bytes [begin, end) of a root buffer that a node wrote; with end -1, up to the end.
  struct Written {
    int64_t begin, end;
    int node;
    int block;
  };
  /// A branch of an If, or the body of a Loop; 0 is the program.
  struct Block {
    int parent;
    int owner;  // its node
  };

  static bool overlap(const Written& a, const Written& b) { return (a.end < 0 || b.begin < a.end) && (b.end < 0 || a.begin < b.end); }
  static bool covers(const Written& a, const Written& b) { return a.begin <= b.begin && (a.end < 0 || (b.end >= 0 && b.end <= a.end)); }

  /// Whether `inner` is inside `outer`, or the same block.
  bool is_within(int inner, int outer) const {
    while (inner > outer) inner = blocks_[static_cast<std::size_t>(inner)].parent;  // outer blocks have smaller numbers
    return inner == outer;
  }
  /// Whether the blocks are in the two branches of an If, only one of which runs.
  bool exclude(int a, int b) const {
    if (is_within(a, b) || is_within(b, a)) return false;
    for (; a != 0; a = blocks_[static_cast<std::size_t>(a)].parent) {
      for (int c = b; c != 0; c = blocks_[static_cast<std::size_t>(c)].parent) {
        if (a != c && blocks_[static_cast<std::size_t>(a)].owner == blocks_[static_cast<std::size_t>(c)].owner) return true;
      }
    }
    return false;
  }

  Written bytes_of(BufferId id, int node) const {
    Dim begin = 0;
    BufferId root = id;
    for (; program_[root].parent >= 0; root = program_[root].parent) begin += program_[root].offset;
    if (begin == Dim(0) && program_[id].bytes == program_[root].bytes) return {0, -1, node, block_};
    if (!begin.is_constant() || !program_[id].bytes.is_constant()) return {0, -1, node, block_};
    return {begin.value(), begin.value() + program_[id].bytes.value(), node, block_};
  }

  /// Goes back from the last write until everything that is read has certainly been written.
  void read(BufferId id, int node) {
    const Written here = bytes_of(id, node);
    const auto& list = written_[root_of(program_, id)];
    for (auto w = list.rbegin(); w != list.rend(); ++w) {
      if (!overlap(*w, here) || exclude(w->block, block_)) continue;
      edges_.add(w->node, node);
      latest_source_ = std::max(latest_source_, w->node);
      if (covers(*w, here) && is_within(block_, w->block)) return;
    }
  }

  void write(BufferId id, int node) {
    const Written here = bytes_of(id, node);
    auto& list = written_[root_of(program_, id)];
    std::erase_if(list, [&](const Written& w) { return covers(here, w) && is_within(w.block, here.block); });
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
      latest_source_ = -1;
      for_each_pointer(step, [&](const PointerArg& p) {
        if (!p.writes) return read(p.buffer, node);
        if (result == nullptr || (result->name != step.value && program_[p.buffer].name == step.value)) result = &program_[p.buffer];
      });
      for_each_pointer(step, [&](const PointerArg& p) {
        if (p.writes) write(p.buffer, node);
      });
      nodes_.push_back({{"kind", "step"},
                        {"title", fmt::format("{} {}", step_number_ + 1, step_label(step))},
                        {"subtitle", result == nullptr ? "" : type_text(*result)},
                        {"name", step.value},
                        {"step", step_number_}});
      ++step_number_;
      if (latest_source_ < owner) edges_.add(owner, node);  // it reads nothing that its block computes
      for_each_block(step, [&](const std::vector<Step>& block) {
        const int outer = std::exchange(block_, static_cast<int>(blocks_.size()));
        blocks_.push_back({outer, node});
        add(block, node);
        block_ = outer;
      });
    }
  }

  const Program& program_;
  PerBuffer<std::vector<Written>> written_;  // of root buffers
  std::vector<Block> blocks_{{0, -1}};
  int block_ = 0;  // to which steps are added
  int step_number_ = 0;
  int latest_source_ = -1;  // the last node that the current step reads from
  ordered_json nodes_ = ordered_json::array();
  Edges edges_;
};

}  // namespace

ordered_json describe_model_graph(const Graph& model, const std::map<std::string, Type>& types) { return ModelView(types).draw(model); }

ordered_json describe_step_graph(const Program& program) { return StepView(program).draw(); }

}  // namespace onnxc
