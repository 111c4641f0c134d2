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

  /// `opsets`: by domain; the default domain is "ai.onnx". `replaces`: the caller's own operators, for which nothing
  /// is stated. `knows`: operators that the compiler knows.
  Schemas(const std::map<std::string, int64_t>& opsets, Predicate knows, Predicate replaces)
      : opsets_(opsets), knows_(std::move(knows)), replaces_(std::move(replaces)) {}

  /// The imported opset of a domain; 1 if the model imports none, as is common for com.microsoft.
  int version_of(const std::string& domain) const;
  /// Checks a node by itself: its domain is imported and its opset has the operator; the numbers of inputs and
  /// outputs are allowed, and none that is required is absent; attributes are known, of the right types, not
  /// repeated, and present where required. Operators without a schema are not checked. Throws Error{Invalid} that
  /// names the node.
  void verify(const onnx::NodeProto& node) const;
  /// The types that the operator allows for its inputs, or null.
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

/// The type without its extents. Unknown for types that ONNX does not define.
Type kind_of(const onnx::TypeProto& proto);
/// The name of a node in diagnostics: its own, or that of its first output.
std::string node_name(const onnx::NodeProto& node);
/// The domain, with `ai.onnx` replaced by the empty name for the same domain.
std::string normal_domain(const std::string& domain);
/// The message of an error in ONNX's library, in one line and without the place in its source.
std::string reason_of(const std::exception& error);
/// Throws if the domain has no such opset, or if onnxc does not know it yet. `who` begins the message.
void check_opset(const std::string& domain, int64_t version, const std::string& who = {});

}  // namespace onnxc
