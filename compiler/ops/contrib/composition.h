// Helps to write a decomposition in a few lines. f16 and bf16 are computed in f32: `in` casts, and `out` casts back.
#pragma once
#include <fmt/format.h>

#include "compiler/ops/in_float.h"
#include "compiler/support/error_codes.h"

namespace onnxc {

inline constexpr std::string_view kMicrosoft = "com.microsoft";

/// The results of com.microsoft's decompositions. They replace their operators from the first pass on, so each of
/// them checks its node itself.
using Results = std::optional<std::vector<ValueId>>;
using Attributes = std::map<std::string, Attribute>;

struct Composition {
  GraphBuilder& b;
  const Node& node;
  ElementType result;  ///< the type of the first input that is present
  ElementType type;    ///< the type of the computation

  Composition(GraphBuilder& builder, const Node& n) : b(builder), node(n), result(ElementType::F32) {
    for (int i = 0; i < n.own_inputs(); ++i) {
      if (!n.has_input(i)) continue;
      const Type& t = b.type(n.input(i));
      if (!t.is_tensor()) fail(fmt::format("input {} is {}, not a tensor", i, t.text()));
      if (!t.ranked)
        fail(ErrorCode::UnknownRank, fmt::format("input {} ('{}') has no known rank", i, b.graph()[n.input(i)].name),
             "give the model's inputs shapes");
    }
    if (n.has_input(0)) result = b.type(n.input(0)).element;
    type = is_half(result) ? ElementType::F32 : result;
  }

  [[noreturn]] void fail(std::string found, std::string remedy = {}) const {
    node.fail(ErrorKind::Invalid, std::move(found), std::move(remedy));
  }
  [[noreturn]] void fail(ErrorCode code, std::string found, std::string remedy = {}) const {
    node.fail(code, std::move(found), std::move(remedy));
  }
  [[noreturn]] void unsupported(std::string found, std::string remedy = {}) const {
    node.fail(ErrorKind::Unsupported, std::move(found), std::move(remedy));
  }
  void need_float() const {
    if (!is_float(result)) fail(fmt::format("input 0 is {}, not a float", name(result)));
  }
  void need_rank(int i, int rank, const char* shape) const {
    if (has(i) && b.rank(node.input(i)) != rank)
      fail(fmt::format("input {} has shape {}; {} is needed", i, text(b.extents(node.input(i))), shape));
  }
  void need_same_type(std::initializer_list<int> inputs) const {
    for (int i : inputs) {
      if (has(i) && b.type(node.input(i)).element != result)
        fail(fmt::format("input {} is {}, input 0 {}", i, name(b.type(node.input(i)).element), name(result)));
    }
  }

  bool has(int i) const { return node.has_input(i); }
  ValueId raw(int i) const { return node.input(i); }
  /// Input i, in the type of computation if it is a half type; kAbsent if it is absent.
  ValueId in(int i) { return !has(i) ? kAbsent : is_half(b.type(raw(i)).element) ? cast_to(b, raw(i), ElementType::F32) : raw(i); }
  ValueId out(ValueId v) { return v == kAbsent ? v : cast_to(b, v, result); }
  double number(const char* attribute, float otherwise) const { return static_cast<double>(node.number(attribute, otherwise)); }
  int64_t integer(const char* attribute, int64_t otherwise) const { return node.integer(attribute, otherwise); }
  int64_t positive(const char* attribute) const {
    const int64_t v = node.integer(attribute, 0);
    if (v < 1) fail(fmt::format("{} is {}", attribute, v));
    return v;
  }
  /// The elements of an integer input, as constants or extents.
  DimList elements(int i, const char* what) const {
    const Value& v = b.graph()[node.input(i)];
    if (v.elements) return *v.elements;
    if (!v.constant || !is_integer(v.constant->type))
      fail(ErrorCode::NotConstant, fmt::format("{} (input {}, '{}') is only known when the model runs", what, i, v.name),
           "make it a constant of the model");
    const auto list = to_integers(*v.constant);
    return {list.begin(), list.end()};
  }

  int rank(ValueId v) const { return b.rank(v); }
  Extents extents(ValueId v) const { return b.extents(v); }
  Dim extent(ValueId v, int axis) const { return b.extents(v)[static_cast<std::size_t>(axis < 0 ? axis + b.rank(v) : axis)]; }
  int64_t known_extent(ValueId v, int axis) const {
    const Dim d = extent(v, axis);
    if (!d.is_constant())
      fail(ErrorCode::OpenDimension, fmt::format("axis {} has extent {}", axis, d.text()), "fix the dimension with --dim");
    return d.value();
  }

  ValueId op(std::string_view name, std::vector<ValueId> inputs, Attributes attributes = {}) {
    return b.op(name, std::move(inputs), std::move(attributes));
  }
  ValueId constant(double v) { return b.number(type, v); }
  ValueId add(ValueId x, ValueId y) { return op("Add", {x, y}); }
  ValueId sub(ValueId x, ValueId y) { return op("Sub", {x, y}); }
  ValueId mul(ValueId x, ValueId y) { return op("Mul", {x, y}); }
  ValueId sigmoid_gate(ValueId x) { return mul(x, op("Sigmoid", {x})); }
  ValueId matmul(ValueId x, ValueId y) { return op("MatMul", {x, y}); }
  ValueId reshape(ValueId x, const Extents& to) { return op("Reshape", {x, b.shape(to)}, {{"allowzero", int64_t{1}}}); }
  ValueId transpose(ValueId x, std::vector<int64_t> perm) { return op("Transpose", {x}, {{"perm", std::move(perm)}}); }
  ValueId swap_last(ValueId x) {
    std::vector<int64_t> perm;
    for (int64_t k = 0; k < rank(x); ++k) perm.push_back(k);
    std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
    return transpose(x, std::move(perm));
  }
  ValueId unsqueeze(ValueId x, std::vector<int64_t> axes) { return op("Unsqueeze", {x, b.integers(std::move(axes))}); }
  ValueId concat(std::vector<ValueId> parts, int64_t axis) { return op("Concat", std::move(parts), {{"axis", axis}}); }
  std::vector<ValueId> split(ValueId x, const Extents& sizes, int64_t axis) {
    return b.ops("Split", {x, b.shape(sizes)}, static_cast<int>(sizes.size()), {{"axis", axis}});
  }
  /// x[first, last) along an axis.
  ValueId slice(ValueId x, Dim first, Dim last, int64_t axis) {
    return op("Slice", {x, b.shape({first}), b.shape({last}), b.integers({axis})});
  }
  /// 0, 1, ..., n - 1 as i64.
  ValueId count(Dim n) {
    const ValueId ones = op("ConstantOfShape", {b.shape({n})}, {{"value", make_scalar(ElementType::I64, int64_t{1}, {1})}});
    return op("CumSum", {ones, b.number(ElementType::I64, 0)}, {{"exclusive", int64_t{1}}});
  }
  ValueId zeros(ElementType of, const Extents& shape) { return op("Expand", {b.number(of, 0), b.shape(shape)}); }
};

}  // namespace onnxc
