// The options that every subcommand takes which compiles a model.
#pragma once
#include <CLI/CLI.hpp>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "codegen/compile.h"

namespace onnxc {

/// What the command line said, until `options` is asked for.
class ModelOptions {
 public:
  /// --target, --dim, -O, --threads, --max-arena, --max-weights, --max-code, --weights and the rest of the list in add_to. This object must live until the command line is parsed.
  void add_to(CLI::App& app);
  /// --tune and --tune-cache.
  void add_tune_to(CLI::App& app);
  void add_tune_cache_to(CLI::App& app);
  /// `rest` with what the command line said. Throws Error{Usage} for a bad --dim or --custom-op.
  CompileOptions options(CompileOptions rest = {}) const;
  /// The same, with what --tune says about that model: it may measure, on `data` as run has it.
  CompileOptions options_for(const std::filesystem::path& model, CompileOptions rest = {}, const std::string& data = {}) const;
  std::filesystem::path tune_cache() const { return tune_cache_; }

 private:
  std::string target_ = "native", weights_ = "auto", zipmap_ = "map", memory_ = "speed", narrow_weights_ = "auto", math_ = "default",
              subnormals_ = "flush", tune_, tune_cache_;
  int threads_ = 1;
  std::optional<uint64_t> max_arena_, max_weights_, max_code_;
  std::optional<double> weights_growth_;
  bool no_heap_ = false, huge_pages_ = false;
  int64_t max_trip_ = CompilerOptions().max_trip;
  std::string opt_level_ = "3";
  std::vector<std::string> dims_, specialize_, custom_operators_, include_folders_;
};

}  // namespace onnxc
