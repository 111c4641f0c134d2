// What an emitted unit must not do.
#pragma once
#include <cstdint>
#include <string_view>

namespace onnxc::check_emitted {

enum class Rule : uint8_t {
  Allocation,  ///< it takes memory: new, malloc, an array of variable length
  Recursion,   ///< functions call each other in a circle, so the stack has no bound
  Exception,   ///< throw, try, dynamic_cast
  State,       ///< a variable that outlives a call and can change
  Leaf,        ///< it calls a function without a body that is on no list
  Assembly,    ///< instructions of an assembler, or directives that are no data
  Loop,        ///< a loop whose condition is always true
  Const,       ///< a cast drops const
  Index,       ///< a constant index beyond its array
  Arena,       ///< a pointer into the arena that is not what the memory plan says
};

/// As it stands in reports and in allowed.txt: `allocation`.
std::string_view name(Rule rule);

}  // namespace onnxc::check_emitted
