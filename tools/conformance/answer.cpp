#include "tools/conformance/answer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <set>

namespace onnxc {

using nlohmann::json;

namespace {

/// Many nodes may have the same reason: `Conv, Gemm: this operator is not supported`. Names of nodes are left out
/// unless the reason concerns only one.
std::string reason_of(const Error& error) {
  const bool about_one = error.diagnostics().size() < 2;
  if (about_one && (error.kind() != ErrorKind::Unsupported || error.diagnostics().empty() || error.diagnostics()[0].op.empty()))
    return error.what();
  std::map<std::string, std::set<std::string>> operators;  // by what was found
  for (const Diagnostic& diagnostic : error.diagnostics()) operators[diagnostic.found].insert(diagnostic.op);
  std::string text;
  for (const auto& [found, ops] : operators) text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", fmt::join(ops, ", "), found);
  return text;
}

}  // namespace

json verdict(const char* word, const std::string& reason) { return {{"verdict", word}, {"reason", reason}}; }

json verdict_of(const Error& error) {
  const char* kind = "";
  switch (error.kind()) {
    case ErrorKind::Unsupported: return verdict("unsupported", reason_of(error));
    case ErrorKind::Invalid: kind = "refused as invalid: "; break;
    case ErrorKind::Internal: kind = "internal error: "; break;
    case ErrorKind::Budget: kind = "over budget: "; break;
    case ErrorKind::Usage:
    case ErrorKind::Io: break;
  }
  return verdict("failed", kind + reason_of(error));
}

}  // namespace onnxc
