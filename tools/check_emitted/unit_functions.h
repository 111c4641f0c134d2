// The functions of a unit that hand out its memory, and where each uses the arena.
#pragma once
#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>
#include <clang/AST/Expr.h>

#include <map>
#include <string>
#include <vector>

#include "tools/check_emitted/rooms.h"

namespace onnxc::check_emitted {

/// `onnxc::at<T>(arena, offset)`
struct ArenaPointer {
  const clang::CallExpr* at;
  const clang::Expr* offset() const { return at->getArg(1); }
};

/// What a function does with its parameter `arena`.
struct ArenaUses {
  std::vector<ArenaPointer> pointers;
  std::vector<clang::SourceLocation> others;  ///< anything else but to cast it to void
};
ArenaUses arena_uses(const clang::FunctionDecl& function);

/// Of a unit's general code, or of one of its variants.
struct UnitFunctions {
  std::vector<const clang::FunctionDecl*> steps, plans;
};

struct UnitCode {
  std::map<std::string, UnitFunctions> variants;     ///< by name; the general code under ""
  std::vector<const clang::FunctionDecl*> checks;    ///< `check`, which refuses sizes
  std::vector<const clang::FunctionDecl*> careless;  ///< they call `steps` and do not call check_arena
  CheckedSizes sizes;                                ///< of inputs and outputs
};
/// Of the unit in this file.
UnitCode unit_code(clang::ASTContext& context, clang::FileID file);

}  // namespace onnxc::check_emitted
