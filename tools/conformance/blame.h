// Finds out which of several units in one translation unit do not build.
#pragma once
#include <map>
#include <string>

namespace onnxc {

/// The first error of each case in the output of g++ or clang, by namespace. An error belongs to the unit that was
/// named last before it or in it, since an error inside the runtime's headers is introduced by the lines that led
/// there (clang names the unit in notes that follow). A missing header belongs to the unit that includes it.
std::map<std::string, std::string> blame(const std::string& log);

/// The header or the library that is missing, by the message of the compiler or the linker; empty if none is.
std::string missing_of_system(const std::string& error);

}  // namespace onnxc
