// A model file, compiled by onnxc and by the system's compiler, ready to be called.
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
  const onnxc_profile* profile = nullptr;         ///< where options.profile asked for it
  bool huge_pages = false;                        ///< its weights are in memory of such
  double compile_seconds = 0, build_seconds = 0;  ///< onnxc; the system's compiler, close to 0 when the cache has it
};

/// The flags with which the system's compiler makes code for a target of onnxc.
std::vector<std::string> target_flags(const std::string& target);

/// The linker's options for libraries of these names, one on a line.
std::string link_options(const std::vector<std::string>& libraries);

/// Throws Error{Budget} where the unit takes more than options.max_code bytes of machine code. What they are only a compiler tells: it is built for that, as an
/// object, for the target and with -O3.
void check_code_budget(const Compilation& compilation, const CompileOptions& options);

/// The files of a unit, NAMESPACE.cpp first, and what to do with them.
BuildRequest build_request(Unit unit, const std::string& header_name);

/// Throws Error, or BuildError for C++ that does not compile, which is our bug.
CompiledModel compile_and_load(const std::filesystem::path& model, const CompileOptions& options,
                               const std::vector<std::string>& flags = {"-O3"});
/// From a compilation on.
CompiledModel build_and_load(const Compilation& compilation, const CompileOptions& options,
                             const std::vector<std::string>& flags = {"-O3"});

struct BuiltBinary {
  std::vector<std::filesystem::path> files;  ///< that were read: the model, its external data, headers of custom operators
  std::vector<std::string> libraries;        ///< that one relocatable object is still to be linked with
};

/// Writes the unit as a shared library or as one relocatable object to `output`; a library for several threads also exports
/// onnxc/shared_executor.hpp, one whose model needs an allocator onnxc/shared_memory.hpp. Throws Error or BuildError.
BuiltBinary build_binary(const std::filesystem::path& model, const std::filesystem::path& output, bool shared,
                         const CompileOptions& options, const std::vector<std::string>& flags = {"-O3"});

}  // namespace onnxc
