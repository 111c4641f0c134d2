// A model file, compiled by onnxc and by the system's compiler, and ready to be called.
#pragma once
#include <onnxc/profile.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "codegen/compile.h"
#include "tools/driver/build_library.h"
#include "tools/driver/data_set.h"
#include "tools/driver/footprint.h"
#include "tools/driver/unit_library.h"

namespace onnxc {

struct CompiledModel {
  std::unique_ptr<UnitLibrary> library;
  const onnxc_model* model = nullptr;
  const onnxc_profile* profile = nullptr;  ///< set if options.profile asked for it
  bool huge_pages = false;                 ///< its weights are in memory of huge pages
  OutermostAxes outermost{};               ///< of states
  /// Of onnxc, and of the system's compiler, which is close to 0 if the cache has the library.
  double compile_seconds = 0, build_seconds = 0;
};

/// The flags for a compiler to make code for a target of onnxc.
std::vector<std::string> target_flags(const std::string& target);
/// The compiler for a target: the system's, or for another machine a cross compiler.
std::string target_compiler(const std::string& target);

/// The linker's options for libraries of these names, one on each line.
std::string link_options(const std::vector<std::string>& libraries);

/// What the unit takes of the machine. Only a compiler can tell, so the unit is built as an object, for the target and with -O3, or -Os.
/// Throws Error{Budget} for what exceeds a limit of the options, and Error where there is no compiler for the target.
Footprint measure_footprint(const Compilation& compilation, const CompileOptions& options);
/// Whether the options ask for what only measure_footprint tells.
bool wants_footprint(const CompileOptions& options);

/// The files of a unit, NAMESPACE.cpp first, and how to build them.
BuildRequest build_request(Unit unit, const std::string& header_name);
/// The same for the unit of a compilation, as its target wants it, in one relocatable object.
BuildRequest object_request(const Compilation& compilation, const CompileOptions& options);
/// As build_library, but what is not onnxc's fault is an Error with a remedy: a compiler without a C++ library, headers of custom operators, libraries.
std::filesystem::path build_unit(const BuildRequest& request);

/// Throws Error, or BuildError for C++ that does not compile, which is our bug.
CompiledModel compile_and_load(const std::filesystem::path& model, const CompileOptions& options,
                               const std::vector<std::string>& flags = {});
/// The same, starting from a compilation.
CompiledModel build_and_load(const Compilation& compilation, const CompileOptions& options, const std::vector<std::string>& flags = {});

/// `flags` of the functions above: in the place of -O3, or of -Os if the options ask for that.
struct BuiltBinary {
  std::string bytes;  ///< of the library or object
  ModelInfo info{};   ///< of the model
  Target target{};
  std::vector<std::filesystem::path> files;  ///< those read: the model, its external data, headers of custom operators
  std::vector<std::string> libraries;        ///< those that a relocatable object must still be linked with
};

/// The unit as a shared library or as one relocatable object. A library for several threads also exports
/// onnxc/shared_executor.hpp, and one whose model needs an allocator exports onnxc/shared_memory.hpp. Throws Error or BuildError.
BuiltBinary build_binary(const std::filesystem::path& model, bool shared, const CompileOptions& options,
                         const std::vector<std::string>& flags = {});

}  // namespace onnxc
