// A model file becomes C++: the whole of onnxc as one function.
#pragma once
#include "codegen/emit.h"
#include "compiler/onnxc.h"

namespace onnxc {

/// Where a unit for GPUs runs that is built at once. Either: on a GPU if there is one and nvcc, else in the emulator.
enum class RunsIn : uint8_t { Either, Gpu, Emulator };

struct CompileOptions : CompilerOptions {
  std::string name_space;   ///< empty: derived from the file's name
  std::string header_name;  ///< empty: NAMESPACE.h
  std::string weights = "auto";
  bool standalone = false;
  bool profile = false;  ///< the unit measures its steps
  /// The unit can copy its weights into memory of huge pages. A program that is run at once does so.
  bool huge_pages = false;
  RunsIn runs_in = RunsIn::Either;
  /// Bytes of machine code, of code and all constants, of arena, stack and variables, and of stack. A larger unit is refused by the build.
  std::optional<int64_t> max_code{}, max_flash{}, max_ram{}, max_stack{};
  std::shared_ptr<const SelfTest> self_test{};  ///< the unit has one; null: none
  bool measure = false;                         ///< the interface states the stack that a run uses, as the target's compiler made the unit
  std::optional<int64_t> stack_bytes{};         ///< what was measured, and by which compiler
  std::string stack_compiler{};
  std::string compiler{};  ///< the command of the C++ compiler that a build calls; empty: that of the target
  /// Where a build looks for headers of custom operators, before the working directory.
  std::vector<std::filesystem::path> include_folders{};

  /// For a unit whose footprint nobody asks for.
  void measure_nothing() {
    measure = false;
    max_code.reset(), max_flash.reset(), max_ram.reset(), max_stack.reset();
  }
};

/// `5,390,336 weights are codes of 4 bits in blocks of 32: 3,369,024 bytes, 21,561,344 as floats`
std::string text(const WeightSavings& rounded, const WeightForm& form);

/// Throws Error.
Unit compile_file(const std::filesystem::path& model, const CompileOptions& options);
/// The same, starting from a compilation.
Unit emit_compilation(const Compilation& compilation, const CompileOptions& options);

}  // namespace onnxc
