#include "compiler/passes/propagate.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <tuple>

#include "compiler/ops/control/scan.h"
#include "compiler/ops/operator.h"
#include "compiler/ops/shape_arithmetic.h"
#include "compiler/passes/branch_ranks.h"
#include "compiler/passes/fold_work.h"
#include "compiler/passes/hand_over_name.h"
#include "compiler/passes/run_loop.h"
#include "compiler/support/error_codes.h"

namespace onnxc {
namespace {

/// Folds shape arithmetic that came out constant, whatever its inputs are.
bool fold_elements(Graph& graph, const Node& node) {
  if (node.outputs.size() != 1 || node.outputs[0] == kAbsent) return false;
  Value& value = graph[node.outputs[0]];
  if (!value.elements || !value.type.is_static() || is_sub_byte(value.type.element) ||
      !(is_integer(value.type.element) || value.type.element == ElementType::Bool))
    return false;
  if (std::any_of(value.elements->begin(), value.elements->end(), [](Dim d) { return !d.is_constant(); })) return false;
  auto t = std::make_shared<TensorData>(TensorData::zeros(value.type.element, values(value.type.extents)));
  ONNXC_CHECK(t->count() == static_cast<int64_t>(value.elements->size()), "known elements fill the tensor");
  const auto width = static_cast<std::size_t>(info(value.type.element).bits / 8);
  for (std::size_t i = 0; i < value.elements->size(); ++i) {
    const int64_t v = (*value.elements)[i].value();
    std::memcpy(t->bytes.data() + i * width, &v, width);
  }
  value.constant = std::move(t);
  value.elements.reset();
  return true;
}

/// The version of nodes in their operator's latest form.
constexpr int kLatest = 1000;

Node identity(const std::string& name, ValueId input, ValueId output) {
  Node node;
  node.op = "Identity";
  node.name = name;
  node.version = kLatest;
  node.inputs = {input};
  node.outputs = {output};
  return node;
}

class Propagation {
 public:
  explicit Propagation(FoldBudget budget) : budget_(budget) {}

  void run(Graph& graph) {
    if (depth_++ == 0) fresh_ = first_fresh(graph);
    refuse_inputs(graph);
    // A Bind states them anew at its place; a region before it has a Bind of its own.
    if (depth_ == 1) {
      for (ValueId v : graph.inputs) graph[v].elements.reset();
    }
    forget(graph);  // what an earlier walk, or another graph at this address, left
    std::deque<Node> work(std::make_move_iterator(graph.nodes.begin()), std::make_move_iterator(graph.nodes.end()));
    graph.nodes.clear();
    collect_written(work);
    std::deque<Node>* const outer_work = std::exchange(work_, &work);
    while (!work.empty()) {
      Node node = std::move(work.front());
      work.pop_front();
      if (!is_restated(node)) visit(graph, std::move(node));
    }
    work_ = outer_work;
    for (ValueId v : graph.outputs) {
      if (graph[v].type.kind == Type::Kind::Unknown)
        throw Error(ErrorCode::OutputNotComputed,
                    fmt::format("output '{}' of graph '{}' is never computed: its node does not give it", graph[v].name, graph.name));
    }
    std::erase_if(graph.nodes,
                  [&](const Node& node) { return node.outputs.size() == 1 && superseded_.contains({&graph, node.outputs[0]}); });
    meetings_.insert(meetings_.end(), graph.meetings.begin(), graph.meetings.end());
    graph.meetings.clear();
    if (--depth_ > 0) return require_on_entry(graph);
    graph.meetings = std::exchange(meetings_, {});
  }
  int64_t folded_bytes() const { return spent_; }

 private:
  /// Walks over a region. If that throws, the state is as if the region had not been entered, and the walk can
  /// continue after it.
  void attempt(Graph& branch) {
    const auto [depth, work, meetings] = std::tuple{depth_, work_, meetings_.size()};
    try {
      run(branch);
    } catch (const Error&) {
      std::tie(depth_, work_) = std::tuple{depth, work};
      meetings_.erase(meetings_.begin() + static_cast<std::ptrdiff_t>(meetings), meetings_.end());
      throw;
    }
  }

  void forget(const Graph& graph) {
    std::erase_if(deferred_, [&](const auto& entry) { return entry.first.first == &graph; });
    std::erase_if(superseded_, [&](const ValueKey& key) { return key.first == &graph; });
  }

  using Symbols = std::map<std::string, Dim>;

  static void collect_dims(const Node& node, const char* attribute, Symbols& into) {
    for (const std::string& text : std::get<std::vector<std::string>>(node.attributes.at(attribute))) parse_dim(text).collect_symbols(into);
  }
  /// Collects the symbols by which onnxc.Extents of a decomposition refer to sizes that only a run knows, and the
  /// symbols that these depend on.
  template <class Nodes>
  void collect_written(const Nodes& nodes) {
    for (std::size_t i = nodes.size(); i-- > 0;) {
      if (is_extents(nodes[i])) collect_dims(nodes[i], "elements", written_);
      if (is_let(nodes[i]) && written_.contains(nodes[i].binds[0])) collect_dims(nodes[i], "value", written_);
      for (const auto& [name, region] : nodes[i].regions) collect_written(region->nodes);
    }
  }

  /// Shape rules state these nodes anew on each walk, except for symbols that the graph already refers to.
  bool is_restated(const Node& node) const { return is_require(node) || (is_let(node) && !written_.contains(node.binds[0])); }

  /// Requirements that a region has for the caller's extents concern only runs that enter it. So they are checked
  /// there instead of for the whole model.
  static void require_on_entry(Graph& region) {
    std::vector<Node> required;
    for (const Requirement& requirement : region.requirements) required.push_back(make_require_node(requirement));
    region.requirements.clear();
    region.nodes.insert(region.nodes.begin(), std::make_move_iterator(required.begin()), std::make_move_iterator(required.end()));
  }

  /// Refuses inputs with impossible types. Formals of a region have the types that the model states and those of the
  /// values that flow in.
  static void refuse_inputs(const Graph& graph) {
    for (ValueId v : graph.inputs) {
      if (std::string error = size_error(graph[v]); !error.empty()) throw Error(ErrorCode::SizeOverflow, std::move(error));
      if (const std::string error = stated_error(graph[v]); !error.empty())
        throw Error(ErrorCode::StatedType, fmt::format("graph '{}': {}", graph.name, error));
    }
  }

  void visit(Graph& graph, Node node) {
    // The node is moved into the graph or replaced by others, so its names are kept for messages.
    Node who;
    std::tie(who.domain, who.op, who.name) = std::tie(node.domain, node.op, node.name);
    try {
      who.guard([&] { visit_unguarded(graph, std::move(node)); });
    } catch (const Misread& e) {
      who.fail(ErrorKind::Invalid, e.diagnostics()[0].found);
    }
  }
  void visit_unguarded(Graph& graph, Node node) {
    if (const std::shared_ptr<const Schema> schema = std::exchange(node.schema, nullptr)) verify_inputs(*schema, graph, node);
    if (node.domain == "onnxc" && node.op == "Verify") return;
    for (ValueId v : node.outputs) {
      if (v != kAbsent) graph[v].elements.reset();
    }
    if (node.is("Scan")) return expand_scan(graph, node, [&](Node part) { visit(graph, std::move(part)); });
    if (node.version != kLatest && !node.is_map()) {
      const Operator* op = nullptr;
      // Repeated until the operator is a current one: an Upsample becomes a Resize.
      while (op != find_operator(node)) {
        op = find_operator(node);
        if (op == nullptr || op->resolve == nullptr) break;
        GraphBuilder builder(graph, node.name, fresh_);
        op->resolve(builder, node);
        for (Node& added : builder.take()) settle(graph, std::move(added));
      }
      node.version = kLatest;
      while (node.epilogue_operands == 0 && !node.inputs.empty() && node.inputs.back() == kAbsent) node.inputs.pop_back();
    }
    if (node.is("If") && !node.inputs.empty() && graph.constant(node.inputs[0]) != nullptr) return take_branch(graph, node);
    if (budget_.evaluates && node.is("Loop") && fold_loop(graph, node)) return;
    if (!node.regions.empty()) enter_regions(graph, node);
    if (node.is("If")) {
      if (const std::optional<bool> condition = branch_ranks_.enter(node, [&](Graph& branch) { attempt(branch); }))
        return assume_branch(graph, node, *condition);
      if (ranks_differ(graph, node) && branch_ranks_.take_in_rest(graph, node, *work_)) return;
    }
    if (const Operator* op = node.is_map() ? nullptr : find_operator(node); op != nullptr && is_composition(*op))
      return take_apart(graph, *op, node);
    const RegionWalk walk = [this](Graph& region) { attempt(region); };
    infer_node(graph, node, fresh_, graph.nodes, &walk);
    for (ValueId v : node.outputs) {
      if (v == kAbsent) continue;
      if (std::string error = stated_error(graph[v]); !error.empty()) node.fail(ErrorCode::StatedType, std::move(error));
    }
    if (budget_.evaluates && has_only_parts(graph, node)) return take_apart(graph, *find_operator(node), node);
    settle(graph, std::move(node));
  }

  /// Whether a node whose inputs are constants has no reference value of its own, but is made of others.
  static bool has_only_parts(const Graph& graph, const Node& node) {
    const Operator* const op = node.is_map() || node.epilogue ? nullptr : find_operator(node);
    return op != nullptr && op->decompose != nullptr && op->evaluate == nullptr && op->express == nullptr &&
           std::ranges::all_of(node.inputs, [&](ValueId v) { return v == kAbsent || graph[v].constant != nullptr; });
  }

  /// Replaces a Loop by its values. Returns false if they cannot be known.
  bool fold_loop(Graph& graph, const Node& node) {
    const auto values = run_loop(graph, node, [this](Graph& body) { propagate(body, budget_); });
    if (!values) return false;
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] != kAbsent) make_constant_of(graph[node.outputs[i]], (*values)[i]);
    }
    return true;
  }

  static void make_constant_of(Value& value, Constant constant) {
    value.type = Type::tensor(constant->type, to_extents(constant->shape));
    value.constant = std::move(constant);
    value.elements.reset();
  }

  /// What is wrong with a part of a node is told of the node, which is what the model has.
  template <class Work>
  static auto told_of(const Node& whole, const Work& work) {
    try {
      return work();
    } catch (const Error& e) {
      std::vector<Diagnostic> told = e.diagnostics();
      for (Diagnostic& d : told) {
        if (d.op.empty() || d.op == whole.full_op() || d.node != whole.name) continue;
        d.found = fmt::format("its {}: {}", d.op, d.found);
        d.op = whole.full_op();
      }
      throw Error(e.kind(), std::move(told));
    }
  }

  /// Replaces a composite node by its parts, the last of which compute the node's outputs.
  void take_apart(Graph& graph, const Operator& op, const Node& node) {
    check_arity(op, node);
    const std::size_t before = graph.values.size();
    GraphBuilder builder(graph, node.name, fresh_);
    const auto results = told_of(node, [&] { return op.decompose(builder, node); });
    if (!results) {
      ONNXC_CHECK(!is_composition(op), "a composition has parts");
      return settle(graph, node);
    }
    for (std::size_t i = 0; i < results->size() && i < node.outputs.size(); ++i) {
      if (node.outputs[i] != kAbsent && (*results)[i] >= static_cast<ValueId>(before))
        hand_over_name(graph, node.outputs[i], (*results)[i]);
    }
    for (Node& part : builder.take()) {
      if (budget_.evaluates) told_of(node, [&] { visit(graph, std::move(part)); });
      else settle(graph, std::move(part));
    }
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] == kAbsent) continue;
      ONNXC_CHECK(i < results->size() && (*results)[i] != kAbsent, "a composition gives all of the node's outputs");
      visit(graph, identity(node.name, (*results)[i], node.outputs[i]));
    }
  }

  /// Gives the regions the types and known values of their captures; constants become constants of the region. The
  /// formals of a Loop's body get their types from the Loop's own rule, by what flows in.
  void enter_regions(Graph& graph, Node& node) {
    for (std::size_t i = node.captures.size(); i-- > 0;) {
      const Value& outer = graph[node.captures[i]];
      for (auto& [name, region] : node.regions) {
        const std::size_t at = region->inputs.size() - node.captures.size() + i;
        Value& inner = (*region)[region->inputs[at]];
        inner.type = outer.type;
        inner.elements = outer.elements;
        inner.constant = outer.constant;
      }
      if (!outer.constant) continue;
      for (auto& [name, region] : node.regions)
        region->inputs.erase(region->inputs.begin() + static_cast<std::ptrdiff_t>(region->inputs.size() - node.captures.size() + i));
      node.captures.erase(node.captures.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  /// Replaces an If whose condition is known by the nodes of its branch.
  void take_branch(Graph& graph, const Node& node) {
    const TensorData& condition = *graph.constant(node.inputs[0]);
    if (condition.type != ElementType::Bool || condition.count() != 1) node.fail(ErrorKind::Invalid, "the condition is not one bool");
    inline_branch(graph, node, to_integers(condition)[0] != 0);
  }

  /// Replaces an If by the branch that every valid run takes. A run with another condition ends with a status.
  void assume_branch(Graph& graph, const Node& node, bool condition) {
    GraphBuilder builder(graph, node.name, fresh_);
    const ValueId integer = builder.op("Cast", {node.inputs[0]}, {{"to", int64_t{7}}});
    for (Node& part : builder.take()) settle(graph, std::move(part));
    visit(graph, make_assume_node(node.name, integer, condition));
    inline_branch(graph, node, condition);
  }

  void inline_branch(Graph& graph, const Node& node, bool condition) {
    const Graph* branch = node.region(condition ? "then_branch" : "else_branch");
    if (branch == nullptr || branch->outputs.size() != node.outputs.size())
      node.fail(ErrorKind::Invalid, "a branch does not give the node's outputs");
    PerValue<ValueId> outer(branch->values.size(), kAbsent);
    const std::size_t formals = branch->inputs.size() - node.captures.size();
    for (std::size_t i = 0; i < node.captures.size(); ++i) outer[branch->inputs[formals + i]] = node.captures[i];
    for (ValueId v = 0; v < std::ssize(branch->values); ++v) {
      if (outer[v] != kAbsent) continue;
      const Value& inner = (*branch)[v];
      outer[v] = graph.add_value(inner.name, inner.type);
      graph[outer[v]].constant = inner.constant;
      graph[outer[v]].stated = inner.stated;
    }
    const auto move = [&](std::vector<ValueId>& list) {
      for (ValueId& v : list) v = v == kAbsent ? kAbsent : outer[v];
    };
    std::vector<Node> nodes;
    collect_written(branch->nodes);
    for (Node inner : branch->nodes) {
      if (is_restated(inner)) continue;
      move(inner.inputs);
      move(inner.outputs);
      move(inner.captures);
      nodes.push_back(std::move(inner));
    }
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] != kAbsent) nodes.push_back(identity(node.name, outer[branch->outputs[i]], node.outputs[i]));
    }
    work_->insert(work_->begin(), std::make_move_iterator(nodes.begin()), std::make_move_iterator(nodes.end()));
  }

  /// Adds an inferred node to the graph, or replaces it by its value or by the extents that it computes.
  void settle(Graph& graph, Node node) {
    if (fold(graph, node)) return;
    // Products by constants are much faster, so their weights may be folded even if they grow.
    if (node.is("MatMul") || node.is("Gemm") || node.is("Conv") || node.is("ConvTranspose")) fold_deferred(graph, node.input(1));
    const bool known = node.regions.empty() && !is_extents(node) && !node.outputs.empty() &&
                       std::all_of(node.outputs.begin(), node.outputs.end(), [&](ValueId v) {
                         if (v != kAbsent && graph[v].elements &&
                             std::any_of(graph[v].elements->begin(), graph[v].elements->end(), [](Dim d) { return d.depends_on_run(); }))
                           return false;
                         return v != kAbsent && graph[v].elements && graph[v].type.is_static() &&
                                static_cast<int64_t>(graph[v].elements->size()) == element_count(graph[v].type.extents).value();
                       });
    if (!known) return graph.nodes.push_back(std::move(node));
    // Shape arithmetic needs no tensors.
    for (ValueId v : node.outputs) {
      graph.nodes.push_back(make_extents_node(graph, v));
      graph.nodes.back().name = node.name;
    }
  }

  /// Folds a value whose folding was deferred because it grows. Returns false if it depends on inputs or the budget
  /// is used up.
  bool fold_deferred(Graph& graph, ValueId value) {
    const auto found = deferred_.find({&graph, value});
    if (found == deferred_.end()) return value == kAbsent || graph[value].constant != nullptr;
    const Node node = graph.nodes[found->second.node];
    deferred_.erase(found);  // it is tried once
    if (!std::ranges::all_of(node.inputs, [&](ValueId v) { return fold_deferred(graph, v); }) || !fold(graph, node, INT64_MAX))
      return false;
    superseded_.insert({&graph, value});
    return true;
  }

  bool fold(Graph& graph, const Node& node) { return fold(graph, node, budget_.growth_bytes); }
  bool fold(Graph& graph, const Node& node, int64_t growth_bytes) {
    if (!node.regions.empty() || node.outputs.empty()) return false;
    int64_t bytes = 0;
    for (ValueId v : node.outputs) {
      if (v == kAbsent) continue;
      const Value& value = graph[v];
      if (!value.type.is_tensor()) return false;
      if (value.elements && std::all_of(value.elements->begin(), value.elements->end(), [](Dim d) { return d.is_constant(); })) continue;
      if (value.type.is_static()) {
        int64_t n = 0;
        try {
          n = storage_bytes(value.type.element, element_count(value.type.extents).value());
        } catch (const SizeOverflow&) {
          return false;  // too many to count, so too many to fold
        }
        if (n > budget_.most_bytes || spent_ + bytes + n > budget_.total_bytes) return false;
        bytes += n;
      }
      if (value.type.element == ElementType::String) {
        const double most = most_text(graph, node, value.type);
        if (most > static_cast<double>(std::min(budget_.most_bytes, budget_.total_bytes - spent_ - bytes))) return false;
        bytes += static_cast<int64_t>(most);
      }
    }
    if (fold_elements(graph, node)) return true;
    std::vector<Constant> inputs;
    int64_t input_bytes = 0;
    int deferrals = 0;  // the length of the longest chain of deferred values
    for (ValueId v : node.inputs) {
      inputs.push_back(v == kAbsent ? nullptr : graph[v].constant);
      if (v == kAbsent) continue;
      if (inputs.back() != nullptr) {
        const bool is_new = std::find(inputs.begin(), inputs.end() - 1, inputs.back()) == inputs.end() - 1;
        if (is_new) input_bytes += bytes_held(*inputs.back());  // a Concat of a value with itself grows
      } else if (const auto found = deferred_.find({&graph, v}); found != deferred_.end()) {
        deferrals = std::max(deferrals, found->second.deferrals);
      } else {
        return false;
      }
    }
    if (deferrals > 0 || (bytes > growth_bytes && bytes > input_bytes)) {
      if (constexpr int kMostDeferrals = 8; node.outputs.size() == 1 && deferrals < kMostDeferrals)
        deferred_[{&graph, node.outputs[0]}] = {graph.nodes.size(), deferrals + 1};
      return false;
    }
    const double work = evaluation_work(graph, node, inputs);
    if (work > budget_.work - worked_) return false;
    worked_ += work;
    std::optional<std::vector<TensorData>> outputs;
    try {
      outputs = evaluate_node(graph, node, std::move(inputs));
    } catch (const Error& e) {
      if (e.kind() == ErrorKind::Internal) throw;
      return false;  // a run will report what is wrong
    }
    if (!outputs) return false;
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] == kAbsent) continue;
      Value& value = graph[node.outputs[i]];
      make_constant_of(value, std::make_shared<TensorData>(std::move((*outputs)[i])));
      spent_ += bytes_held(*value.constant);
      value.constant->bytes.give_back();
    }
    for (ValueId v : node.inputs) {
      if (v != kAbsent && graph[v].constant) graph[v].constant->bytes.give_back();
    }
    return true;
  }

  using ValueKey = std::pair<const Graph*, ValueId>;
  struct Deferred {
    std::size_t node;  // its index in the graph
    int deferrals;     // the length of the longest chain of deferred values that ends here
  };
  FoldBudget budget_;
  int64_t spent_ = 0;
  double worked_ = 0;
  // Values that depend on no input but are too large to be folded on their own, or read such values.
  std::map<ValueKey, Deferred> deferred_;
  Symbols written_;
  // Deferred values that are constants now. Their nodes are removed at the end of the walk.
  std::set<ValueKey> superseded_;
  std::vector<std::pair<Dim, Dim>> meetings_;  // of extents, in the graph and its regions
  std::deque<Node>* work_ = nullptr;           // the remaining nodes of the graph that is being walked
  BranchRanks branch_ranks_;
  int fresh_ = 0, depth_ = 0;
};

}  // namespace

int64_t propagate(Graph& graph, FoldBudget budget) {
  Propagation walk(budget);
  walk.run(graph);
  return walk.folded_bytes();
}

}  // namespace onnxc
