// Ids number the values and nodes of a graph and the buffers of a program. What a pass knows of each of them is in a
// table by id:
//
//   PerValue<int> uses(graph.values.size());
//   for (ValueId v : node.inputs) ++uses[v];
#pragma once
#include <cstdint>
#include <vector>

namespace onnxc {

using ValueId = int32_t;
inline constexpr ValueId kAbsent = -1;
using BufferId = int32_t;

/// A std::vector with one element for each id from 0 on.
template <class Id, class T>
class PerId : std::vector<T> {
  using Vector = std::vector<T>;

 public:
  using Vector::begin, Vector::end, Vector::size, Vector::assign, Vector::resize, Vector::push_back;
  using Vector::Vector;

  decltype(auto) operator[](Id id) { return Vector::operator[](static_cast<std::size_t>(id)); }
  decltype(auto) operator[](Id id) const { return Vector::operator[](static_cast<std::size_t>(id)); }
};

template <class T>
using PerValue = PerId<ValueId, T>;
/// By the node's position in its graph.
template <class T>
using PerNode = PerId<int, T>;
template <class T>
using PerBuffer = PerId<BufferId, T>;

}  // namespace onnxc
