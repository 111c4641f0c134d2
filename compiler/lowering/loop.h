// The lowering of a Loop, with one function for each piece of it.
//
// A value that is carried from one iteration to the next has one place in memory: the body reads it there, and the
// body's last steps store the next value there.
#pragma once
#include <vector>

#include "compiler/lowering/lowerer.h"
#include "compiler/ops/control/loop.h"

namespace onnxc {

class LoopLowering {
 public:
  LoopLowering(Lowerer& lowerer, Lowerer::Scope& outer, const Node& node);
  void run();

 private:
  /// A scan output, which gets one slice in each iteration.
  struct Scanned {
    View whole;
    bool grows = false;  ///< it is a heap block, since its size is not known before the loop
  };

  /// Defines the condition as a variable in the arena, with its first value.
  void define_condition();
  /// Declares variables for the extents of carried values, and defines storage with their first values.
  void define_carried();
  View define_carried_value(std::size_t i);
  bool grows_with_iterations(Dim bytes) const;
  void define_scanned();
  /// Defines what the body reads from outside: the carried values and the condition, and the memory of slices
  /// that may be computed there.
  void define_formals(Lowerer::Scope& inner);
  /// Steps that store the iteration's number as a tensor if the body reads it. If the condition is always true and
  /// the body reads it, it becomes a constant.
  std::vector<Step> store_formals(Lowerer::Scope& inner);
  std::vector<Step> lower_body(Lowerer::Scope& inner);
  void store_slice(Lowerer::Scope& inner, std::size_t k);
  void store_carried(Lowerer::Scope& inner);
  /// A copy of a value that lies in the memory of a carried value, since the next value is stored there first.
  View saved(ValueId value, const View& from);
  /// A heap block that holds the value and that nothing else owns.
  BufferId own_block(ValueId value, const View& from);

  Lowerer& l_;
  Lowerer::Scope& outer_;
  const Node& node_;
  const Graph& graph_;
  const Graph& body_;
  const std::size_t carried_;  ///< the number of carried values
  const Dim iteration_, trips_;
  const LoopTrips limit_;
  View condition_;
  DimList symbols_;  ///< the extents of carried values that vary
  std::vector<View> carried_views_;
  /// Which carried values are heap blocks, whole, which others may take the place of; a row of what a loop around stacks is none.
  std::vector<bool> owns_block_{};
  std::vector<Scanned> scanned_;
};

}  // namespace onnxc
