// The ELF-64 object file format, as far as onnxc writes and reads it.
#pragma once
#include <bit>
#include <cstdint>

namespace onnxc::elf {

static_assert(std::endian::native == std::endian::little, "structures are read and written as they lie in memory");

struct Header {
  unsigned char ident[16] = {0x7f, 'E', 'L', 'F', 2 /* 64 bit */, 1 /* little endian */, 1};
  uint16_t type = 1;  // relocatable
  uint16_t machine = 0;
  uint32_t version = 1;
  uint64_t entry = 0, program_headers = 0, section_headers = 0;
  uint32_t flags = 0;
  uint16_t header_bytes = 64, program_header_bytes = 0, program_header_count = 0;
  uint16_t section_header_bytes = 64, section_count = 0, names_section = 0;
};
static_assert(sizeof(Header) == 64);

struct Section {
  uint32_t name = 0, type = 0;
  uint64_t flags = 0, address = 0, offset = 0, size = 0;
  uint32_t link = 0, info = 0;
  uint64_t alignment = 1, entry_bytes = 0;
};
static_assert(sizeof(Section) == 64);

struct Symbol {
  uint32_t name = 0;
  unsigned char info = 0, other = 0;
  uint16_t section = 0;
  uint64_t value = 0, size = 0;
};
static_assert(sizeof(Symbol) == 24);

constexpr uint32_t kSymtab = 2;

}  // namespace onnxc::elf
