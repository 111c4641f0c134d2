#include "compiler/select/islands/attention_chain.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "compiler/ops/broadcast.h"
#include "compiler/ops/kernel_query.h"
#include "compiler/ops/shape/transpose.h"
#include "compiler/select/islands/attention_exprs.h"

namespace onnxc {
namespace {

/// Elements of a row of q, k and v.
int64_t most_size(Device device) { return device == Device::Gpu ? 128 : 1024; }

bool is_stack(const Graph& graph, ValueId v) {
  const Type& type = graph[v].type;
  return type.is_tensor() && type.ranked && type.element == ElementType::F32 && type.rank() >= 2 && type.rank() <= 4;
}

bool is_product(const Graph& graph, const Node* node) {
  return node != nullptr && node->is("MatMul") && is_stack(graph, node->inputs[0]) && is_stack(graph, node->inputs[1]) &&
         is_stack(graph, node->outputs[0]);
}

/// The nodes of a chain, found from its end, and the matrices that it multiplies.
class Chain {
 public:
  Chain(const Surroundings& around, Device device) : around_(around), graph_(around.graph), device_(device) {}

  bool find(const Node& last) {
    found_.last = &last;
    const Node* node = &last;
    if (last.is("Transpose")) {
      turned_ = &last;
      node = inner(last.inputs[0]);
      if (node != nullptr && node->is("Reshape")) {
        parted_ = node;
        node = inner(node->inputs[0]);
      }
    }
    if (!is_product(graph_, node) || node->epilogue) return false;
    values_ = node;
    node = inner(node->inputs[0]);
    if (node != nullptr && node->is_map()) {
      if (!take_zeros(*node)) return false;
      node = inner(node->inputs[static_cast<std::size_t>(probabilities_)]);
    }
    if (node == nullptr || !node->is("Softmax") || node->epilogue) return false;
    found_.softmax = node;
    const int64_t rank = graph_[node->inputs[0]].type.rank(), axis = node->integer("axis", -1);
    if (axis != -1 && axis != rank - 1) return false;
    return take_scores(inner(node->inputs[0])) && take_sizes() && take_operands();
  }

  Attention take() { return std::move(found_); }

 private:
  /// The node before, if the chain alone reads it.
  const Node* inner(ValueId value) {
    const Node* const node = around_.only_producer(value);
    if (node != nullptr) inside_.insert(node);
    return node;
  }

  /// A Map behind the Softmax.
  bool take_zeros(const Node& map) {
    if (map.inputs.size() == 1) return found_.nan_is_zero = replaces_nan(*map.epilogue);
    if (map.inputs.size() != 2) return false;
    for (const int x : {0, 1}) {
      const auto condition = clearing_condition(*map.epilogue, x);
      const Node* const node = around_.only_producer(map.inputs[static_cast<std::size_t>(x)]);
      if (!condition || node == nullptr || !node->is("Softmax")) continue;
      probabilities_ = x;
      clear_ = map.inputs[static_cast<std::size_t>(*condition)];
      return true;
    }
    return false;
  }

  /// The expression of the scores, and the product before it.
  bool take_scores(const Node* node) {
    const Extents& extents = graph_[found_.softmax->inputs[0]].type.extents;
    Expr expr;
    expr.finish(expr.input(0, ElementType::F32));
    std::vector<ValueId> operands;
    const auto add = [&](ValueId v) {
      const auto at = std::ranges::find(operands, v) - operands.begin();
      if (at == std::ssize(operands)) operands.push_back(v);
      return static_cast<int>(at) + 1;
    };
    // What `outer` makes of the scores so far, its x_number; the others of its inputs are operands.
    const auto follow = [&](const Expr& outer, int number, const std::vector<ValueId>& inputs) {
      std::vector<int> numbers, inner_numbers(operands.size() + 1);
      std::iota(inner_numbers.begin(), inner_numbers.end(), 0);
      for (std::size_t i = 0; i < inputs.size(); ++i) numbers.push_back(static_cast<int>(i) == number ? 0 : add(inputs[i]));
      expr = compose(outer, number, expr, numbers, inner_numbers);
    };
    const Node* map = nullptr;
    int number = 0;
    if (node != nullptr && node->is_map()) {
      map = node;
      node = nullptr;
      for (std::size_t i = 0; i < map->inputs.size() && node == nullptr; ++i) {
        const Node* const product = around_.only_producer(map->inputs[i]);
        if (!is_product(graph_, product) || !(graph_[map->inputs[i]].type.extents == extents)) continue;
        node = product;
        number = static_cast<int>(i);
      }
      if (node != nullptr) inside_.insert(node);
    }
    if (!is_product(graph_, node) || !(graph_[node->outputs[0]].type.extents == extents)) return false;
    found_.product = node;
    if (node->epilogue) {
      std::vector<ValueId> inputs{kAbsent};
      inputs.insert(inputs.end(), node->inputs.end() - node->epilogue_operands, node->inputs.end());
      follow(*node->epilogue, 0, inputs);
    }
    if (map != nullptr) follow(*map->epilogue, number, map->inputs);
    if (expr.is_identity()) return true;
    if (expr.type() != ElementType::F32 || (device_ == Device::Gpu && !leads_infinities_on(expr))) return false;
    found_.scores = std::move(expr);
    values_of_scores_ = std::move(operands);
    return static_cast<int>(values_of_scores_.size()) <= kMostEpilogueOperands;
  }

  bool take_sizes() {
    const Extents &q = extents_of(found_.product->inputs[0]), &k = extents_of(found_.product->inputs[1]),
                  &v = extents_of(values_->inputs[1]), &scores = extents_of(found_.softmax->inputs[0]),
                  &y = extents_of(values_->outputs[0]);
    if (y.size() != scores.size() || !(k.back() == scores.back()) || !(v[v.size() - 2] == scores.back())) return false;
    for (std::size_t axis = 0; axis + 2 < y.size(); ++axis) {
      if (!(y[axis] == scores[axis])) return false;
    }
    for (const Extents* of : {&q, &k, &v}) {  // which may repeat along whole axes
      for (std::size_t axis = 0; axis + 2 < of->size(); ++axis) {
        const Dim extent = (*of)[axis];
        if (!(extent == Dim(1)) && !(extent == scores[axis + scores.size() - of->size()])) return false;
      }
    }
    // A matrix of weights is packed once, when the model is compiled, for a product of its own.
    const auto is_packed = [&](ValueId matrix) {
      return device_ == Device::Cpu && graph_.constant(matrix) != nullptr && extents_of(matrix).size() == 2;
    };
    if (is_packed(found_.product->inputs[1]) || is_packed(values_->inputs[1])) return false;
    found_.queries = scores[scores.size() - 2];
    found_.keys = scores.back();
    found_.size = q.back();
    found_.value_size = v.back();
    const auto is_short = [&](Dim size) { return size.is_constant() && size.value() >= 1 && size.value() <= most_size(device_); };
    return is_short(found_.size) && is_short(found_.value_size);
  }

  bool take_operands() {
    const Extents& scores = extents_of(found_.softmax->inputs[0]);
    const Rearranged q = operand(found_.product->inputs[0], true), k = operand(found_.product->inputs[1], true),
                     v = operand(values_->inputs[1], false), y = result();
    // Batches are parted from heads as the model's axes are, or as an operand has them that a Reshape made one axis of.
    std::vector<Dim> choices;
    if (scores.size() == 4) {
      choices = {scores[1]};
    } else if (scores.size() == 3) {
      for (const Rearranged* of : {&y, &q, &k, &v}) {
        Dim heads = 1;
        const std::vector<Walk> all = stack_of(*of, scores);
        for (auto walk = all.rbegin(); walk != all.rend(); ++walk) choices.push_back(heads *= walk->extent);
      }
      choices.push_back(scores[0]);
    } else {
      choices = {Dim(1)};
    }
    const Dim count = element_count({scores.begin(), scores.end() - 2});
    for (const Dim heads : choices) {
      if (place(heads, count, q, k, v, y)) return true;
    }
    return false;
  }

  /// An operand, and its rows.
  struct Placed {
    Rearranged from;
    HeadRows rows;
  };
  /// As it lies, if that is rows of heads, else the value itself.
  std::optional<Placed> placed(const Rearranged& from, ValueId value, int row, int element) const {
    // Rows of k may be those of its transpose.
    const auto is_read = [&](const HeadRows& rows) {
      return device_ == Device::Gpu || rows.element == Dim(1) || (row == -1 && rows.row == Dim(1));
    };
    if (const auto rows = rows_of(from, row, element); rows && is_read(*rows)) return Placed{from, *rows};
    const Rearranged itself = as_it_is(graph_, value);
    const auto rows = rows_of(itself, row, element);
    return rows ? std::optional(Placed{itself, *rows}) : std::nullopt;
  }

  bool place(Dim heads, Dim count, const Rearranged& q, const Rearranged& k, const Rearranged& v, const Rearranged& y) {
    const auto batch = quotient(count, heads);
    if (!batch) return false;
    found_.batch = *batch;
    found_.heads = heads;
    const ValueId of_q = found_.product->inputs[0], of_k = found_.product->inputs[1], of_v = values_->inputs[1];
    const auto to = rows_of(y, -2, -1);
    auto queries = placed(q, of_q, -2, -1), keys = placed(k, of_k, -1, -2), values = placed(v, of_v, -2, -1);
    if (!to || !queries || !keys || !values) return false;
    if (!(keys->rows.shared == values->rows.shared)) {  // the other one as it is, then
      if (values->rows.shared == Dim(1)) keys = placed(as_it_is(graph_, of_k), of_k, -1, -2);
      else values = placed(as_it_is(graph_, of_v), of_v, -2, -1);
    }
    const bool own = to->shared == Dim(1) && queries->rows.shared == Dim(1) && keys->rows.shared == values->rows.shared;
    if (!own || !(to->element == Dim(1)) || !take_score_operands()) return false;
    found_.q = queries->rows;
    found_.k = keys->rows;
    found_.v = values->rows;
    found_.y = *to;
    found_.scale = queries->from.factor * keys->from.factor;
    std::set<const Node*> path;
    for (const auto* operand : {&*queries, &*keys, &*values}) path.insert(operand->from.nodes.begin(), operand->from.nodes.end());
    collect(path);
    return true;
  }

  /// a / b, if b is known to divide a.
  static std::optional<Dim> quotient(Dim a, Dim b) {
    if (a == b) return Dim(1);
    if (b.min_value() < 1) return std::nullopt;
    const Dim times = floor_div(a, b);
    return times * b == a ? std::optional(times) : std::nullopt;
  }

  /// The walks of all axes but the last two, aligned to the scores' axes.
  static std::vector<Walk> stack_of(const Rearranged& x, const Extents& scores) {
    std::vector<Walk> all;
    const std::size_t axes = x.axes.size() - 2, ahead = scores.size() - x.axes.size();
    for (std::size_t axis = 0; axis + 2 < scores.size(); ++axis) {
      const bool repeats = axis < ahead || (x.axes[axis - ahead].empty() && !(scores[axis] == Dim(1)));
      if (repeats) all.push_back({scores[axis], 0});
      else if (axis - ahead < axes) all.insert(all.end(), x.axes[axis - ahead].begin(), x.axes[axis - ahead].end());
    }
    return all;
  }

  /// Steps between rows of heads, where these axes have the rows and their elements; empty if they are no steps.
  std::optional<HeadRows> rows_of(const Rearranged& x, int row, int element) const {
    const auto step = [&](int axis, Dim of_none) -> std::optional<Dim> {
      const std::vector<Walk> walks = joined(x.axes[x.axes.size() + static_cast<std::size_t>(axis)]);
      if (walks.size() > 1) return std::nullopt;
      return walks.empty() ? of_none : walks[0].stride;
    };
    const auto of_row = step(row, 0), of_element = step(element, 1);
    if (!of_row || !of_element) return std::nullopt;
    HeadRows rows{.source = x.source, .offset = x.offset, .row = *of_row, .element = *of_element};
    std::vector<Walk> all = stack_of(x, extents_of(found_.softmax->inputs[0])), heads;
    for (Dim wanted = found_.heads; !(wanted == Dim(1));) {
      if (all.empty()) return std::nullopt;
      Walk& last = all.back();
      if (const auto times = quotient(wanted, last.extent)) {
        heads.insert(heads.begin(), last);
        all.pop_back();
        wanted = *times;
      } else if (const auto rest = quotient(last.extent, wanted)) {
        heads.insert(heads.begin(), {wanted, last.stride});
        last = {*rest, last.stride * wanted};
        wanted = 1;
      } else {
        return std::nullopt;
      }
    }
    all = joined(all);
    heads = joined(heads);
    if (all.size() > 1 || heads.size() > 2) return std::nullopt;
    if (heads.size() == 2) {  // heads that share others
      if (!(heads[1].stride == Dim(0))) return std::nullopt;
      rows.shared = heads[1].extent;
    }
    if (!heads.empty()) rows.head = heads[0].stride;
    if (!all.empty()) rows.batch = all[0].stride;
    return rows;
  }

  std::optional<ScoreOperand> score_operand(ValueId value) const {
    const Extents &scores = extents_of(found_.softmax->inputs[0]), &extents = extents_of(value);
    if (extents.size() > scores.size()) return std::nullopt;
    const DimList strides = broadcast_strides(scores, extents, strides_of(extents, {}));
    const std::size_t rank = scores.size();
    const Dim key = strides[rank - 1];
    const bool by_key = !(key == Dim(0)) && !(scores[rank - 1] == Dim(1));
    if (by_key && !(key == Dim(1))) return std::nullopt;
    ScoreOperand operand{.value = value, .row = strides[rank - 2], .by_key = by_key};
    if (rank == 4) {
      operand.batch = strides[0];
      operand.head = strides[1];
    } else if (rank == 3) {
      operand.batch = strides[0] * found_.heads;
      operand.head = strides[0];
    }
    return operand;
  }

  bool take_score_operands() {
    found_.operands.clear();
    for (const ValueId v : values_of_scores_) {
      const ElementType element = graph_[v].type.element;
      const auto operand = score_operand(v);
      if (!operand || (element != ElementType::F32 && element != ElementType::Bool)) return false;
      found_.operands.push_back(*operand);
    }
    if (clear_ == kAbsent) return true;
    found_.cleared = score_operand(clear_);
    return found_.cleared && !found_.cleared->by_key;
  }

  /// The nodes that nobody needs beside the attention.
  void collect(const std::set<const Node*>& path) {
    std::set<const Node*> absorbed = inside_;
    absorbed.insert(found_.softmax);
    std::set<ValueId> read{found_.q.source, found_.k.source, found_.v.source, clear_};
    read.insert(values_of_scores_.begin(), values_of_scores_.end());
    const auto count = [](const std::vector<ValueId>& list, ValueId v) { return static_cast<int>(std::ranges::count(list, v)); };
    for (auto node = path.rbegin(); node != path.rend(); ++node) {  // readers come first
      bool needed = false;
      for (const ValueId v : (*node)->outputs) {
        if (v == kAbsent) continue;
        int uses = around_.uses[v];
        for (const Node* reader : absorbed) uses -= count(reader->inputs, v);
        needed = needed || read.contains(v) || uses > (found_.last == values_ ? count(found_.last->inputs, v) : 0);
      }
      if (!needed) absorbed.insert(*node);
    }
    absorbed.erase(found_.last);
    found_.absorbed.assign(absorbed.begin(), absorbed.end());
  }

  Rearranged operand(ValueId value, bool with_factors) const { return rearranged(around_, value, with_factors); }

  /// The result of the last product, as it lies in what the chain ends with.
  Rearranged result() const {
    const ValueId y = values_->outputs[0];
    if (turned_ == nullptr) return as_it_is(graph_, y);
    const Extents &from = extents_of(turned_->inputs[0]), &own = extents_of(y);
    const std::vector<int64_t> perm = permutation_of(*turned_, static_cast<int>(from.size()));
    const Rearranged to = as_it_is(graph_, turned_->outputs[0]);
    std::vector<std::vector<Walk>> axes(from.size());
    for (std::size_t axis = 0; axis < perm.size(); ++axis) axes[static_cast<std::size_t>(perm[axis])] = to.axes[axis];
    Rearranged result{.source = to.source, .axes = std::vector<std::vector<Walk>>(own.size()), .nodes = {}};
    if (parted_ == nullptr) {
      result.axes = std::move(axes);
      return result;
    }
    // Rows and their elements are the same axes, and all others together are the same heads.
    for (std::size_t i = 0; i < 2; ++i) result.axes[own.size() - 1 - i] = axes[axes.size() - 1 - i];
    if (own.size() == 3) {
      for (std::size_t axis = 0; axis + 2 < axes.size(); ++axis)
        result.axes[0].insert(result.axes[0].end(), axes[axis].begin(), axes[axis].end());
    }
    return result;
  }

  const Extents& extents_of(ValueId v) const { return graph_[v].type.extents; }

  const Surroundings& around_;
  const Graph& graph_;
  const Device device_;
  Attention found_;
  const Node *values_ = nullptr, *turned_ = nullptr, *parted_ = nullptr;
  int probabilities_ = 0;  ///< of the inputs of the Map behind the Softmax
  ValueId clear_ = kAbsent;
  std::vector<ValueId> values_of_scores_;
  std::set<const Node*> inside_;  ///< nodes follow each other in memory as in the graph
};

}  // namespace

std::optional<Attention> attention_of(const Surroundings& around, const Node& last, Device device) {
  Chain chain(around, device);
  if (!chain.find(last)) return std::nullopt;
  return chain.take();
}

}  // namespace onnxc
