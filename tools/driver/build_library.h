// From emitted C++ to a shared library, by the system's compiler, once for each content.
#pragma once
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/side_file.h"

namespace onnxc {

struct BuildRequest {
  std::vector<SideFile> files;           ///< sources, headers and weights, written into one folder
  std::vector<std::string> to_compile;   ///< names of the .cpp and .cu files among them
  std::vector<std::string> objects;      ///< names of the .o files among them
  std::vector<std::string> flags;        ///< of the system's compiler, in addition to -std=c++20, -fPIC and the runtime's folder
  std::string architecture{};            ///< of a GPU, as after nvcc's -arch=, which then compiles; empty: the system's compiler does
  std::vector<std::string> libraries{};  ///< to link with: names as after -l
  bool includes_others = false;          ///< it includes headers that are neither among the files nor the runtime's
  std::filesystem::path keep_in{};       ///< where to leave the sources, or empty
  bool shared = true;                    ///< false: one relocatable object
  std::string compiler{};                ///< empty: system_compiler()
  bool position_independent = true;
  bool call_graph = false;  ///< of an object that is compiled, not linked: g++ writes its call graph beside it, with the suffix .ci
};

/// The compiler's output.
class BuildError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// $ONNXC_CXX, $CXX, or c++. Like all compilers here, a command: the program and maybe options, which blanks separate.
std::string system_compiler();
/// For this machine while $ONNXC_CXX is for another: $CXX, or c++.
std::string host_compiler();
/// For another machine: $ONNXC_CXX, or the compiler that is named after its triple, as in arm-none-eabi-g++.
std::string cross_compiler(std::string_view triple);
/// The words of a compiler's command. A program whose own name has blanks is one word.
std::vector<std::string> compiler_words(const std::string& compiler);

/// The first line of the version of a compiler, of the system's by default.
std::string compiler_name(const std::string& compiler = system_compiler());

/// Changes with the headers of the runtime.
std::string runtime_fingerprint();

/// The headers that the request includes in addition to its files, the runtime's and the system's, in the order of
/// their paths. Throws BuildError if one is missing.
std::vector<std::filesystem::path> other_headers(const BuildRequest& request);

/// The path of the library, which stays in the cache. Throws BuildError.
std::filesystem::path build_library(const BuildRequest& request);

}  // namespace onnxc
