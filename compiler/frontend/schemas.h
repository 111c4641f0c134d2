// What the opsets that a model imports state of its operators.
#pragma once
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/schema.h"

namespace onnx {
class NodeProto;
class OpSchema;
class TypeProto;
}  // namespace onnx

namespace onnxc {

class Schemas {
 public:
  using Predicate = std::function<bool(const std::string& domain, const std::string& op)>;

  /// `opsets`: by domain, the default one being "ai.onnx".
  /// `replaces`: operators that are the caller's own, of which nothing is stated. `knows`: those that the compiler knows.
  Schemas(const std::map<std::string, int64_t>& opsets, Predicate knows, Predicate replaces)
      : opsets_(opsets), knows_(std::move(knows)), replaces_(std::move(replaces)) {}

  /// The opset of a domain; 1 where the model imports none (com.microsoft goes without).
  int version_of(const std::string& domain) const;
  /// Checks a node by itself: its domain is imported, the operator is in that opset, its inputs and outputs are as many as it allows, none that it needs is
  /// left out, and its attributes are known, once, of their types, and there where required. Operators that have no schema are not judged.
  /// Throws Error{Invalid} that names the node.
  void verify(const onnx::NodeProto& node) const;
  /// What the operator asks of the types of its inputs, or null.
  std::shared_ptr<const Schema> schema_of(const std::string& domain, const std::string& op);

 private:
  struct Found {
    const onnx::OpSchema* schema = nullptr;
    const std::vector<uint32_t>* ranks = nullptr;  ///< of the inputs of a contributed operator
  };
  Found find(const std::string& domain, const std::string& op) const;

  const std::map<std::string, int64_t>& opsets_;
  const Predicate knows_, replaces_;
  std::map<std::pair<std::string, std::string>, std::shared_ptr<const Schema>> made_;
};

/// The type without its extents; what ONNX does not define is unknown.
Type kind_of(const onnx::TypeProto& proto);
/// What diagnostics call a node: its name, or its first output's.
std::string node_name(const onnx::NodeProto& node);
/// `ai.onnx` and the empty name are one domain.
std::string normal_domain(const std::string& domain);
/// What ONNX's library says is wrong, in one line and without the place in its own source.
std::string reason_of(const std::exception& error);
/// Throws where the domain has no such opset, or onnxc does not know it yet; `who` begins the message.
void check_opset(const std::string& domain, int64_t version, const std::string& who = {});

}  // namespace onnxc
