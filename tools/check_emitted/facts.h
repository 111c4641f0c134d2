// What each function of a unit does, by clang's syntax tree: whom it calls, and what the rules object to.
#pragma once
#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "tools/check_emitted/rules.h"

namespace onnxc::check_emitted {

struct Finding {
  Rule rule;
  clang::SourceLocation where;
  std::string what;
};

struct FunctionFacts {
  /// Whom it calls, or names, which counts as a call; and where first.
  std::map<const clang::FunctionDecl*, clang::SourceLocation> calls;
  std::vector<Finding> findings;
};

struct Facts {
  std::map<const clang::FunctionDecl*, FunctionFacts> functions;  ///< those with a body, instances of templates among them
  std::map<clang::FileID, std::set<const clang::FunctionDecl*>>
      visible;                  ///< outside of the translation unit, by the file that defines them
  std::vector<Finding> beside;  ///< outside of functions
};

/// Of all that the translation unit has. Bodies that only an instance of a generic lambda has are missing: see collect_function.
Facts collect_facts(clang::ASTContext& context);
/// Adds a function that collect_facts has not met, with those inside of it. False if it has no body.
bool collect_function(clang::ASTContext& context, Facts& facts, const clang::FunctionDecl& function);

}  // namespace onnxc::check_emitted
