// Reads the sections and functions of an ELF file of 32 or 64 bits and of either byte order: what a compiler for any machine made.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

namespace onnxc {

struct ElfFile {
  struct Section {
    std::string_view name;
    bool is_allocated = false;                                    ///< it takes memory when the program runs
    bool is_code = false, is_writable = false, has_bytes = true;  ///< without bytes it begins as zeros
    int64_t bytes = 0;
  };
  struct Function {
    std::string_view name;  ///< mangled
    uint32_t section = 0;
    uint64_t address = 0;
    int64_t bytes = 0;
  };
  std::vector<Section> sections;
  std::vector<Function> functions;  ///< that the file defines
};

/// Views into `file`. Throws Error{Unsupported} for anything that is no ELF file, or lies about its sizes.
ElfFile read_elf(std::string_view file);

}  // namespace onnxc
