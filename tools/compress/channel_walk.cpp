// What a walk over channels keeps: sets, the axes of values, initialisers that are cut.
#include "tools/compress/channel_walk.h"

#include <algorithm>

namespace onnxc {

ChannelWalk::ChannelWalk(const onnx::GraphProto& graph, const GraphIndex& index, const Types& types, const std::vector<Layer>& layers)
    : graph_(graph), index_(index), types_(types), layers_(layers) {
  for (std::size_t l = 0; l < layers.size(); ++l) layer_of_[layers[l].node] = l;
  result_.rows.resize(layers.size());
}

int ChannelWalk::add_set(const std::string& why) {
  parents_.push_back(static_cast<int>(parents_.size()));
  reasons_.push_back(why);
  return parents_.back();
}

SetList ChannelWalk::add_sets(int64_t n, const std::string& why) {
  SetList sets;
  for (int64_t i = 0; i < n; ++i) sets.push_back(add_set(why));
  return sets;
}

int ChannelWalk::root(int set) {
  while (parents_[at(set)] != set) set = parents_[at(set)] = parents_[at(parents_[at(set)])];
  return set;
}

void ChannelWalk::join(int a, int b) {
  a = root(a), b = root(b);
  if (a == b) return;
  parents_[at(b)] = a;
  if (reasons_[at(a)].empty()) reasons_[at(a)] = reasons_[at(b)];
}

void ChannelWalk::join(const SetList& a, const SetList& b) {
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) join(a[i], b[i]);
}

void ChannelWalk::keep(const SetList& sets, const std::string& why) {
  for (const int set : sets) {
    std::string& reason = reasons_[at(root(set))];
    if (reason.empty()) reason = why;
  }
}

const Followed* ChannelWalk::followed(const std::string& value) const {
  const auto found = followed_.find(value);
  return found == followed_.end() ? nullptr : &found->second;
}

const Type* ChannelWalk::type(const std::string& value) const {
  const auto found = types_.find(value);
  return found != types_.end() && found->second.is_tensor() && found->second.ranked ? &found->second : nullptr;
}

std::optional<std::vector<int64_t>> ChannelWalk::integers(const std::string& value) const {
  const onnx::TensorProto* tensor = index_.initialiser(value);
  if (tensor == nullptr) return std::nullopt;
  const TensorData data = to_tensor(*tensor);
  if (!is_integer(data.type)) return std::nullopt;
  return to_integers(data);
}

std::optional<std::vector<int64_t>> ChannelWalk::axes(const onnx::NodeProto& node, int k, int rank) const {
  std::optional<std::vector<int64_t>> found = input(node, k).empty() ? integers_attribute(node, "axes") : integers(input(node, k));
  if (!found) return found;
  for (int64_t& axis : *found) axis += axis < 0 ? rank : 0;
  return found;
}

void ChannelWalk::follow(const std::string& value, int axis, SetList sets) {
  const Type* const t = type(value);
  const bool fits = t != nullptr && axis >= 0 && axis < t->rank() && t->extents[at(axis)].is_constant() &&
                    t->extents[at(axis)].value() == static_cast<int64_t>(sets.size());
  if (!fits) return keep(sets, fmt::format("the extents of '{}' are not known", one_line(value)));
  result_.not_empty.push_back(sets);
  followed_[value] = {axis, std::move(sets)};
}

void ChannelWalk::cut(const std::string& tensor, int axis, const SetList& sets) {
  places_[tensor].insert(position_);
  for (const CutTensor& other : result_.cuts) {
    if (other.tensor == tensor && other.axis == axis) return join(other.sets, sets);
  }
  result_.cuts.push_back({tensor, axis, sets});
}

bool ChannelWalk::has_extent(const std::string& tensor, int axis, std::size_t extent) const {
  const onnx::TensorProto* t = index_.initialiser(tensor);
  return t != nullptr && axis < t->dims_size() && t->dims(axis) == static_cast<int64_t>(extent);
}

void ChannelWalk::keep_inputs(const onnx::NodeProto& node, const std::string& why) {
  for (const std::string& name : node.input()) {
    if (const Followed* f = followed(name)) keep(f->sets, why);
  }
}

void ChannelWalk::keep_shared() {
  for (const CutTensor& cut : result_.cuts) {
    const std::vector<int>& readers = index_.readers(cut.tensor);
    const bool is_understood = std::ranges::all_of(readers, [&](int reader) { return places_[cut.tensor].contains(reader); });
    if (!is_understood || index_.is_seen_outside(cut.tensor)) keep(cut.sets, fmt::format("'{}' has several readers", one_line(cut.tensor)));
  }
}

ChannelSets ChannelWalk::finish() {
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

}  // namespace onnxc
