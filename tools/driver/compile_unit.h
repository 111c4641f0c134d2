// A model file, compiled by onnxc and by the system's compiler, and ready to be called.
#pragma once
#include <onnxc/profile.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "codegen/compile.h"
#include "tools/driver/build_library.h"
#include "tools/driver/unit_library.h"

namespace onnxc {

struct CompiledModel {
  std::unique_ptr<UnitLibrary> library;
  const onnxc_model* model = nullptr;
  const onnxc_profile* profile = nullptr;  ///< set if options.profile asked for it
  bool huge_pages = false;                 ///< its weights are in memory of huge pages
  /// Of onnxc, and of the system's compiler, which is close to 0 if the cache has the library.
  double compile_seconds = 0, build_seconds = 0;
};

/// The flags for the system's compiler to make code for a target of onnxc.
std::vector<std::string> target_flags(const std::string& target);

/// The linker's options for libraries of these names, one on each line.
std::string link_options(const std::vector<std::string>& libraries);

/// Throws Error{Budget} if the unit has more than options.max_code bytes of machine code. Only a compiler can tell,
/// so the unit is built as an object, for the target and with -O3.
void check_code_budget(const Compilation& compilation, const CompileOptions& options);

/// The files of a unit, NAMESPACE.cpp first, and how to build them.
BuildRequest build_request(Unit unit, const std::string& header_name);

/// Throws Error, or BuildError for C++ that does not compile, which is our bug.
CompiledModel compile_and_load(const std::filesystem::path& model, const CompileOptions& options,
                               const std::vector<std::string>& flags = {"-O3"});
/// The same, starting from a compilation.
CompiledModel build_and_load(const Compilation& compilation, const CompileOptions& options,
                             const std::vector<std::string>& flags = {"-O3"});

struct BuiltBinary {
  std::vector<std::filesystem::path> files;  ///< those read: the model, its external data, headers of custom operators
  std::vector<std::string> libraries;        ///< those that a relocatable object must still be linked with
};

/// Writes the unit as a shared library or as one relocatable object to `output`. A library for several threads also
/// exports onnxc/shared_executor.hpp, and one whose model needs an allocator exports onnxc/shared_memory.hpp. Throws
/// Error or BuildError.
BuiltBinary build_binary(const std::filesystem::path& model, const std::filesystem::path& output, bool shared,
                         const CompileOptions& options, const std::vector<std::string>& flags = {"-O3"});

}  // namespace onnxc
