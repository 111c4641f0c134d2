// Which operators pass channels on, and layers, which sum over them and begin new ones.
#include "tools/compress/channel_sets.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "tools/compress/channel_walk.h"

namespace onnxc {
namespace {

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

}  // namespace

ChannelSets ChannelWalk::run() {
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

void ChannelWalk::visit(const onnx::NodeProto& node) {
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

void ChannelWalk::pass(const onnx::NodeProto& node, const Followed& x) {
  for (int k = 1; k < node.output_size(); ++k) {
    if (!node.output(k).empty()) return stop(node);
  }
  follow(node.output(0), x.axis, x.sets);
}

void ChannelWalk::multiply(const onnx::NodeProto& node, std::size_t l) {
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

void ChannelWalk::transposed_convolution(const onnx::NodeProto& node) {
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

void ChannelWalk::elementwise(const onnx::NodeProto& node) {
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

void ChannelWalk::normalise(const onnx::NodeProto& node, const Followed& x, int parameters) {
  for (int k = 1; k <= parameters; ++k) {
    if (!has_extent(input(node, k), 0, x.sets.size())) return stop(node);
  }
  for (int k = 1; k <= parameters; ++k) cut(node.input(k), 0, x.sets);
  pass(node, x);
}

ChannelSets find_channel_sets(const onnx::GraphProto& graph, const GraphIndex& index, const Types& types,
                              const std::vector<Layer>& layers) {
  return ChannelWalk(graph, index, types, layers).run();
}

}  // namespace onnxc
