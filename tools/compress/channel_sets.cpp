// One walk over the nodes, in their order. A value has at most one axis whose channels are followed. An operator either passes channels on, sums over them and begins
// new ones, or keeps what it reads.
#include "tools/compress/channel_sets.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>

#include "tools/compress/reshaped_channels.h"

namespace onnxc {
namespace {

/// The axis of a value whose channels are followed.
struct Followed {
  int axis = 0;
  SetList sets;
};

/// One function of each element, or of elements at the same place of tensors that are broadcast.
const std::set<std::string> kElementwise = {"Abs",         "Acos",
                                            "Acosh",       "Add",
                                            "And",         "Asin",
                                            "Asinh",       "Atan",
                                            "Atanh",       "BitShift",
                                            "Cast",        "Ceil",
                                            "Celu",        "Clip",
                                            "Cos",         "Cosh",
                                            "Div",         "Dropout",
                                            "Elu",         "Equal",
                                            "Erf",         "Exp",
                                            "Floor",       "Gelu",
                                            "Greater",     "GreaterOrEqual",
                                            "HardSigmoid", "HardSwish",
                                            "Identity",    "IsInf",
                                            "IsNaN",       "LeakyRelu",
                                            "Less",        "LessOrEqual",
                                            "Log",         "Max",
                                            "Mean",        "Min",
                                            "Mish",        "Mod",
                                            "Mul",         "Neg",
                                            "Not",         "Or",
                                            "PRelu",       "Pow",
                                            "Reciprocal",  "Relu",
                                            "Round",       "Selu",
                                            "Shrink",      "Sigmoid",
                                            "Sign",        "Sin",
                                            "Sinh",        "Softplus",
                                            "Softsign",    "Sqrt",
                                            "Sub",         "Sum",
                                            "Swish",       "Tan",
                                            "Tanh",        "ThresholdedRelu",
                                            "Where",       "Xor"};
/// Each channel for itself, along the axes behind the second.
const std::set<std::string> kSpatial = {"AveragePool", "MaxPool", "LpPool", "GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"};
const std::set<std::string> kReductions = {"ReduceMean", "ReduceSum", "ReduceMax",    "ReduceMin",       "ReduceProd",
                                           "ReduceL1",   "ReduceL2",  "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare"};

class Walk {
 public:
  Walk(const onnx::GraphProto& graph, const GraphIndex& index, const Types& types, const std::vector<Layer>& layers)
      : graph_(graph), index_(index), types_(types), layers_(layers) {
    for (std::size_t l = 0; l < layers.size(); ++l) layer_of_[layers[l].node] = l;
    result_.rows.resize(layers.size());
  }

  ChannelSets run() {
    for (int i = 0; i < graph_.node_size(); ++i) {
      position_ = i;
      visit(graph_.node(i));
    }
    for (const auto& [value, followed] : followed_) {
      if (index_.is_seen_outside(value))
        keep(followed.sets, fmt::format("'{}' is an output of the model, or read by a branch or a loop", one_line(value)));
    }
    keep_shared();
    return finish();
  }

 private:
  // ---- sets

  int add_set(const std::string& why = {}) {
    parents_.push_back(static_cast<int>(parents_.size()));
    reasons_.push_back(why);
    return parents_.back();
  }
  SetList add_sets(int64_t n, const std::string& why = {}) {
    SetList sets;
    for (int64_t i = 0; i < n; ++i) sets.push_back(add_set(why));
    return sets;
  }
  int root(int set) {
    while (parents_[at(set)] != set) set = parents_[at(set)] = parents_[at(parents_[at(set)])];
    return set;
  }
  void join(int a, int b) {
    a = root(a), b = root(b);
    if (a == b) return;
    parents_[at(b)] = a;
    if (reasons_[at(a)].empty()) reasons_[at(a)] = reasons_[at(b)];
  }
  void join(const SetList& a, const SetList& b) {
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) join(a[i], b[i]);
  }
  void keep(const SetList& sets, const std::string& why) {
    for (const int set : sets) {
      std::string& reason = reasons_[at(root(set))];
      if (reason.empty()) reason = why;
    }
  }
  static std::size_t at(int set) { return static_cast<std::size_t>(set); }

  // ---- values

  const Followed* followed(const std::string& value) const {
    const auto found = followed_.find(value);
    return found == followed_.end() ? nullptr : &found->second;
  }
  const Type* type(const std::string& value) const {
    const auto found = types_.find(value);
    return found != types_.end() && found->second.is_tensor() && found->second.ranked ? &found->second : nullptr;
  }
  static std::string input(const onnx::NodeProto& node, int k) { return k < node.input_size() ? node.input(k) : std::string(); }
  std::optional<std::vector<int64_t>> integers(const std::string& value) const {
    const onnx::TensorProto* tensor = index_.initialiser(value);
    if (tensor == nullptr) return std::nullopt;
    const TensorData data = to_tensor(*tensor);
    if (!is_integer(data.type)) return std::nullopt;
    return to_integers(data);
  }
  /// Axes that a node has as its input `k`, or as an attribute, counted from the front.
  std::optional<std::vector<int64_t>> axes(const onnx::NodeProto& node, int k, int rank) const {
    std::optional<std::vector<int64_t>> found = input(node, k).empty() ? integers_attribute(node, "axes") : integers(input(node, k));
    if (!found) return found;
    for (int64_t& axis : *found) axis += axis < 0 ? rank : 0;
    return found;
  }
  void follow(const std::string& value, int axis, SetList sets) {
    const Type* const t = type(value);
    const bool fits = t != nullptr && axis >= 0 && axis < t->rank() && t->extents[at(axis)].is_constant() &&
                      t->extents[at(axis)].value() == static_cast<int64_t>(sets.size());
    if (!fits) return keep(sets, fmt::format("the extents of '{}' are not known", one_line(value)));
    result_.not_empty.push_back(sets);
    followed_[value] = {axis, std::move(sets)};
  }

  /// The node reads an initialiser that has one element, row or column for each channel.
  void cut(const std::string& tensor, int axis, const SetList& sets) {
    places_[tensor].insert(position_);
    for (const CutTensor& other : result_.cuts) {
      if (other.tensor == tensor && other.axis == axis) return join(other.sets, sets);
    }
    result_.cuts.push_back({tensor, axis, sets});
  }
  bool has_extent(const std::string& tensor, int axis, std::size_t extent) const {
    const onnx::TensorProto* t = index_.initialiser(tensor);
    return t != nullptr && axis < t->dims_size() && t->dims(axis) == static_cast<int64_t>(extent);
  }

  void keep_inputs(const onnx::NodeProto& node, const std::string& why) {
    for (const std::string& name : node.input()) {
      if (const Followed* f = followed(name)) keep(f->sets, why);
    }
  }
  void stop(const onnx::NodeProto& node) { keep_inputs(node, fmt::format("{} needs them all", shown(node))); }

  // ---- nodes

  void visit(const onnx::NodeProto& node) {
    const std::string& op = node.op_type();
    const auto layer = layer_of_.find(position_);
    if (layer != layer_of_.end() && layers_[layer->second].kept.empty() && layers_[layer->second].kind != Layer::Kind::Table)
      return multiply(node, layer->second);
    if (is_op(node, "ConvTranspose")) return transposed_convolution(node);
    if (std::ranges::none_of(node.input(), [&](const std::string& name) { return followed(name) != nullptr; })) return;
    if (!normal(node)) return stop(node);
    if (kElementwise.contains(op)) return elementwise(node);
    if (op == "Concat") return concat(node);
    if (op == "Shape") return shape(node);
    const Followed* const data = followed(input(node, 0));
    if (data == nullptr || type(node.input(0)) == nullptr) return stop(node);
    const Followed x = *data;
    const int rank = type(node.input(0))->rank();
    if (kSpatial.contains(op) && x.axis == 1) return pass(node, x);
    if (op == "BatchNormalization" && x.axis == 1 && integer_attribute(node, "training_mode", 0) == 0) return normalise(node, x, 4);
    if (op == "InstanceNormalization" && x.axis == 1) return normalise(node, x, 2);
    if ((op == "Softmax" || op == "LogSoftmax") && positive(integer_attribute(node, "axis", -1), rank) != x.axis) return pass(node, x);
    if (op == "Transpose") return transpose(node, x, rank);
    if (op == "Flatten" || op == "Squeeze" || op == "Unsqueeze") return reshape(node, x, false);
    if (op == "Reshape") return reshape(node, x, true);
    if (op == "Split") return split(node, x, rank);
    if (op == "Slice") return slice(node, x, rank);
    if (op == "Pad") return pad(node, x, rank);
    if (op == "Resize") return resize(node, x);
    if (kReductions.contains(op)) return reduce(node, x, rank);
    stop(node);
  }
  static bool normal(const onnx::NodeProto& node) { return is_op(node, node.op_type()); }
  static int positive(int64_t axis, int rank) { return static_cast<int>(axis < 0 ? axis + rank : axis); }

  /// One output has the channels of the input.
  void pass(const onnx::NodeProto& node, const Followed& x) {
    for (int k = 1; k < node.output_size(); ++k) {
      if (!node.output(k).empty()) return stop(node);
    }
    follow(node.output(0), x.axis, x.sets);
  }

  void multiply(const onnx::NodeProto& node, std::size_t l) {
    const Layer& layer = layers_[l];
    const Type* const in = type(layer.input);
    const bool is_conv = layer.kind == Layer::Kind::Conv;
    if (!index_.has_one_reader(layer.weight) || in == nullptr || in->rank() < 2 || type(layer.output) == nullptr)
      return keep_inputs(node, fmt::format("the weights of {} have several readers", shown(node)));
    const onnx::TensorProto& weight = *index_.initialiser(layer.weight);
    const auto row_of = static_cast<int>(row_axis(layer, node));
    const int64_t rows = weight.dims(row_of), columns = weight.dims(1 - row_of);
    const int64_t groups = is_conv ? std::max<int64_t>(1, integer_attribute(node, "group", 1)) : 1;
    const Followed* x = followed(layer.input);
    const int in_axis = is_conv ? 1 : in->rank() - 1;
    if (x != nullptr && (x->axis != in_axis || x->sets.size() != static_cast<std::size_t>(columns * groups) || rows % groups != 0)) {
      stop(node);
      x = nullptr;
    }
    const SetList inputs = x == nullptr ? SetList() : x->sets;
    SetList outputs;
    if (groups > 1 && columns == 1) {  // depthwise: an output belongs to its input
      if (x == nullptr) return;
      for (int64_t r = 0; r < rows; ++r) outputs.push_back(inputs[static_cast<std::size_t>(r / (rows / groups))]);
      result_.counted.push_back({position_, -1, {}, {{0, inputs}}});
    } else {
      outputs = add_sets(rows);
      for (int64_t r = 0; r < rows; ++r) join(outputs[static_cast<std::size_t>(r)], outputs[static_cast<std::size_t>(r % (rows / groups))]);
      for (std::size_t c = 0; c < inputs.size(); ++c) join(inputs[c], inputs[c % static_cast<std::size_t>(columns)]);
      for (int64_t g = 0; g < groups && x != nullptr; ++g) {
        const auto first = inputs.begin() + g * columns;
        result_.sums.push_back({l, g, {first, first + columns}});
      }
      if (x != nullptr) cut(layer.weight, 1 - row_of, {inputs.begin(), inputs.begin() + columns});
    }
    cut(layer.weight, row_of, outputs);
    if (!layer.bias.empty()) cut(layer.bias, 0, outputs);
    result_.rows[l] = outputs;
    follow(layer.output, is_conv ? 1 : type(layer.output)->rank() - 1, std::move(outputs));
  }

  /// Its outputs are channels; its inputs stay.
  void transposed_convolution(const onnx::NodeProto& node) {
    stop(node);
    const onnx::TensorProto* const weight = index_.initialiser(input(node, 1));
    const std::string bias = input(node, 2);
    if (weight == nullptr || weight->dims_size() < 3 || integer_attribute(node, "group", 1) != 1 || !index_.has_one_reader(node.input(1)))
      return;
    if (!bias.empty() && index_.initialiser(bias) == nullptr) return;
    const SetList outputs = add_sets(weight->dims(1));
    cut(node.input(1), 1, outputs);
    if (!bias.empty()) cut(bias, 0, outputs);
    follow(node.output(0), 1, outputs);
  }

  void elementwise(const onnx::NodeProto& node) {
    const Type* const out = type(node.output(0));
    if (out == nullptr || (node.output_size() > 1 && !node.output(1).empty())) return stop(node);
    std::optional<Followed> joined;  // with the axis of the output
    for (const std::string& name : node.input()) {
      const Followed* f = followed(name);
      if (f == nullptr) continue;
      const int axis = f->axis + out->rank() - type(name)->rank();
      const bool is_whole = axis >= 0 && out->extents[at(axis)] == Dim(static_cast<int64_t>(f->sets.size()));
      if (!is_whole || (joined && joined->axis != axis)) keep(f->sets, fmt::format("{} broadcasts them", shown(node)));
      if (!is_whole) continue;
      if (joined && joined->axis == axis) join(joined->sets, f->sets);
      else if (joined) keep(joined->sets, fmt::format("{} broadcasts them", shown(node)));
      else joined = Followed{axis, f->sets};
    }
    if (!joined) return;
    for (const std::string& name : node.input()) {
      if (name.empty() || followed(name) != nullptr) continue;
      const Type* const t = type(name);
      const int axis = t == nullptr ? 0 : joined->axis - (out->rank() - t->rank());
      if (t != nullptr && (axis < 0 || t->extents[at(axis)] == Dim(1))) continue;
      if (t != nullptr && has_extent(name, axis, joined->sets.size())) cut(name, axis, joined->sets);
      else keep(joined->sets, fmt::format("{} combines them with '{}'", shown(node), one_line(name)));
    }
    follow(node.output(0), joined->axis, joined->sets);
  }

  void normalise(const onnx::NodeProto& node, const Followed& x, int parameters) {
    for (int k = 1; k <= parameters; ++k) {
      if (!has_extent(input(node, k), 0, x.sets.size())) return stop(node);
    }
    for (int k = 1; k <= parameters; ++k) cut(node.input(k), 0, x.sets);
    pass(node, x);
  }

  void transpose(const onnx::NodeProto& node, const Followed& x, int rank) {
    std::vector<int64_t> order = integers_attribute(node, "perm");
    if (order.empty()) {
      order.resize(at(rank));
      std::iota(order.rbegin(), order.rend(), 0);
    }
    const auto found = std::ranges::find(order, x.axis);
    follow(node.output(0), static_cast<int>(found - order.begin()), x.sets);
  }

  void reshape(const onnx::NodeProto& node, const Followed& x, bool has_target) {
    const Type *const from = type(node.input(0)), *const to = type(node.output(0));
    const auto moved = from == nullptr || to == nullptr ? std::nullopt : reshaped_axis(from->extents, x.axis, to->extents);
    if (!moved) return stop(node);
    SetList sets;
    const int64_t extent = to->extents[at(moved->axis)].value();
    for (int64_t i = 0; i < extent; ++i) {
      const int64_t first = i * moved->channels_of_element / moved->elements_of_channel;
      sets.push_back(x.sets[static_cast<std::size_t>(first)]);
      for (int64_t k = 1; k < moved->channels_of_element; ++k) join(sets.back(), x.sets[static_cast<std::size_t>(first + k)]);
    }
    if (has_target) {
      std::optional<std::vector<int64_t>> target = integers(input(node, 1));
      if (!target) {  // computed: it is stated anew from what is known of the result
        target.emplace();
        for (const Dim extent_of : to->extents) target->push_back(extent_of.is_constant() ? extent_of.value() : -1);
      }
      // An extent of 0 copies that of the input's axis, and one of -1 is computed.
      const auto element = static_cast<std::size_t>(moved->axis);
      if (std::ranges::count(*target, -1) > 1 || element >= target->size()) return stop(node);
      CountedChannels counted{position_, 1, *target, {}};
      if ((*target)[element] > 0) counted.counts[moved->axis] = sets;
      else if ((*target)[element] == 0 && (moved->axis != x.axis || sets.size() != x.sets.size())) return stop(node);
      result_.counted.push_back(std::move(counted));
    }
    follow(node.output(0), moved->axis, std::move(sets));
  }

  void concat(const onnx::NodeProto& node) {
    const Type* const out = type(node.output(0));
    if (out == nullptr) return stop(node);
    const int axis = positive(integer_attribute(node, "axis", 0), out->rank());
    SetList sets;
    bool along = true, across = true;
    for (const std::string& name : node.input()) {
      const Followed* f = followed(name);
      along &= f == nullptr || f->axis == axis;
      across &= f != nullptr && f->axis != axis && f->axis == followed(node.input(0))->axis;
      across = across && followed(node.input(0)) != nullptr;
    }
    if (across) {
      const Followed first = *followed(node.input(0));
      for (const std::string& name : node.input()) join(first.sets, followed(name)->sets);
      return follow(node.output(0), first.axis, first.sets);
    }
    for (const std::string& name : node.input()) {
      const Type* const t = type(name);
      if (!along || t == nullptr || axis >= t->rank() || !t->extents[at(axis)].is_constant()) return stop(node);
      const Followed* f = followed(name);
      const SetList part =
          f != nullptr ? f->sets : add_sets(t->extents[at(axis)].value(), fmt::format("'{}' has no layer's channels", one_line(name)));
      sets.insert(sets.end(), part.begin(), part.end());
    }
    follow(node.output(0), axis, std::move(sets));
  }

  void split(const onnx::NodeProto& node, const Followed& x, int rank) {
    const int axis = positive(integer_attribute(node, "axis", 0), rank);
    CountedChannels counted{position_, 1, {}, {}};
    std::size_t first = 0;
    for (const std::string& name : node.output()) {
      const Type* const t = type(name);
      if (t == nullptr || !t->extents[at(axis)].is_constant()) return stop(node);
    }
    for (int k = 0; k < node.output_size(); ++k) {
      if (axis != x.axis) {
        follow(node.output(k), x.axis, x.sets);
        continue;
      }
      const auto extent = static_cast<std::size_t>(type(node.output(k))->extents[at(axis)].value());
      if (first + extent > x.sets.size()) return stop(node);
      const auto from = x.sets.begin() + static_cast<std::ptrdiff_t>(first);
      const SetList part(from, from + static_cast<std::ptrdiff_t>(extent));
      first += extent;
      counted.values.push_back(static_cast<int64_t>(extent));
      counted.counts[k] = part;
      follow(node.output(k), axis, part);
    }
    if (axis == x.axis) result_.counted.push_back(std::move(counted));
  }

  void slice(const onnx::NodeProto& node, const Followed& x, int rank) {
    const auto starts = integers(input(node, 1));
    auto cut_axes = axes(node, 3, rank);
    if (input(node, 3).empty() && starts) {
      cut_axes.emplace(starts->size());
      std::iota(cut_axes->begin(), cut_axes->end(), 0);
    }
    if (!cut_axes || std::ranges::count(*cut_axes, x.axis) > 0) return stop(node);
    pass(node, x);
  }

  void pad(const onnx::NodeProto& node, const Followed& x, int rank) {
    const auto pads = integers(input(node, 1));
    if (!pads || !input(node, 3).empty() || pads->size() != static_cast<std::size_t>(2 * rank)) return stop(node);
    if ((*pads)[at(x.axis)] != 0 || (*pads)[at(x.axis + rank)] != 0) return stop(node);
    pass(node, x);
  }

  void resize(const onnx::NodeProto& node, const Followed& x) {
    const onnx::AttributeProto* mode = find_attribute(node, "coordinate_transformation_mode");
    if (find_attribute(node, "axes") != nullptr || find_attribute(node, "keep_aspect_ratio_policy") != nullptr ||
        (mode != nullptr && mode->s() == "tf_crop_and_resize"))
      return stop(node);
    if (const auto sizes = integers(input(node, 3)); sizes) {
      if (at(x.axis) >= sizes->size() || (*sizes)[at(x.axis)] != static_cast<int64_t>(x.sets.size())) return stop(node);
      result_.counted.push_back({position_, 3, *sizes, {{x.axis, x.sets}}});
      return pass(node, x);
    }
    const std::vector<float> scales = floats_of(index_.initialiser(input(node, 2)));
    if (at(x.axis) >= scales.size() || scales[at(x.axis)] != 1) return stop(node);
    pass(node, x);
  }

  void reduce(const onnx::NodeProto& node, const Followed& x, int rank) {
    const auto reduced = axes(node, 1, rank);
    if (!reduced || reduced->empty() || std::ranges::count(*reduced, x.axis) > 0) return stop(node);
    const bool keeps = integer_attribute(node, "keepdims", 1) != 0;
    const auto before = std::ranges::count_if(*reduced, [&](int64_t axis) { return axis < x.axis; });
    follow(node.output(0), keeps ? x.axis : x.axis - static_cast<int>(before), x.sets);
  }

  /// Only extents of other axes may be asked for.
  void shape(const onnx::NodeProto& node) {
    const Followed& x = *followed(node.input(0));
    const int rank = type(node.input(0)) == nullptr ? 0 : type(node.input(0))->rank();
    const auto start = positive(integer_attribute(node, "start", 0), rank), end = positive(integer_attribute(node, "end", rank), rank);
    bool fits = !index_.is_seen_outside(node.output(0));
    for (const int reader : index_.readers(node.output(0))) {
      const onnx::NodeProto& gather = graph_.node(reader);
      const auto picked = is_op(gather, "Gather") ? integers(input(gather, 1)) : std::nullopt;
      fits &= picked && std::ranges::none_of(*picked, [&](int64_t i) { return start + positive(i, end - start) == x.axis; });
    }
    if (x.axis >= start && x.axis < end && !fits) stop(node);
  }

  // ---- the end

  /// An initialiser that a node reads in another way cannot be cut.
  void keep_shared() {
    for (const CutTensor& cut : result_.cuts) {
      const std::vector<int>& readers = index_.readers(cut.tensor);
      const bool is_understood = std::ranges::all_of(readers, [&](int reader) { return places_[cut.tensor].contains(reader); });
      if (!is_understood || index_.is_seen_outside(cut.tensor))
        keep(cut.sets, fmt::format("'{}' has several readers", one_line(cut.tensor)));
    }
  }

  /// Sets get consecutive numbers.
  ChannelSets finish() {
    std::map<int, int> numbers;
    for (std::size_t set = 0; set < parents_.size(); ++set) {
      const int top = root(static_cast<int>(set));
      if (numbers.emplace(top, result_.count).second) {
        ++result_.count;
        result_.kept.push_back(reasons_[at(top)]);
      }
    }
    const auto number = [&](SetList& sets) {
      for (int& set : sets) set = numbers.at(root(set));
    };
    for (CutTensor& cut : result_.cuts) number(cut.sets);
    for (CountedChannels& counted : result_.counted) {
      for (auto& [element, sets] : counted.counts) number(sets);
    }
    for (ChannelSum& sum : result_.sums) number(sum.sets);
    for (SetList& rows : result_.rows) number(rows);
    for (SetList& sets : result_.not_empty) number(sets);
    return std::move(result_);
  }

  const onnx::GraphProto& graph_;
  const GraphIndex& index_;
  const Types& types_;
  const std::vector<Layer>& layers_;
  std::map<int, std::size_t> layer_of_;
  int position_ = 0;
  std::vector<int> parents_;
  std::vector<std::string> reasons_;
  std::map<std::string, Followed> followed_;
  std::map<std::string, std::set<int>> places_;  ///< of an initialiser: the nodes that read it as channels
  ChannelSets result_;
};

}  // namespace

ChannelSets find_channel_sets(const onnx::GraphProto& graph, const GraphIndex& index, const Types& types,
                              const std::vector<Layer>& layers) {
  return Walk(graph, index, types, layers).run();
}

}  // namespace onnxc
