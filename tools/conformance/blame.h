// Whose fault it is that units which share a translation unit do not build.
#pragma once
#include <map>
#include <string>

namespace onnxc {

/// The first error of each case in the output of g++ or clang, by namespace. An error belongs to the last unit that was named before or in it, as an error inside
/// the runtime's headers is introduced by the lines that led there (clang names the unit in notes that follow); a header that is not there belongs to the
/// unit that includes it.
std::map<std::string, std::string> blame(const std::string& log);

/// The header or the library that is not there, by what the compiler or the linker said; else empty.
std::string missing_of_system(const std::string& error);

}  // namespace onnxc
