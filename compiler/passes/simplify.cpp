// Small rewrites that leave the values as they are, each a function of one node. Applied forward, once; IEEE semantics are kept.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "compiler/ir/layout.h"
#include "compiler/ops/operator.h"
#include "compiler/ops/shape/transpose.h"
#include "compiler/passes/passes.h"

namespace onnxc {
namespace {

class Simplifier {
 public:
  explicit Simplifier(Graph& graph) : graph_(graph), definition_(definitions(graph)), uses_(use_counts(graph)) {}

  void run() {
    same_.resize(graph_.values.size());
    std::iota(same_.begin(), same_.end(), 0);
    for (Node& node : graph_.nodes) {
      for (auto* list : {&node.inputs, &node.captures}) {
        for (ValueId& v : *list) v = v == kAbsent ? kAbsent : same_[v];
      }
      for (auto& [name, region] : node.regions) *region = simplify(std::move(*region));
      visit(node);
    }
    for (ValueId& v : graph_.outputs) v = same_[v];
  }

 private:
  /// Replaces the node's output by that value.
  void becomes(const Node& node, ValueId value) {
    const Value& before = graph_[node.outputs[0]];
    if (!(before.type == graph_[value].type)) return;
    same_[node.outputs[0]] = value;
    if (!graph_[value].elements) graph_[value].elements = before.elements;  // readers may know the numbers by these names
  }
  Node* producer(ValueId v) {
    const int d = v == kAbsent ? -1 : definition_[v];
    return d < 0 ? nullptr : &graph_.node(d);
  }
  bool is_number(ValueId v, double wanted) const {
    const TensorData* c = graph_.constant(v);
    if (c == nullptr || !onnxc::is_number(c->type) || c->count() == 0 || c->count() > 1 << 16) return false;
    const auto list = to_doubles(*c);
    return std::all_of(list.begin(), list.end(), [&](double x) { return x == wanted && std::signbit(x) == std::signbit(wanted); });
  }

  void visit(Node& node) {
    if (node.outputs.empty() || node.outputs[0] == kAbsent || !node.domain.empty()) return;
    if (node.is("Identity")) return becomes(node, node.inputs[0]);
    if (node.is("Cast") && graph_[node.inputs[0]].type.element == graph_[node.outputs[0]].type.element)
      return becomes(node, node.inputs[0]);
    if (node.is("Dropout") && node.outputs.size() == 1 && node.inputs.size() < 3) return becomes(node, node.inputs[0]);
    if (node.is("Transpose")) return transpose(node);
    if (is_reshape(node)) return reshape(node);
    if (node.is("Expand") || node.is("Tile") || node.is("Concat") || node.is("Slice") || node.is("Pad")) return same_shape_copy(node);
    arithmetic(node);
  }

  void arithmetic(Node& node) {
    if (node.inputs.size() != 2) return;
    const ValueId a = node.inputs[0], b = node.inputs[1];
    const bool integer = is_integer(graph_[a].type.element);
    if (node.is("Mul") && is_number(b, 1)) return becomes(node, a);
    if (node.is("Mul") && is_number(a, 1)) return becomes(node, b);
    if (node.is("Div") && is_number(b, 1)) return becomes(node, a);
    if (node.is("Sub") && is_number(b, 0)) return becomes(node, a);  // x - (+0) is x, also for -0
    if (node.is("Pow") && is_number(b, 1)) return becomes(node, a);
    // x + 0 turns -0 into +0; x + (-0) is x.
    if (node.is("Add") && (is_number(b, -0.0) || (integer && is_number(b, 0)))) return becomes(node, a);
    if (node.is("Add") && (is_number(a, -0.0) || (integer && is_number(a, 0)))) return becomes(node, b);
  }

  /// Operators that do nothing if the shape does not change and only one input matters.
  void same_shape_copy(Node& node) {
    const Type &in = graph_[node.inputs[0]].type, &out = graph_[node.outputs[0]].type;
    if (!(in == out)) return;
    if (node.is("Concat") && node.inputs.size() != 1) return;
    if (node.is("Slice") && node.has_input(4) && !is_number(node.input(4), 1)) return;
    if (node.is("Pad")) {  // pads may cancel: +1 before, -1 after
      if (node.has_input(1) && !is_number(node.input(1), 0)) return;
    }
    becomes(node, node.inputs[0]);
  }

  void transpose(Node& node) {
    const int rank = graph_[node.inputs[0]].type.rank();
    std::vector<int64_t> perm = permutation_of(node, rank);
    if (Node* before = producer(node.inputs[0]); before != nullptr && before->is("Transpose")) {
      const std::vector<int64_t> first = permutation_of(*before, rank);
      if (first.size() == perm.size()) {
        for (int64_t& p : perm) p = first[static_cast<std::size_t>(p)];
        node.inputs[0] = before->inputs[0];
        node.attributes["perm"] = perm;
      }
    }
    if (tokens_of_image(node, perm)) return;
    bool identity = true;
    for (int i = 0; i < rank; ++i) identity = identity && perm[static_cast<std::size_t>(i)] == i;
    if (identity) return becomes(node, node.inputs[0]);
    // If only axes of extent 1 move, the memory stays as it is: a Reshape.
    std::vector<int64_t> kept;
    for (int64_t p : perm) {
      if (!(graph_[node.inputs[0]].type.extents[static_cast<std::size_t>(p)] == Dim(1))) kept.push_back(p);
    }
    if (std::is_sorted(kept.begin(), kept.end()) && graph_[node.outputs[0]].type.is_static()) {
      node.op = "Reshape";
      node.attributes.clear();
      node.inputs.push_back(graph_.add_constant(node.name + "_shape", values(graph_[node.outputs[0]].type.extents)));
      extend();
      reshape(node);
    }
  }

  static bool is_reshape(const Node& node) {
    return node.is("Reshape") || node.is("Flatten") || node.is("Squeeze") || node.is("Unsqueeze");
  }

  void reshape(Node& node) {
    if (graph_[node.inputs[0]].type == graph_[node.outputs[0]].type) return becomes(node, node.inputs[0]);
    if (shuffle(node) || image_of_tokens(node)) return;
    const Node* before = producer(node.inputs[0]);
    if (before == nullptr || !is_reshape(*before) || !graph_[node.outputs[0]].type.is_static()) return;
    // Two reshapes become one, to the shape that is known by now.
    node.op = "Reshape";
    node.attributes.clear();
    node.attributes["allowzero"] = int64_t{1};
    const ValueId source = before->inputs[0];
    node.inputs = {source, graph_.add_constant(node.name + "_shape", values(graph_[node.outputs[0]].type.extents))};
    extend();
    if (graph_[source].type == graph_[node.outputs[0]].type) becomes(node, source);
  }

  /// Exporters go from an image [n, c, spatial...] to its pixels as rows, [n, pixels, c], and back by way of [n, c,
  /// pixels]. By way of [n, spatial..., c], the Transpose is one of an image, and moves nothing if the image is
  /// channels-last.
  ///
  ///   Reshape to [n, c, pixels], Transpose [0, 2, 1]      becomes     Transpose [0, 2, ..., 1], Reshape to [n, pixels, c]
  ///   Transpose [0, 2, 1], Reshape to [n, c, spatial...]  becomes     Reshape to [n, spatial..., c], Transpose [0, last, 1, ...]
  bool tokens_of_image(Node& turn, const std::vector<int64_t>& perm) {
    Node* flatten = producer(turn.inputs[0]);
    if (perm != std::vector<int64_t>{0, 2, 1} || flatten == nullptr || !is_reshape(*flatten) ||
        !splits_pixels(graph_[flatten->inputs[0]].type, graph_[turn.inputs[0]].type))
      return false;
    if (uses_[turn.inputs[0]] != 1) return false;
    Type pixels = graph_[flatten->inputs[0]].type;
    std::rotate(pixels.extents.begin() + 1, pixels.extents.begin() + 2, pixels.extents.end());
    std::vector<int64_t> to_last{0};
    for (int64_t axis = 2; axis < pixels.rank(); ++axis) to_last.push_back(axis);
    to_last.push_back(1);
    becomes_transpose(*flatten, flatten->inputs[0], to_last);
    gives(*flatten, pixels);
    becomes_reshape(turn, flatten->outputs[0]);
    return true;
  }
  bool image_of_tokens(Node& shape) {
    Node* turn = producer(shape.inputs[0]);
    if (turn == nullptr || !turn->is("Transpose") || turn->integers("perm") != std::vector<int64_t>{0, 2, 1} ||
        !splits_pixels(graph_[shape.outputs[0]].type, graph_[shape.inputs[0]].type))
      return false;
    if (uses_[shape.inputs[0]] != 1) return false;
    Type pixels = graph_[shape.outputs[0]].type;
    std::rotate(pixels.extents.begin() + 1, pixels.extents.begin() + 2, pixels.extents.end());
    std::vector<int64_t> to_first{0, pixels.rank() - 1};
    for (int64_t axis = 1; axis + 1 < pixels.rank(); ++axis) to_first.push_back(axis);
    gives(*turn, pixels);
    becomes_reshape(*turn, turn->inputs[0]);
    becomes_transpose(shape, turn->outputs[0], to_first);
    return true;
  }
  /// Whether `image` is [n, c, spatial...] and `flat` is the same as [n, c, pixels], with all extents known except n.
  bool splits_pixels(const Type& image, const Type& flat) const {
    const auto known = [](const Type& t) {
      return std::all_of(t.extents.begin() + 1, t.extents.end(), [](Dim d) { return d.is_constant() && d.value() > 0; });
    };
    return is_image(image) && image.rank() > 3 && flat.rank() == 3 && known(image) && known(flat) && image.extents[0] == flat.extents[0] &&
           image.extents[1] == flat.extents[1] && element_count({image.extents.begin() + 2, image.extents.end()}) == flat.extents[2];
  }
  /// Gives the node a new output value, of that type.
  void gives(Node& node, const Type& type) {
    const ValueId fresh = graph_.add_value(node.name + "_pixels", type);
    extend();
    std::swap(definition_[fresh], definition_[node.outputs[0]]);
    node.outputs[0] = fresh;
  }
  void becomes_transpose(Node& node, ValueId input, std::vector<int64_t> perm) {
    node.op = "Transpose";
    node.inputs = {input};
    node.attributes = {{"perm", std::move(perm)}};
  }
  /// Makes the node a Reshape to the type of its output. The first extent is the input's.
  void becomes_reshape(Node& node, ValueId input) {
    std::vector<int64_t> shape{0};
    const Extents& extents = graph_[node.outputs[0]].type.extents;
    for (std::size_t axis = 1; axis < extents.size(); ++axis) shape.push_back(extents[axis].value());
    node.op = "Reshape";
    node.inputs = {input, graph_.add_constant(node.name + "_shape", std::move(shape))};
    node.attributes.clear();
    extend();
  }

  /// Reshape, Transpose and Reshape back that together only move channels are a channel shuffle, which becomes a
  /// Gather. So an image stays an image, in its layout.
  bool shuffle(Node& node) {
    const Node* turn = producer(node.inputs[0]);
    if (turn == nullptr || !turn->is("Transpose") || uses_[node.inputs[0]] != 1) return false;
    const Node* split = producer(turn->inputs[0]);
    if (split == nullptr || !is_reshape(*split)) return false;
    const ValueId x = split->inputs[0];
    const Type& type = graph_[x].type;
    // The indices of more channels would be a burden of their own.
    constexpr int64_t kMostChannels = 1 << 16;
    if (!(type == graph_[node.outputs[0]].type) || type.element != ElementType::F32 || type.rank() < 3 || !type.extents[1].is_constant() ||
        type.extents[1].value() > kMostChannels)
      return false;
    // The axes [first, last) of the Reshape are the channels; those before them are the batch.
    const Extents& axes = graph_[turn->inputs[0]].type.extents;
    const std::vector<int64_t> perm = turn->integers("perm");
    std::size_t first = 0, last = 0;
    Dim batch = 1, channels = 1;
    while (first < axes.size() && !(batch == type.extents[0])) batch *= axes[first++];
    for (last = first; last < axes.size() && !(channels == type.extents[1]); ++last) channels *= axes[last];
    if (perm.size() != axes.size() || !(batch == type.extents[0]) || !(channels == type.extents[1])) return false;
    Extents from, to;  // of the channels alone
    std::vector<int64_t> order;
    for (std::size_t k = 0; k < axes.size(); ++k) {
      const auto axis = static_cast<std::size_t>(perm[k]);
      const bool inside = k >= first && k < last;
      if (inside ? axis < first || axis >= last || !axes[axis].is_constant() : axis != k) return false;
      if (inside) from.push_back(axes[k]), to.push_back(axes[axis]), order.push_back(perm[k] - static_cast<int64_t>(first));
    }
    const DimList strides = strides_of(from, {});
    std::vector<int64_t> picked{0};
    for (std::size_t k = 0; k < to.size(); ++k) {
      std::vector<int64_t> finer;
      for (int64_t at : picked) {
        for (int64_t i = 0; i < to[k].value(); ++i) finer.push_back(at + i * strides[static_cast<std::size_t>(order[k])].value());
      }
      picked = std::move(finer);
    }
    node.op = "Gather";
    node.attributes = {{"axis", int64_t{1}}};
    node.inputs = {x, graph_.add_constant(node.name + "_channels", std::move(picked))};
    extend();
    return true;
  }

  void extend() {
    while (same_.size() < graph_.values.size()) same_.push_back(static_cast<ValueId>(same_.size()));
    definition_.resize(graph_.values.size(), -1);
    uses_.resize(graph_.values.size(), 1);
  }

  Graph& graph_;
  PerValue<int> definition_, uses_;
  PerValue<ValueId> same_;
};

}  // namespace

Graph simplify(Graph graph) {
  Simplifier(graph).run();
  return eliminate_dead_code(std::move(graph));
}

}  // namespace onnxc
