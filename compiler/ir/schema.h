// Schema: what one version of an operator asks of its inputs. The frontend makes it, from what ONNX or onnxc states of the operator; the walk that infers
// types checks it before anything else believes the node.
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
  std::string op;  ///< as diagnostics have it
  struct Operand {
    std::string name;
    std::vector<Type> types;  ///< one of these, extents aside
    std::string variable;     ///< all operands of a type variable have one type; empty for none
    uint32_t ranks = 0;       ///< bit r: rank r will do; 0 where any will
  };
  std::vector<Operand> inputs;  ///< a node's further ones are as the last
};

/// True where both are known and differ in anything but extents.
bool differ_in_kind(const Type& a, const Type& b);
/// `f32`, `seq(i64)`: a type without extents.
std::string kind_text(const Type& type);
/// What is wrong with what the model states of a value's type; empty where nothing is, or is not known yet.
std::string stated_error(const Value& value);
/// Throws Error{Invalid} that names the node, where an input has a type or a rank that the schema does not allow, or inputs of one type variable differ. What
/// is not known yet is not judged.
void verify_inputs(const Schema& schema, const Graph& graph, const Node& node);

}  // namespace onnxc
