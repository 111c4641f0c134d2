// A model file becomes C++: the whole of onnxc as one function.
#pragma once
#include "codegen/emit.h"
#include "compiler/onnxc.h"

namespace onnxc {

struct CompileOptions : CompilerOptions {
  std::string name_space;   ///< empty: made from the file's name
  std::string header_name;  ///< empty: NAMESPACE.h
  std::string weights = "auto";
  bool standalone = false;
  bool profile = false;               ///< the unit measures its steps
  bool huge_pages = false;            ///< the unit can copy its weights into memory of huge pages; a program that is run at once does
  std::optional<int64_t> max_code{};  ///< bytes of machine code; a unit that takes more is refused by what builds it
  std::vector<std::filesystem::path>
      include_folders{};  ///< where a build looks for headers of custom operators, before the working directory
};

/// Throws Error.
Unit compile_file(const std::filesystem::path& model, const CompileOptions& options);
/// From a compilation on.
Unit emit_compilation(const Compilation& compilation, const CompileOptions& options);

}  // namespace onnxc
