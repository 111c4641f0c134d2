// Judges what the entries of a unit reach.
#pragma once
#include <string>
#include <vector>

#include "tools/check_emitted/allowed.h"
#include "tools/check_emitted/facts.h"

namespace onnxc::check_emitted {

struct Violation {
  Rule rule;
  std::string file;  ///< its name alone
  unsigned line = 0;
  std::string what, function;  ///< `function` is empty outside of functions
  auto operator<=>(const Violation&) const = default;
};

struct Verdict {
  std::vector<Violation> violations;  ///< in the order of file and line, each once
  std::size_t entries = 0, reached = 0, leaves = 0, excused = 0;
};

/// Where a unit is, in a translation unit that may have several.
struct UnitFiles {
  clang::FileID own;
  std::set<clang::FileID> others;  ///< of other units
};

/// A unit's entries are what its file makes visible. What is in code that no entry reaches is not reported, nor what stands in other units' files.
/// `more`: what else was found in the unit. May add to `facts`.
Verdict judge(clang::ASTContext& context, Facts& facts, const Allowed& allowed, const UnitFiles& unit, const std::vector<Finding>& more);

}  // namespace onnxc::check_emitted
