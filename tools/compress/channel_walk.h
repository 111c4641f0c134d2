// One walk over the nodes, in their order. A value has at most one axis whose channels are followed. An operator either passes channels on, sums over them and begins
// new ones, or keeps what it reads.
#pragma once
#include <fmt/format.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tools/compress/channel_sets.h"

namespace onnxc {

/// The axis of a value whose channels are followed.
struct Followed {
  int axis = 0;
  SetList sets;
};

/// Sets are numbered as they begin, and joined as a forest of parents; finish() gives them consecutive numbers.
class ChannelWalk {
 public:
  ChannelWalk(const onnx::GraphProto& graph, const GraphIndex& index, const Types& types, const std::vector<Layer>& layers);
  ChannelSets run();

 private:
  // ---- sets: channel_walk.cpp

  int add_set(const std::string& why = {});
  SetList add_sets(int64_t n, const std::string& why = {});
  int root(int set);
  void join(int a, int b);
  void join(const SetList& a, const SetList& b);
  void keep(const SetList& sets, const std::string& why);
  static std::size_t at(int set) { return static_cast<std::size_t>(set); }

  // ---- values: channel_walk.cpp

  const Followed* followed(const std::string& value) const;
  const Type* type(const std::string& value) const;
  static std::string input(const onnx::NodeProto& node, int k) { return k < node.input_size() ? node.input(k) : std::string(); }
  std::optional<std::vector<int64_t>> integers(const std::string& value) const;
  /// Axes that a node has as its input `k`, or as an attribute, counted from the front.
  std::optional<std::vector<int64_t>> axes(const onnx::NodeProto& node, int k, int rank) const;
  void follow(const std::string& value, int axis, SetList sets);
  /// The node reads an initialiser that has one element, row or column for each channel.
  void cut(const std::string& tensor, int axis, const SetList& sets);
  bool has_extent(const std::string& tensor, int axis, std::size_t extent) const;
  void keep_inputs(const onnx::NodeProto& node, const std::string& why);
  void stop(const onnx::NodeProto& node) { keep_inputs(node, fmt::format("{} needs them all", shown(node))); }

  // ---- operators that keep channels where they are, and layers: channel_sets.cpp

  void visit(const onnx::NodeProto& node);
  static bool normal(const onnx::NodeProto& node) { return is_op(node, node.op_type()); }
  static int positive(int64_t axis, int rank) { return static_cast<int>(axis < 0 ? axis + rank : axis); }
  /// One output has the channels of the input.
  void pass(const onnx::NodeProto& node, const Followed& x);
  void multiply(const onnx::NodeProto& node, std::size_t l);
  /// Its outputs are channels; its inputs stay.
  void transposed_convolution(const onnx::NodeProto& node);
  void elementwise(const onnx::NodeProto& node);
  void normalise(const onnx::NodeProto& node, const Followed& x, int parameters);

  // ---- operators that move them: channel_moves.cpp

  void transpose(const onnx::NodeProto& node, const Followed& x, int rank);
  void reshape(const onnx::NodeProto& node, const Followed& x, bool has_target);
  void concat(const onnx::NodeProto& node);
  void split(const onnx::NodeProto& node, const Followed& x, int rank);
  void slice(const onnx::NodeProto& node, const Followed& x, int rank);
  void pad(const onnx::NodeProto& node, const Followed& x, int rank);
  void resize(const onnx::NodeProto& node, const Followed& x);
  void reduce(const onnx::NodeProto& node, const Followed& x, int rank);
  /// Only extents of other axes may be asked for.
  void shape(const onnx::NodeProto& node);

  // ---- the end: channel_walk.cpp

  /// An initialiser that a node reads in another way cannot be cut.
  void keep_shared();
  /// Sets get consecutive numbers.
  ChannelSets finish();

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

}  // namespace onnxc
