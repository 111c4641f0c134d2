// How many bytes a pointer of a unit has before and behind it, in what it points into: the arena's buffers, inputs and outputs.
#pragma once
#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>
#include <clang/AST/Expr.h>

#include <map>
#include <optional>
#include <string>

#include "tools/check_emitted/size_expression.h"

namespace onnxc::check_emitted {

struct Room {
  int64_t before, behind;  ///< bytes
};

/// The sizes of inputs and outputs that `run` checks before anything else, by `in.x`: std::cmp_not_equal(in.x.size(), 490 * dims.batch).
using CheckedSizes = std::map<std::string, const clang::Expr*>;
void collect_checked_sizes(clang::FunctionDecl& function, CheckedSizes& sizes);

class Rooms {
 public:
  Rooms(const CheckedSizes& checked, const SizeValues& values, const clang::ASTContext& context)
      : checked_(checked), values_(values), context_(context) {}

  /// The room of a pointer into the arena, which is what `at` makes.
  void add(const clang::Expr* at, Room room) { of_arena_.emplace(at, room); }

  /// Nothing for pointers into anything else, and where a size is not known. A constant variable has the room of what it is made of.
  std::optional<Room> of(const clang::Expr& pointer) const;

 private:
  std::optional<Room> of_span(const clang::Expr& span) const;

  const CheckedSizes& checked_;
  const SizeValues& values_;
  const clang::ASTContext& context_;
  std::map<const clang::Expr*, Room> of_arena_;
};

}  // namespace onnxc::check_emitted
