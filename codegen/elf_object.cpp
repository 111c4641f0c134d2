// The layout, by the ELF-64 object file format:
//   header | image | pointer | .rela | .symtab | .strtab | .shstrtab | section headers
#include "codegen/elf_object.h"

#include <stdexcept>
#include <type_traits>
#include <vector>

#include "codegen/elf.h"

namespace onnxc {
namespace {

using namespace elf;

struct Relocation {
  uint64_t offset = 0, info = 0;
  int64_t addend = 0;
};
static_assert(sizeof(Relocation) == 24);

constexpr uint32_t kProgbits = 1, kStrtab = 3, kRela = 4;
constexpr uint64_t kWrite = 1, kAlloc = 2, kInfoLink = 0x40, kX86Large = 0x10000000;
constexpr unsigned char kGlobalObject = 0x11, kHidden = 2;

/// The file but for the image, which is not held.
class Writer {
 public:
  void align(uint64_t alignment) { file_.resize((size() + alignment - 1) / alignment * alignment - image_bytes_); }
  uint64_t append(std::string_view bytes) {
    const uint64_t at = size();
    file_ += bytes;
    return at;
  }
  template <class T>
  uint64_t append_struct(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    return append({reinterpret_cast<const char*>(&value), sizeof value});
  }
  template <class T>
  void patch(uint64_t at, const T& value) {
    file_.replace(at, sizeof value, reinterpret_cast<const char*>(&value), sizeof value);  // before the image
  }
  void leave_room(uint64_t image_bytes) {
    before_image_ = file_.size();
    image_bytes_ = image_bytes;
  }
  uint64_t size() const { return file_.size() + image_bytes_; }
  Text with(Text::Writer image) && {
    Text text(file_.substr(0, before_image_));
    text += std::move(image);
    text += std::string_view(file_).substr(before_image_);
    return text;
  }

 private:
  std::string file_;
  std::size_t before_image_ = 0;
  uint64_t image_bytes_ = 0;
};

/// Strings one after the other, found by their offsets.
struct Strings {
  std::string bytes = std::string(1, '\0');
  uint32_t add(const std::string& text) {
    const auto at = static_cast<uint32_t>(bytes.size());
    bytes += text;
    bytes += '\0';
    return at;
  }
};

}  // namespace

Text elf_object(Text::Writer image, uint64_t image_bytes, uint64_t alignment, const std::string& image_symbol,
                const std::string& pointer_symbol, std::string_view triple) {
  Header header;
  uint64_t absolute_64 = 0;  // the relocation "address of symbol + addend"
  if (triple.starts_with("x86_64-")) {
    header.machine = 62;
    absolute_64 = 1;
  } else if (triple.starts_with("aarch64-")) {
    header.machine = 183;
    absolute_64 = 257;
  } else {
    throw std::invalid_argument("no object files for '" + std::string(triple) +
                                "'; x86_64 and aarch64 are known, and --weights=auto is for every machine");
  }
  const bool large = header.machine == 62 && image_bytes > (uint64_t{1} << 30);

  Writer out;
  out.append_struct(header);
  Strings names, symbol_names;
  std::vector<Section> sections(1);
  const auto add_section = [&](const char* name, uint32_t type, uint64_t flags, uint64_t section_alignment,
                               std::string_view bytes) -> Section& {
    out.align(section_alignment);
    Section section;
    section.name = names.add(name);
    section.type = type;
    section.flags = flags;
    section.offset = out.append(bytes);
    section.size = bytes.size();
    section.alignment = section_alignment;
    return sections.emplace_back(section);
  };
  const auto as_bytes = [](const auto& value) { return std::string_view(reinterpret_cast<const char*>(&value), sizeof value); };

  Section& rodata = add_section(large ? ".lrodata.onnxc" : ".rodata.onnxc", kProgbits, kAlloc | (large ? kX86Large : 0), alignment, "");
  rodata.size = image_bytes;
  out.leave_room(image_bytes);
  add_section(".data.rel.ro.onnxc", kProgbits, kAlloc | kWrite, 8, std::string(8, '\0'));
  const Relocation relocation{0, (uint64_t{1} << 32) | absolute_64, 0};
  Section& rela = add_section(".rela.data.rel.ro.onnxc", kRela, kInfoLink, 8, as_bytes(relocation));
  rela.link = 4;
  rela.info = 2;
  rela.entry_bytes = sizeof(Relocation);
  const Symbol symbols[] = {{},
                            {symbol_names.add(image_symbol), kGlobalObject, kHidden, 1, 0, image_bytes},
                            {symbol_names.add(pointer_symbol), kGlobalObject, kHidden, 2, 0, 8}};
  Section& symtab = add_section(".symtab", kSymtab, 0, 8, as_bytes(symbols));
  symtab.link = 5;
  symtab.info = 1;  // index of the first global symbol
  symtab.entry_bytes = sizeof(Symbol);
  add_section(".strtab", kStrtab, 0, 1, symbol_names.bytes);
  add_section(".note.GNU-stack", kProgbits, 0, 1, "");  // the stack is not executable
  const uint32_t own_name = names.add(".shstrtab");
  add_section("", kStrtab, 0, 1, names.bytes).name = own_name;

  out.align(8);
  header.section_headers = out.size();
  header.section_count = static_cast<uint16_t>(sections.size());
  header.names_section = static_cast<uint16_t>(sections.size() - 1);
  for (const Section& section : sections) out.append_struct(section);
  out.patch(0, header);
  return std::move(out).with(std::move(image));
}

}  // namespace onnxc
