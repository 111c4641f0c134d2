// The lowering of a Loop, one piece of it a function.
//
// What is carried from one iteration to the next has one place: the body reads it there, and its last steps store the next value there.
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
  /// A scan output: one slice an iteration.
  struct Scanned {
    View whole;
    bool grows = false;  ///< a heap block, as the room is not known before the loop
  };

  /// The condition as a variable in the arena, with its first value.
  void define_condition();
  /// The extents of what is carried as variables, and its storage with the first values.
  void define_carried();
  View carried_place(std::size_t i);
  bool grows_with_iterations(Dim bytes) const;
  void define_scanned();
  /// What the body reads from outside: the carried values, the condition, and where its slices may be computed in place.
  void define_formals(Lowerer::Scope& inner);
  /// The number of the iteration and, where it is always true, the condition, as tensors where the body reads them.
  std::vector<Step> store_formals(Lowerer::Scope& inner);
  std::vector<Step> lower_body(Lowerer::Scope& inner);
  void store_slice(Lowerer::Scope& inner, std::size_t k);
  void store_carried(Lowerer::Scope& inner);
  /// A copy of what lies in the place of another carried value, which is stored before.
  View saved(ValueId value, const View& from);
  /// A heap block with the value, which nothing else owns.
  BufferId own_block(ValueId value, const View& from);

  Lowerer& l_;
  Lowerer::Scope& outer_;
  const Node& node_;
  const Graph& graph_;
  const Graph& body_;
  const std::size_t carried_;  ///< how many values are
  const Dim iteration_, trips_;
  const LoopTrips limit_;
  View condition_;
  DimList symbols_;           ///< extents of carried values that vary
  std::vector<View> places_;  ///< of carried values
  std::vector<Scanned> scanned_;
};

}  // namespace onnxc
