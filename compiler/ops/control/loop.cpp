// Loop: a graph that runs again and again, until a count is reached or a condition fails.
//
//   final values, scan outputs = Loop(M, condition, initial values) {body = graph (i, condition, values) -> (condition, values, scanned)}
//
// The node binds the number of the iteration, the number of iterations that ran, and the extents that differ between
// iterations. These are found by trials: the body is inferred with the types of the initial values; extents that come
// out different become symbols, until nothing changes. The body as inferred by the last trial is kept. Nested Loops
// would need 2^depth trials if LoopTrials did not remember their results.
#include "compiler/ops/control/loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "compiler/ops/operator.h"
#include "compiler/support/error_codes.h"

namespace onnxc {
namespace {

constexpr int kMostTrials = 64;

bool always_true(const Graph& body, ValueId value) {
  const PerValue<int> definition = definitions(body);
  for (;;) {
    if (value == body.inputs[1]) return true;
    if (const TensorData* c = body.constant(value)) return c->type == ElementType::Bool && c->count() == 1 && to_integers(*c)[0] != 0;
    const int d = definition[value];
    if (d < 0 || !body.node(d).is("Identity")) return false;
    value = body.node(d).inputs[0];
  }
}

/// The types of the carried values during the trials.
class Carried {
 public:
  Carried(Inference& n, LoopTrials& trials, std::size_t count) : n_(n), trials_(trials) {
    for (std::size_t i = 0; i < count; ++i) initial_.push_back(n.type(static_cast<int>(2 + i)));
    begin(true);
  }
  const std::vector<Type>& types() const { return types_; }
  /// Whether some types are not derived from the initial ones.
  bool is_guess() const { return is_guess_; }

  /// Starts with the initial types, with symbols where extents are known to vary. `guess`: sequences and optionals
  /// keep the types of an earlier inference.
  void begin(bool guess) {
    types_ = initial_;
    is_guess_ = false;
    for (std::size_t i = 0; i < types_.size(); ++i) {
      if (types_[i].is_tensor() || !guess || i >= trials_.settled.size() || trials_.settled[i].kind != types_[i].kind ||
          trials_.settled[i] == types_[i])
        continue;
      types_[i] = trials_.settled[i];
      is_guess_ = true;
    }
    for (const auto& [i, axis] : trials_.varying) {
      if (i < types_.size() && types_[i].is_tensor() && axis < types_[i].extents.size()) types_[i].extents[axis] = symbol(i, axis);
    }
  }

  /// Replaces extents of value i that differ in `next` by symbols. Returns true if something changed.
  bool generalise(std::size_t i, const Type& next) {
    Type& type = types_[i];
    if (type.kind == Type::Kind::Optional && next.kind == type.nested.at(0).kind)
      // The type of a value that is present.
      return generalise_nested(type.nested[0], next);
    if (type.kind != next.kind || type.element != next.element || type.nested.size() != next.nested.size())
      n_.fail(fmt::format("carried value {} is {} before an iteration and {} after it", i, type.text(), next.text()));
    bool changed = false;
    if (!type.is_tensor()) {
      for (std::size_t k = 0; k < type.nested.size(); ++k) changed = generalise_nested(type.nested[k], next.nested[k]) || changed;
      return changed;
    }
    if (type.ranked != next.ranked || type.extents.size() != next.extents.size())
      n_.fail(ErrorCode::RankChanges,
              fmt::format("carried value {} is {} before an iteration and {} after it: the rank changes", i, type.text(), next.text()));
    for (std::size_t axis = 0; axis < type.extents.size(); ++axis) {
      if (type.extents[axis] == next.extents[axis] || symbols_.contains({i, axis})) continue;
      trials_.varying.emplace(i, axis);
      type.extents[axis] = symbol(i, axis);
      changed = true;
    }
    return changed;
  }

  void settle() { trials_.settled = types_; }

 private:
  Dim symbol(std::size_t i, std::size_t axis) {
    const auto known = symbols_.find({i, axis});
    return known != symbols_.end() ? known->second : symbols_.emplace(std::pair{i, axis}, n_.fresh("c")).first->second;
  }

  Inference& n_;
  LoopTrials& trials_;
  std::vector<Type> initial_, types_;
  std::map<std::pair<std::size_t, std::size_t>, Dim> symbols_;  // for the extents that vary
  bool is_guess_ = false;
};

/// Gives each Loop inside a body that is to be tried a memory for its trials, or takes it away.
void keep_trials(Graph& body, bool keep) {
  for_each_graph(body, [&](Graph& graph) {
    for (Node& node : graph.nodes) {
      node.trials = nullptr;
      if (!keep || node.regions.empty() || node.is("If")) continue;
      node.trials = std::make_shared<LoopTrials>();
      node.trials->inner = std::make_shared<LoopTrials>();
    }
  });
}

void collect_binds(const Graph& graph, std::set<std::string>& into) {
  for (const Node& node : graph.nodes) {
    into.insert(node.binds.begin(), node.binds.end());
    for (const auto& [name, region] : node.regions) collect_binds(*region, into);
  }
}

void set_formals(Graph& body, const std::vector<Type>& types, Dim iteration) {
  Value& number = body[body.inputs[0]];
  const bool listed = number.type.is_tensor() && number.type.ranked && number.type.rank() == 1;
  number.type = Type::tensor(ElementType::I64, listed ? Extents{1} : Extents{});
  number.elements = DimList{iteration};
  Value& condition = body[body.inputs[1]];
  const bool list_of_one = condition.type.is_tensor() && condition.type.ranked && condition.type.rank() == 1;
  condition.type = Type::tensor(ElementType::Bool, list_of_one ? Extents{1} : Extents{});
  for (std::size_t i = 0; i < types.size(); ++i) {
    body[body.inputs[2 + i]].type = types[i];
    body[body.inputs[2 + i]].elements.reset();
  }
}

void infer_loop(Inference& n) {
  const Node& node = n.node();
  Graph* const body = node.region("body");
  if (body == nullptr) n.fail("has no body");
  if (body->inputs.size() < node.captures.size() + 2 || body->outputs.empty())
    n.fail("the body takes the number of the iteration and the condition, and gives a condition");
  const std::size_t carried = loop_carried(node), inputs = static_cast<std::size_t>(node.own_inputs());
  if (std::max<std::size_t>(inputs, 2) != carried + 2)
    n.fail(fmt::format("the body carries {} values, the node has {} initial ones", carried, inputs < 2 ? 0 : inputs - 2));
  if (body->outputs.size() < carried + 1)
    n.fail(fmt::format("the body gives {} values, fewer than the {} that it carries", body->outputs.size() - 1, carried));
  if (body->outputs.size() - 1 != node.outputs.size())
    n.fail(fmt::format("the body gives {} values, the node has {} outputs", body->outputs.size() - 1, node.outputs.size()));
  if (n.has(0)) {
    if (n.element(0) != ElementType::I64) n.fail(fmt::format("the number of iterations is {}, not i64", name(n.element(0))));
    static_cast<void>(n.known_elements(0, "the number of iterations"));
  }
  if (n.has(1) && n.element(1) != ElementType::Bool) n.fail(fmt::format("the condition is {}, not bool", name(n.element(1))));
  if (n.has(1) && n.type(1).ranked) n.unify(element_count(n.extents(1)), 1, "the elements of the condition");
  const LoopTrips first_limit = loop_trips(n.graph(), node);
  const Dim iteration = n.fresh("i", 0, first_limit.most ? std::optional<Dim>(max(*first_limit.most - 1, 0)) : std::nullopt);
  const Dim trips = n.fresh("trips", 0, first_limit.most ? std::optional<Dim>(max(*first_limit.most, 0)) : std::nullopt);

  const bool outermost = node.trials == nullptr;
  const std::shared_ptr<LoopTrials> trials = outermost ? std::make_shared<LoopTrials>() : node.trials;
  if (outermost) keep_trials(*body, true);
  Carried values(n, *trials, carried);
  Graph tried;
  for (int trial = 0;; ++trial) {
    if (trial == kMostTrials) n.fail(ErrorCode::RankChanges, "the shapes of the carried values do not settle");
    tried = clone(*body);
    set_formals(tried, values.types(), iteration);
    bool changed = false;
    try {
      n.walk(tried);
      for (std::size_t i = 0; i < carried; ++i) changed = values.generalise(i, tried[tried.outputs[1 + i]].type) || changed;
    } catch (const Error& error) {
      if (!values.is_guess() || error.kind() == ErrorKind::Internal) throw;
      changed = true;
    }
    if (!changed) break;
    if (values.is_guess()) values.begin(false);
  }
  *body = std::move(tried);
  values.settle();
  const Type& goes_on = (*body)[body->outputs[0]].type;
  if (!goes_on.is_tensor() || goes_on.element != ElementType::Bool)
    n.fail(fmt::format("the body's condition is {}, not bool", goes_on.text()));
  if (!goes_on.ranked || !(element_count(goes_on.extents) == Dim(1)))
    n.fail(fmt::format("the body's condition is {}; one value is needed", goes_on.text()));
  if (outermost) keep_trials(*body, false);
  const std::vector<Type>& types = values.types();
  for (std::size_t i = 0; i < carried; ++i) {
    const Type& next = (*body)[body->outputs[1 + i]].type;
    n.output(static_cast<int>(i), types[i].kind == Type::Kind::Optional && next.kind != types[i].kind ? types[i].nested[0] : types[i]);
  }

  // Scan outputs: symbols that the body binds are unknown outside it.
  std::set<std::string> inside;
  collect_binds(*body, inside);
  inside.insert(node.binds.begin(), node.binds.end());
  const LoopTrips limit = loop_trips(n.graph(), node);
  for (std::size_t k = 1 + carried; k < body->outputs.size(); ++k) {
    const Type& slice = (*body)[body->outputs[k]].type;
    if (!slice.is_tensor() || !slice.ranked) n.unsupported(fmt::format("scan output {} is {}", k - 1, slice.text()));
    Extents extents{limit.most && !limit.conditional ? max(*limit.most, 0) : trips};
    for (Dim d : slice.extents) {
      std::map<std::string, Dim> used;
      d.collect_symbols(used);
      const bool local = std::any_of(used.begin(), used.end(), [&](const auto& s) { return inside.count(s.first) != 0; });
      extents.push_back(local ? n.fresh("s", 0, d.upper_bound([&](const std::string& s) { return inside.count(s) == 0; })) : d);
    }
    n.output(static_cast<int>(k - 1), slice.element, std::move(extents));
  }
}

}  // namespace

bool generalise_nested(Type& type, const Type& next) {
  if (type == next) return false;
  if (type.is_tensor() && !type.ranked && next.ranked && type.element == next.element) {  // an empty sequence
    type = next;
    return true;
  }
  if (next.is_tensor() && !next.ranked) return false;
  bool changed = false;
  if (type.is_tensor() && type.extents.size() == next.extents.size()) {
    for (std::size_t axis = 0; axis < type.extents.size(); ++axis) {
      if (type.extents[axis] == next.extents[axis] || type.extents[axis] == unknown_extent()) continue;
      type.extents[axis] = unknown_extent();
      changed = true;
    }
  } else if (type.is_tensor()) {
    type.ranked = false;
    type.extents.clear();
    changed = true;
  }
  for (std::size_t i = 0; i < type.nested.size() && i < next.nested.size(); ++i)
    changed = generalise_nested(type.nested[i], next.nested[i]) || changed;
  return changed;
}

std::size_t loop_carried(const Node& node) { return node.region("body")->inputs.size() - node.captures.size() - 2; }

LoopTrips loop_trips(const Graph& graph, const Node& node) {
  LoopTrips trips;
  if (node.has_input(0)) {
    const Value& m = graph[node.inputs[0]];
    if (m.elements && !m.elements->empty()) trips.most = m.elements->front();
    else if (m.constant && m.constant->count() == 1) trips.most = Dim(std::min(to_integers(*m.constant)[0], kFar));
  }
  const Graph& body = *node.region("body");
  const TensorData* first = node.has_input(1) ? graph.constant(node.inputs[1]) : nullptr;
  const bool starts = !node.has_input(1) || (first != nullptr && first->count() == 1 && to_integers(*first)[0] != 0);
  trips.conditional = !starts || !always_true(body, body.outputs[0]);
  // Exporters write the largest integer if only the condition ends a loop.
  constexpr int64_t kEndless = int64_t{1} << 31;
  if (trips.most && trips.most->is_constant() && trips.most->value() >= kEndless) trips.most.reset();
  return trips;
}

extern const Operator op_Loop;
const Operator op_Loop{.name = "Loop", .min_inputs = 0, .min_outputs = 0, .infer = infer_loop};

}  // namespace onnxc
