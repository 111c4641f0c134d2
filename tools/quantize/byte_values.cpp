#include "tools/quantize/byte_values.h"

#include <algorithm>
#include <numeric>

namespace onnxc {
namespace {

/// How a node that is no layer could read bytes.
enum class Manner { Float, Move, Concat, OwnCodes };

bool is_activation(const std::string& value, const GraphIndex& index, const Types& types) {
  const auto type = types.find(value);
  return index.initialiser(value) == nullptr && type != types.end() && type->second.is_tensor() && type->second.element == ElementType::F32;
}

Manner manner_of(const onnx::NodeProto& node, const GraphIndex& index, const Types& types) {
  static const std::set<std::string> kMovers = {"Reshape",  "Flatten",      "Transpose",    "Squeeze", "Unsqueeze", "Slice",
                                                "Identity", "DepthToSpace", "SpaceToDepth", "MaxPool", "Resize"};
  if (!is_op(node, node.op_type()) || node.output_size() != 1 || node.input_size() == 0 || !is_activation(node.input(0), index, types))
    return Manner::Float;
  if (is_op(node, "Resize")) {
    const onnx::AttributeProto* mode = find_attribute(node, "mode");
    return mode == nullptr || mode->s() == "nearest" ? Manner::Move : Manner::Float;
  }
  if (kMovers.contains(node.op_type())) return Manner::Move;
  const bool all = std::ranges::all_of(node.input(), [&](const std::string& name) { return is_activation(name, index, types); });
  if (is_op(node, "Concat") && all) return Manner::Concat;
  if (is_op(node, "Add") && all) return Manner::OwnCodes;
  if (is_op(node, "AveragePool") || is_op(node, "GlobalAveragePool")) return Manner::OwnCodes;
  return Manner::Float;
}

class Marker {
 public:
  Marker(const onnx::GraphProto& graph, const GraphIndex& index, const Types& types, const std::set<std::string>& barred)
      : graph_(graph), index_(index), types_(types), barred_(barred) {}

  /// Readers come before what they read from: a node reads bytes if what it gives is bytes.
  ByteValues mark(const std::vector<Layer>& layers) {
    std::map<int, const Layer*> layer_of;
    for (const Layer& layer : layers) {
      if (layer.multiplies()) layer_of[layer.node] = &layer;
    }
    for (int i = graph_.node_size(); i-- > 0;) {
      const onnx::NodeProto& node = graph_.node(i);
      if (layer_of.contains(i)) {
        read(i, {0});
        continue;
      }
      const Manner manner = manner_of(node, index_, types_);
      if (manner == Manner::Float || !gives_bytes(node, manner)) continue;
      std::vector<int> places(manner == Manner::Move || node.input_size() == 1 ? 1u : static_cast<std::size_t>(node.input_size()));
      std::iota(places.begin(), places.end(), 0);
      if (std::ranges::any_of(places, [&](int k) { return barred_.contains(node.input(k)); })) continue;
      read(i, places);
      if (manner == Manner::OwnCodes) continue;
      for (const int k : places) join(node.input(k), node.output(0));
    }
    for (const auto& [value, parent] : parent_) {
      const std::string root = find(value);
      const auto [at, is_new] = numbers_.try_emplace(root, static_cast<int>(found_.groups.size()));
      if (is_new) found_.groups.emplace_back();
      found_.groups[static_cast<std::size_t>(at->second)].insert(value);
      found_.group[value] = at->second;
    }
    return std::move(found_);
  }

 private:
  void read(int node, const std::vector<int>& places) {
    found_.readers[node] = places;
    for (const int k : places) parent_.try_emplace(graph_.node(node).input(k), graph_.node(node).input(k));
  }
  /// Whether a node that could give bytes does: it is read as bytes, or what follows it in the same registers is.
  bool gives_bytes(const onnx::NodeProto& node, Manner manner) const {
    if (barred_.contains(node.output(0))) return false;
    if (parent_.contains(node.output(0))) return true;
    return manner == Manner::OwnCodes && is_read_after_activation(node.output(0));
  }
  bool is_read_after_activation(const std::string& value) const {
    return std::ranges::any_of(index_.readers(value), [&](int reader) {
      const onnx::NodeProto& node = graph_.node(reader);
      if (!is_op(node, "Relu") && !is_op(node, "Clip")) return false;
      return parent_.contains(node.output(0)) || is_read_after_activation(node.output(0));
    });
  }
  std::string find(const std::string& value) const {
    std::string at = value;
    while (parent_.at(at) != at) at = parent_.at(at);
    return at;
  }
  void join(const std::string& a, const std::string& b) { parent_[find(a)] = find(b); }

  const onnx::GraphProto& graph_;
  const GraphIndex& index_;
  const Types& types_;
  const std::set<std::string>& barred_;
  ByteValues found_;
  std::map<std::string, std::string> parent_;  ///< values that are bytes; those of a group lead to the same one
  std::map<std::string, int> numbers_;
};

}  // namespace

ByteValues find_byte_values(const onnx::GraphProto& graph, const GraphIndex& index, const Types& types, const std::vector<Layer>& layers,
                            const std::set<std::string>& barred) {
  return Marker(graph, index, types, barred).mark(layers);
}

}  // namespace onnxc
