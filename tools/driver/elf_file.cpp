#include "tools/driver/elf_file.h"

#include <cstddef>

#include "compiler/support/error.h"
#include "compiler/support/error_codes.h"

namespace onnxc {
namespace {

constexpr uint32_t kSymtab = 2, kNobits = 8;
constexpr uint64_t kWrite = 1, kAlloc = 2, kExecute = 4;
constexpr unsigned kFunction = 2;

[[noreturn]] void refuse() {
  throw Error(ErrorCode::NotElf, "the sizes of code and data are only known for ELF files", "leave limits of code, flash and stack out");
}

/// Numbers of the file, whatever its byte order. Structures of 64 bits have wider addresses and sizes ("words").
class Reader {
 public:
  explicit Reader(std::string_view file) : file_(file) {
    if (!file.starts_with("\x7f"
                          "ELF") ||
        file.size() < 16)
      refuse();
    wide_ = file[4] == 2;
    little_ = file[5] == 1;
    if ((!wide_ && file[4] != 1) || (!little_ && file[5] != 2)) refuse();
  }

  uint64_t number(uint64_t at, unsigned bytes) const {
    if (at > file_.size() || file_.size() - at < bytes) refuse();
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; ++i) {
      const auto byte = static_cast<unsigned char>(file_[static_cast<std::size_t>(at + (little_ ? bytes - 1 - i : i))]);
      value = value << 8 | byte;
    }
    return value;
  }
  uint64_t word(uint64_t at) const { return number(at, wide_ ? 8 : 4); }
  uint64_t pick(uint64_t narrow, uint64_t wide) const { return wide_ ? wide : narrow; }
  std::string_view text(uint64_t at) const {
    if (at >= file_.size()) refuse();
    const std::string_view rest = file_.substr(static_cast<std::size_t>(at));
    return rest.substr(0, rest.find('\0'));
  }

 private:
  std::string_view file_;
  bool wide_ = false, little_ = true;
};

}  // namespace

ElfFile read_elf(std::string_view file) {
  const Reader elf(file);
  const uint64_t headers = elf.word(elf.pick(0x20, 0x28)), header_bytes = elf.pick(40, 64);
  const auto header = [&](uint64_t i) { return headers + i * header_bytes; };
  const auto offset = [&](uint64_t at) { return elf.word(at + elf.pick(0x10, 0x18)); };
  const auto size = [&](uint64_t at) { return elf.word(at + elf.pick(0x14, 0x20)); };
  const auto link = [&](uint64_t at) { return elf.number(at + elf.pick(0x18, 0x28), 4); };
  // More than 65,279 sections: the first header tells.
  uint64_t count = elf.number(elf.pick(0x30, 0x3c), 2), names = elf.number(elf.pick(0x32, 0x3e), 2);
  if (count == 0 && headers != 0) count = size(header(0));
  if (names == 0xffff) names = link(header(0));
  if (count > file.size() / header_bytes) refuse();

  ElfFile result;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t at = header(i), type = elf.number(at + 4, 4), flags = elf.word(at + 8);
    result.sections.push_back({elf.text(offset(header(names)) + elf.number(at, 4)), (flags & kAlloc) != 0, (flags & kExecute) != 0,
                               (flags & kWrite) != 0, type != kNobits, static_cast<int64_t>(size(at))});
    if (type != kSymtab) continue;
    const uint64_t symbol_bytes = elf.pick(16, 24), strings = offset(header(link(at)));
    for (uint64_t s = offset(at), end = s + size(at); s + symbol_bytes <= end; s += symbol_bytes) {
      const auto info = static_cast<unsigned>(elf.number(s + elf.pick(12, 4), 1));
      const auto section = static_cast<uint32_t>(elf.number(s + elf.pick(14, 6), 2));
      const uint64_t address = elf.word(s + elf.pick(4, 8)), bytes = elf.word(s + elf.pick(8, 16));
      if ((info & 0xf) != kFunction || section == 0 || bytes == 0) continue;
      result.functions.push_back({elf.text(strings + elf.number(s, 4)), section, address, static_cast<int64_t>(bytes)});
    }
  }
  return result;
}

}  // namespace onnxc
