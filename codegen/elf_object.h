// Writes a relocatable ELF64 file that holds one read-only image: what `ld -r -b binary` should do but does not (alignment, section, name).
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace onnxc {

/// An object file that defines two hidden symbols:
///   const std::byte IMAGE[]         in .rodata.onnxc, or in .lrodata.onnxc on x86-64 above 1 GiB, so that code stays within reach
///   const std::byte* const POINTER  = IMAGE
/// IMAGE is what the pieces of `image` are, one behind the other. Code that reads POINTER works at any distance. `triple` names the machine, x86_64 or aarch64; another one throws std::invalid_argument.
std::string write_elf_object(std::span<const std::string_view> image, uint64_t alignment, const std::string& image_symbol,
                             const std::string& pointer_symbol, std::string_view triple);

}  // namespace onnxc
