// Schema: what one version of an operator requires of its inputs. The frontend creates it, from what ONNX or onnxc
// states of the operator. The walk that infers types checks it before anything else relies on the node.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/ir/type.h"

namespace onnxc {

struct Graph;
struct Node;
struct Value;

struct Schema {
  std::string op;  ///< the name in diagnostics
  struct Operand {
    std::string name;
    std::vector<Type> types;  ///< the allowed types, without extents
    std::string variable;     ///< all operands of one type variable have the same type; empty: none
    uint32_t ranks = 0;       ///< bit r: rank r is allowed; 0: all ranks are
  };
  std::vector<Operand> inputs;  ///< further inputs of a node are like the last one
};

/// True if both are known and differ in anything but extents.
bool differ_in_kind(const Type& a, const Type& b);
/// `f32`, `seq(i64)`: a type without extents.
std::string kind_text(const Type& type);
/// What is wrong with the type that the model states for a value. Empty if nothing is, or if the type is not known
/// yet.
std::string stated_error(const Value& value);
/// Throws Error{Invalid} that names the node if an input has a type or a rank that the schema does not allow, or if
/// inputs of one type variable differ. What is not known yet is not checked.
void verify_inputs(const Schema& schema, const Graph& graph, const Node& node);

}  // namespace onnxc
