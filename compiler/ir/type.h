// Type of a value: a tensor (element type and extents), or a sequence, optional or map of types.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "compiler/ir/dim_list.h"
#include "compiler/ir/element_type.h"

namespace onnxc {

using Extents = DimList;

struct Type {
  enum class Kind { Unknown, Tensor, Sequence, Optional, Map };
  Kind kind = Kind::Unknown;
  ElementType element = ElementType::Undefined;  ///< Tensor: of the elements. Map: of the keys.
  bool ranked = false;                           ///< Tensor: whether `extents` is known
  Extents extents;
  std::vector<Type> nested;  ///< Sequence, Optional: the type inside. Map: the type of values

  static Type tensor(ElementType element, Extents extents) { return {Kind::Tensor, element, true, std::move(extents), {}}; }
  static Type unranked(ElementType element) { return {Kind::Tensor, element, false, {}, {}}; }
  static Type sequence(Type of) { return {Kind::Sequence, ElementType::Undefined, false, {}, {std::move(of)}}; }
  static Type optional(Type of) { return {Kind::Optional, ElementType::Undefined, false, {}, {std::move(of)}}; }

  bool is_tensor() const { return kind == Kind::Tensor; }
  /// Whether a run handles it as an onnxc_value: everything but tensors of known rank.
  bool is_object() const { return !is_tensor() || !ranked; }
  int rank() const { return static_cast<int>(extents.size()); }
  bool is_static() const;
  friend bool operator==(const Type&, const Type&) = default;
  /// `f32[batch, 3, 224]`; `f32[*]` if the rank is unknown; `seq(f32[2])`.
  std::string text() const;
};

/// A lower bound for the bytes of a tensor of this type, whatever its symbols are. An extent of 0 counts as 1, since
/// products of the other extents are computed all the same. 0 for other types.
double least_bytes(const Type& type);
/// Product of all extents. Throws SizeOverflow.
Dim element_count(const Extents& extents);
/// `[batch, 3, 224]`
std::string text(const Extents& extents);
/// Only for constant extents.
std::vector<int64_t> values(const Extents& extents);
bool is_static(const Extents& extents);
inline Extents to_extents(const std::vector<int64_t>& dims) { return {dims.begin(), dims.end()}; }

}  // namespace onnxc
