// Writes a relocatable ELF64 file with one read-only image. `ld -r -b binary` would do this without the alignment,
// the section and the name.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace onnxc {

/// An object file that defines two hidden symbols:
///   const std::byte IMAGE[]         in .rodata.onnxc; in .lrodata.onnxc on x86-64 above 1 GiB, so that code stays within reach
///   const std::byte* const POINTER  = IMAGE
/// IMAGE is the concatenation of the pieces of `image`. Code that reads POINTER works at any distance. `triple` names
/// the machine, x86_64 or aarch64; others throw std::invalid_argument.
std::string write_elf_object(std::span<const std::string_view> image, uint64_t alignment, const std::string& image_symbol,
                             const std::string& pointer_symbol, std::string_view triple);

}  // namespace onnxc
