// How errors are told: as lines for people, or as JSON or SARIF for editors and servers (--diagnostics).
#pragma once
#include <string>

#include "compiler/support/error.h"

namespace onnxc {

/// What --diagnostics states, wherever on the command line it is: text, json or sarif.
inline std::string& diagnostic_form() {
  static std::string form = "text";
  return form;
}

/// Writes an error to standard error: a line for each diagnostic, with the model's file and the remedy, or one document.
///
///   json    {"errors": [{"code": "E0201", "kind": "unsupported", "exit_code": 1, "file": …, "node": …, "op": …, "found": …, "remedy": …}]}
///   sarif   a log of SARIF 2.1.0: a result for each diagnostic, whose rule is the code, with its page, and whose logical location is the node
void report(const Error& error, const std::string& model);

/// That document; `form` is json or sarif.
std::string diagnostics_text(const Error& error, const std::string& model, const std::string& form);

}  // namespace onnxc
