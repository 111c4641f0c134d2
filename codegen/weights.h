// The constants of a unit as C++ text, in the form that compiles fast for their size.
//
//   array         typed arrays, readable, exact on any machine. The slowest form to compile.
//   asm           `.octa` directives in top-level asm, which compile fast. ELF and Mach-O.
//   string        one escaped string literal: any compiler, but several times slower than asm.
//   incbin        a .bin file beside the source, read by the assembler. ONNXC_WEIGHTS_DIR tells where it is if not on the include path.
//   object        an ELF64 object file that is linked with the unit: costs no compile time at all.
//   file          a .bin file that the program maps or loads; it stores the address in a variable of the interface before the first run.
//   section:NAME  like array (up to 64 KiB) or asm (above), in the section NAME: for firmware with several memories.
//   auto          array up to 64 KiB, asm up to 256 MiB with a string literal for other compilers up to 1 MiB, then object. On big-endian machines array, for WebAssembly a string instead of asm.
//
// All blobs lie in one image in the given order, each at a multiple of WeightsOptions::alignment and of its own. In the
// array forms each is an object of its own with that alignment.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/side_file.h"
#include "codegen/text.h"
#include "compiler/ir/weight_bytes.h"

namespace onnxc {

struct WeightBlob {
  std::string name;           // a C++ identifier, unique in the unit
  std::string elem_cpp_type;  // "float", "std::int8_t", "onnxc::bfloat16", ...
  WeightBytes bytes;
  int alignment = 1;
  // Where they come from, as comment_text gives it, or empty.
  std::string from{};
};

struct WeightsOptions {
  std::string form = "auto";
  // Of symbols and side files: a C identifier, unique in the program, such as the namespace.
  std::string prefix;
  std::string triple = "x86_64-linux-gnu";  // of the object file: for x86_64 or aarch64
  bool little_endian = true;                // the machine; on others, arrays of elements are all that is right
  std::size_t alignment = 64;               // of the image and of each constant, at least
  // In the forms asm and incbin pointers to weights are constant expressions: the image has a name for each type of element.
  bool typed = false;
  // PREFIX_use_huge_pages copies the image into memory of huge pages (onnxc/huge_pages.hpp).
  bool huge_pages = false;
  std::string pointer = "weights";  // the unit's name for an image that is an object of its own
};

/// The text that puts the weights into a unit. `declarations` goes into the unit's named namespace, after the
/// includes and onnxc/base.hpp, outside anonymous namespaces. Large forms and side files read the blobs' bytes while they
/// are written, one blob after the other.
struct WeightsText {
  std::string form;                   // the one that `auto` chose
  std::vector<std::string> includes;  // standard headers that the declarations need, such as "<bit>"
  Text declarations;
  std::string header_declarations;  // for the unit's header: declarations for the form `file` and for huge pages
  // An expression of type const float*: the end of the image. Null in the array forms.
  std::string end = "nullptr";
  // A C++ condition that holds while the weights are missing. Empty if they are always there.
  std::string missing;
  std::vector<SideFile> side_files;
  std::size_t image_bytes = 0;  // all blobs with the padding between them

  /// An expression of type `const T*`: the beginning of blob `name`.
  const std::string& access(std::string_view name) const;

  std::map<std::string, std::string, std::less<>> expressions;
};

/// Throws std::invalid_argument for an unknown form or machine, and for invalid prefixes or sections.
WeightsText emit_weights(std::span<const WeightBlob> blobs, const WeightsOptions& options);

}  // namespace onnxc
