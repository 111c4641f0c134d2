// The memory plan of a unit, as `onnxc --emit=program` prints it.
#pragma once
#include <map>
#include <string>
#include <string_view>

#include "compiler/ir/dim.h"

namespace onnxc::check_emitted {

struct PlannedBuffer {
  Dim bytes;
  int parent = -1;            ///< a view lies inside of this one, from byte `offset` on
  Dim offset;                 ///< into the arena, where sizes are constant, or into the parent
  int first = -1, last = -1;  ///< live in steps [first, last); not of views
};

struct MemoryPlan {
  Dim arena_bytes;                       ///< where sizes are constant
  std::map<int, PlannedBuffer> buffers;  ///< those of the host's arena, by number
  std::map<std::string, Dim> symbols;    ///< that sizes of arena, inputs and outputs depend on, and what only a run knows is none
  bool is_divided = false;               ///< over regions, or over a GPU's memory and the host's

  /// The buffer that a view ultimately lies in.
  int root_of(int buffer) const;
  /// Bytes from the beginning of the root.
  Dim offset_in_root(int buffer) const;
};

/// The plan of the general code under "", that of each variant under its name. Throws std::invalid_argument for a text that is none.
std::map<std::string, MemoryPlan> read_plans(std::string_view text);

}  // namespace onnxc::check_emitted
