// The options of all subcommands that compile a model.
#pragma once
#include <CLI/CLI.hpp>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "codegen/compile.h"

namespace onnxc {

/// Holds what the command line states, until `options` is called.
class ModelOptions {
 public:
  /// Adds --target, --dim, -O, --threads, --max-arena, --max-weights, --max-code, --weights and the other options
  /// listed in the definition. This object must live until the command line is parsed.
  void add_to(CLI::App& app);
  /// --tune and --tune-cache.
  void add_tune_to(CLI::App& app);
  void add_tune_cache_to(CLI::App& app);
  /// `rest` with the options of the command line. Throws Error{Usage} for an invalid --dim, --region or --custom-op.
  CompileOptions options(CompileOptions rest = {}) const;
  /// The same, with the effect of --tune on that model. It may measure, with `data` as in `run`.
  CompileOptions options_for(const std::filesystem::path& model, CompileOptions rest = {}, const std::string& data = {}) const;
  std::filesystem::path tune_cache() const { return tune_cache_; }

 private:
  std::string target_ = "native", weights_ = "auto", zipmap_ = "map", math_ = "default", devices_ = "auto", subnormals_ = "flush", on_,
              tune_, tune_cache_;
  int threads_ = 1;
  std::optional<uint64_t> max_arena_, max_weights_, max_code_, max_flash_, max_ram_, max_stack_, gpu_memory_, max_fold_bytes_;
  std::optional<int64_t> max_nodes_;
  std::optional<double> weights_growth_;
  std::optional<std::string> memory_, narrow_weights_;  // by default what the level gives
  bool no_heap_ = false, huge_pages_ = false, measure_ = false, repair_ = false;
  std::optional<int> weight_bits_;
  int64_t block_ = WeightForm().block;
  int64_t max_trip_ = CompilerOptions().max_trip;
  std::string opt_level_ = "3";
  std::vector<std::string> dims_, specialize_, states_, custom_operators_, include_folders_, regions_;
};

}  // namespace onnxc
