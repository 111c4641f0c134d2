// The compiler's public API: a model file becomes a Program. codegen/compile.h goes on to C++.
#pragma once
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "compiler/equal_extents.h"
#include "compiler/frontend/import.h"
#include "compiler/ir/program.h"
#include "compiler/lowering/lower_graph.h"
#include "compiler/lowering/memory/memory_goal.h"
#include "compiler/ops/custom/custom_operator.h"
#include "compiler/ops/kernel_query.h"
#include "compiler/support/error.h"

namespace onnxc {

inline constexpr int64_t kMostArena = int64_t{1} << 36;  ///< bytes

/// What a run makes of floats below the smallest normal number: see onnxc/subnormals.hpp.
enum class Subnormals { Flush, Keep };
/// As --subnormals has it.
const char* name(Subnormals subnormals);

struct CompilerOptions {
  std::string target = "native";
  int level = 3;                                           ///< -O0 to -O3
  std::map<std::string, ImportOptions::Range> dims;        ///< named dimensions: a value or bounds
  std::map<std::string, std::vector<int64_t>> specialize;  ///< named dimensions: extents for which the unit gets a variant of its own
  std::string print_after;                                 ///< name of a pass, or "all": its result goes to `log`
  std::string stop_after;                                  ///< name of a pass: the graph is what it left
  int threads = 1;                                         ///< the unit may be run with so many
  MemoryGoal memory = MemoryGoal::Speed;
  Math math = Math::Default;
  NarrowWeights narrow_weights = NarrowWeights::Auto;
  Subnormals subnormals = Subnormals::Flush;   ///< Flush: packed weights among them are zeros, too
  double weights_growth = 2;                   ///< packed weights are at most so many times the model's
  std::optional<int64_t> max_arena;            ///< bytes; a model that may need more is refused. Without: kMostArena where sizes are known
  int64_t max_weights = int64_t{1} << 40;      ///< bytes of packed constants; a model that needs more is refused
  bool heap = true;                            ///< false: what has no bound before the model runs is refused
  int64_t max_trip = LowerOptions().max_trip;  ///< iterations of a loop that has no number of them
  bool zip_maps = true;                        ///< false: the scores that ZipMap makes maps of stay tensors
  std::shared_ptr<const Tuning>
      tuning{};  ///< what was measured on the machine that runs the unit; null: kernels are chosen by predicted costs
  std::vector<CustomOperator> custom_operators{};  ///< the user's own
  std::vector<std::string> taps{};                 ///< names of values that become outputs as well, after the model's own
  int bisect_limit = -1;                           ///< run only so many optional passes
  std::ostream* log = nullptr;
  /// Sees the graph after import ("import") and after each pass that ran.
  std::function<void(const std::string& pass, const Graph& graph)> watch{};
};

/// The same model with some dimensions fixed, or taken to be as large as others: what runs when a caller's are so.
struct Variant {
  Sizes dims;
  std::vector<std::pair<Dim, Dim>> equal;  ///< extents of the inputs
  Program program;
  std::vector<Choice> choices{};
};

struct Compilation {
  ModelInfo info;
  Target target;
  Graph graph;      ///< after the passes
  Program program;  ///< empty when stop_after was given
  std::vector<Choice> choices;
  EqualExtents equal;             ///< of extents of the inputs that meet in broadcasting
  std::vector<Variant> variants;  ///< the first whose condition holds runs, else `program`
};

/// Import, passes, lowering, memory plan. Throws Error.
Compilation compile_model(const std::filesystem::path& model, const CompilerOptions& options);

/// Import alone, with inlined functions: for `onnxc info`.
Imported read_model(const std::filesystem::path& model, const CompilerOptions& options);

/// The names of all passes, in order.
std::vector<std::string> pass_names();
/// One pass by its name, and the verifier after it. Throws Error{Usage} for an unknown name.
Graph run_pass(const std::string& name, Graph graph);

}  // namespace onnxc
