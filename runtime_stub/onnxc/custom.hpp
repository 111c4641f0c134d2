// What functions of custom operators see besides tensors: attributes, and what stands for operands that a node leaves
// out. docs/custom-operators.md is the reference.
#pragma once
#include <string_view>

#include "base.hpp"

namespace onnxc::inline ONNXC_ISA {

/// Stands for an optional input or output that is not there: a tensor of any type whose `data` is null.
struct Absent {
  template <class T>
  constexpr operator Tensor<T>() const {  // NOLINT: that is what it is for
    return {};
  }
};

/// An attribute of the node: a number, or a list. A string is a list of one.
struct Attribute {
  enum class Kind { Integer, Number, Integers, Numbers, Strings };

  std::string_view name;
  Kind kind;
  int64_t integer = 0;
  float number = 0;
  const void* list = nullptr;
  int64_t count = 0;

  constexpr Attribute(std::string_view n, int64_t v) : name(n), kind(Kind::Integer), integer(v) {}
  constexpr Attribute(std::string_view n, float v) : name(n), kind(Kind::Number), number(v) {}
  constexpr Attribute(std::string_view n, const int64_t* v, int64_t c) : name(n), kind(Kind::Integers), list(v), count(c) {}
  constexpr Attribute(std::string_view n, const float* v, int64_t c) : name(n), kind(Kind::Numbers), list(v), count(c) {}
  constexpr Attribute(std::string_view n, const onnxc_string* v, int64_t c) : name(n), kind(Kind::Strings), list(v), count(c) {}
};

/// The attributes that the node has, by name. For one that is not there, or is of another kind, the caller's default is
/// returned, or an empty list. Lists are views of constants.
class Attributes {
 public:
  constexpr Attributes() = default;
  constexpr Attributes(const Attribute* first, int count) : first_(first), count_(count) {}

  constexpr bool has(std::string_view name) const { return find(name) != nullptr; }
  constexpr int64_t integer(std::string_view name, int64_t otherwise = 0) const {
    const Attribute* const a = find(name);
    return a != nullptr && a->kind == Attribute::Kind::Integer ? a->integer : otherwise;
  }
  constexpr float number(std::string_view name, float otherwise = 0) const {
    const Attribute* const a = find(name);
    return a != nullptr && a->kind == Attribute::Kind::Number ? a->number : otherwise;
  }
  std::string_view string(std::string_view name, std::string_view otherwise = {}) const {
    const std::span<const onnxc_string> all = strings(name);
    return all.empty() ? otherwise : std::string_view(all[0].data, all[0].size);
  }
  std::span<const int64_t> integers(std::string_view name) const { return list<int64_t>(name, Attribute::Kind::Integers); }
  std::span<const float> numbers(std::string_view name) const { return list<float>(name, Attribute::Kind::Numbers); }
  std::span<const onnxc_string> strings(std::string_view name) const { return list<onnxc_string>(name, Attribute::Kind::Strings); }

 private:
  constexpr const Attribute* find(std::string_view name) const {
    for (int i = 0; i < count_; ++i) {
      if (first_[i].name == name) return &first_[i];
    }
    return nullptr;
  }
  template <class T>
  std::span<const T> list(std::string_view name, Attribute::Kind kind) const {
    const Attribute* const a = find(name);
    if (a == nullptr || a->kind != kind) return {};
    return {static_cast<const T*>(a->list), static_cast<std::size_t>(a->count)};
  }

  const Attribute* first_ = nullptr;
  int count_ = 0;
};

/// The attributes of one call.
template <int n>
struct AttributeList {
  Attribute list[n];
  constexpr operator Attributes() const { return {list, n}; }  // NOLINT: that is what it is for
};

}  // namespace onnxc
