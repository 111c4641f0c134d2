// Writes a relocatable ELF64 file with one read-only image. `ld -r -b binary` would do this without the alignment,
// the section and the name.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "codegen/text.h"

namespace onnxc {

/// An object file that defines two hidden symbols:
///   const std::byte IMAGE[]         in .rodata.onnxc; in .lrodata.onnxc on x86-64 above 1 GiB, so that code stays within reach
///   const std::byte* const POINTER  = IMAGE
/// IMAGE is what `image` writes, so many bytes. Code that reads POINTER works at any distance. `triple` names the machine, x86_64 or
/// aarch64; others throw std::invalid_argument.
Text elf_object(Text::Writer image, uint64_t image_bytes, uint64_t alignment, const std::string& image_symbol,
                const std::string& pointer_symbol, std::string_view triple);

}  // namespace onnxc
