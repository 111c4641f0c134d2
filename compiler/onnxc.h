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
#include "compiler/passes/weight_form.h"
#include "compiler/support/error.h"

namespace onnxc {

inline constexpr int64_t kMostArena = int64_t{1} << 36;  ///< bytes

/// How a run treats subnormal floats, those below the smallest normal number: see onnxc/subnormals.hpp.
enum class Subnormals { Flush, Keep };
/// The name in --subnormals.
const char* name(Subnormals subnormals);

struct CompilerOptions {
  std::string target = "native";
  int level = 3;                                     ///< -O0 to -O3
  bool small = false;                                ///< -Os: the least code and the smallest weights, not the least time
  std::map<std::string, ImportOptions::Range> dims;  ///< named dimensions: a value or bounds
  /// Named dimensions, and the extents for which the unit gets a variant of its own.
  std::map<std::string, std::vector<int64_t>> specialize;
  std::string print_after;  ///< name of a pass, or "all": the resulting graph goes to `log`
  std::string stop_after;   ///< name of a pass, or "all": compilation ends with the graph after it
  int threads = 1;          ///< the largest number of threads that may run the unit
  MemoryGoal memory = MemoryGoal::Speed;
  Math math = Math::Default;
  Devices devices = Devices::Auto;    ///< of a target with a GPU
  std::optional<int64_t> gpu_memory;  ///< bytes on the GPU for weights and arena
  NarrowWeights narrow_weights = NarrowWeights::Auto;
  std::optional<WeightForm> weight_form{};    ///< weights of products and tables of Gather are rounded to codes of few bits
  Subnormals subnormals = Subnormals::Flush;  ///< Flush: subnormal packed weights become zeros, too
  double weights_growth = 2;                  ///< packed weights are at most this many times as large as the model's
  /// In bytes. A model that may need more is refused. Without it, kMostArena applies if all sizes are known.
  std::optional<int64_t> max_arena;
  int64_t max_weights = int64_t{1} << 40;  ///< bytes of packed constants; a model that needs more is refused
  /// After functions are inlined. Without it, what functions expand to is bound by what is written; see check_functions.
  std::optional<int64_t> max_nodes{};
  bool repair = false;  ///< nodes that are not in topological order are put into it
  /// Of constants that passes compute, in all, and of sparse weights that become dense. Without it, bound by the bytes of the model.
  std::optional<int64_t> max_fold_bytes{};
  std::vector<Region> regions{};               ///< memories of several speeds, the fastest first
  bool heap = true;                            ///< false: memory that has no bound before the model runs is refused
  int64_t max_trip = LowerOptions().max_trip;  ///< iterations of a loop that states no number
  bool zip_maps = true;                        ///< false: the scores that ZipMap turns into maps stay tensors
  /// What was measured on the machine that runs the unit. Null: kernels are chosen by predicted costs.
  std::shared_ptr<const Tuning> tuning{};
  std::vector<CustomOperator> custom_operators{};  ///< the user's own
  /// Names of inputs, and of the outputs that are their values after a run: the caller keeps both at one place.
  std::vector<std::pair<std::string, std::string>> states{};
  std::vector<std::string> taps{};  ///< names of values that become outputs as well, after the model's own
  int bisect_limit = -1;            ///< run only this many optional passes
  std::ostream* log = nullptr;
  /// Called with the graph after import ("import") and after each pass that ran.
  std::function<void(const std::string& pass, const Graph& graph)> watch{};
};

/// -O3, -Os
std::string level_name(const CompilerOptions& options);
/// What the level gives where nothing else is asked for.
MemoryGoal usual_memory(const CompilerOptions& options);
NarrowWeights usual_narrow_weights(const CompilerOptions& options);

/// The same model with some dimensions fixed, or assumed equal to others. It runs if the caller's dimensions are so.
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
  EqualExtents equal;  ///< of extents of the inputs that meet in broadcasting
  /// Graph::float_reasons
  std::map<std::string, std::string> float_reasons{};
  std::vector<Variant> variants{};  ///< the first one whose condition holds runs, otherwise `program`
  WeightSavings rounded_weights{};  ///< by CompilerOptions::weight_form
};

/// Import, passes, lowering, memory plan. Throws Error.
Compilation compile_model(const std::filesystem::path& model, const CompilerOptions& options);

/// Import alone, with functions inlined: for `onnxc info`.
Imported read_model(const std::filesystem::path& model, const CompilerOptions& options);

/// The names of all passes, in order.
std::vector<std::string> pass_names();
/// Runs one pass by its name, and the verifier after it. Throws Error{Usage} for an unknown name.
Graph run_pass(const std::string& name, Graph graph);

}  // namespace onnxc
