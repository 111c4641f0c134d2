// A custom operator: what `--custom-op` states of an operator that the user implements in C++.
// docs/custom-operators.md is the reference of the text form:
//
//   my.domain.Foo=foo.hpp:my::foo, y0 = x0, y1 = int64[x0.0, 2 * x1.-1 + 1], inputs = 3, link = m
//
// A node with such an operator gets the domain `custom:my.domain`, and the text as an attribute; everything else
// follows from these.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/graph.h"

namespace onnxc {

/// An extent of an output: the input's extents [first, last) unchanged, or an expression of symbols: `x0.1`, `x0.m1`
/// (the last axis), `x0.count` (all elements), `x1.e0` (the value of the first element).
struct ExtentRule {
  bool is_slice = false;
  int input = 0, first = 0, last = 0;
  Dim expression{};
};
/// `x0`, `x0[3]`, `int64[x0.0]`
struct OutputRule {
  int like = -1;  ///< the input with the same element type, or -1
  ElementType element = ElementType::Undefined;
  bool has_extents = false;  ///< false: those of `like`
  std::vector<ExtentRule> extents{};
};

struct CustomOperator {
  std::string text;                      ///< all of it
  std::string domain, op;                ///< of the nodes; the domain is empty for ai.onnx
  std::string include;                   ///< as in #include: "foo.hpp" or <foo.hpp>, with the marks
  std::string function;                  ///< ::my::foo
  std::map<int, OutputRule> rules{};     ///< of outputs; one without a rule is like input 0
  int inputs = 0, outputs = 0;           ///< the function takes at least this many; those that a node omits are absent
  std::vector<std::string> libraries{};  ///< to link with
};

/// Throws Error{Usage} that says what is wrong with the text.
CustomOperator parse_custom_operator(std::string_view text);

inline constexpr std::string_view kCustomDomain = "custom:";  ///< what domains of such nodes begin with
inline constexpr const char* kCustomText = "onnxc:custom";    ///< the attribute with the text

/// Turns the nodes of these operators, in all regions, into custom ones.
void take_custom_operators(Graph& graph, const std::vector<CustomOperator>& operators);

}  // namespace onnxc
