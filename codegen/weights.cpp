// The reason for these forms: a compiler parses every element of an array into a tree of its own, but an asm string
// only into bytes, which the assembler then reads fast as `.octa`. See weights.h for when each is used.
//
// Hexadecimal text is made with a table of byte pairs, and one block at a time while the file is written: to get
// pages of memory for the text of large weights would take longer than making it.
#include "codegen/weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "codegen/elf_object.h"
#include "codegen/lines.h"

namespace onnxc {
namespace {

constexpr std::size_t kArrayLimit = std::size_t{64} << 10, kStringLimit = std::size_t{1} << 20, kAsmLimit = std::size_t{256} << 20;
constexpr std::size_t kImageAlignment = 64;
constexpr std::size_t kColumns = 120;

std::size_t round_up(std::size_t value, std::size_t alignment) { return (value + alignment - 1) / alignment * alignment; }

bool is_identifier(std::string_view text) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !text.empty() && is_letter(text[0]) && std::ranges::all_of(text, [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

struct Layout {
  std::vector<std::size_t> offsets;
  std::size_t bytes = 0, alignment = kImageAlignment;
};

Layout lay_out(std::span<const WeightBlob> blobs) {
  Layout layout;
  for (const WeightBlob& blob : blobs) {
    const std::size_t alignment = std::max(kImageAlignment, static_cast<std::size_t>(blob.alignment));
    layout.alignment = std::max(layout.alignment, alignment);
    layout.offsets.push_back(round_up(layout.bytes, alignment));
    layout.bytes = layout.offsets.back() + blob.bytes.size();
  }
  layout.bytes = round_up(layout.bytes, kImageAlignment);
  return layout;
}

/// Calls add(bytes) for each blob and for the zeros between them, in the order of the image.
template <class Add>
void for_each_piece(std::span<const WeightBlob> blobs, const Layout& layout, Add add) {
  static constexpr std::array<std::byte, 4096> kZeros{};
  std::size_t at = 0;
  const auto pad_to = [&](std::size_t offset) {
    while (at < offset) {
      const std::size_t n = std::min(offset - at, kZeros.size());
      add(std::span<const std::byte>(kZeros.data(), n));
      at += n;
    }
  };
  for (std::size_t i = 0; i < blobs.size(); ++i) {
    pad_to(layout.offsets[i]);
    add(blobs[i].bytes);
    at += blobs[i].bytes.size();
  }
  pad_to(layout.bytes);
}

std::vector<std::string_view> image_pieces(std::span<const WeightBlob> blobs, const Layout& layout) {
  std::vector<std::string_view> pieces;
  for_each_piece(blobs, layout,
                 [&](std::span<const std::byte> piece) { pieces.emplace_back(reinterpret_cast<const char*>(piece.data()), piece.size()); });
  return pieces;
}

std::string make_image(std::span<const WeightBlob> blobs, const Layout& layout) {
  std::string image;
  image.reserve(layout.bytes);
  for (std::string_view piece : image_pieces(blobs, layout)) image += piece;
  return image;
}

// ---- arrays

/// Appends elements separated by ", " in lines of at most kColumns.
class ArrayLines {
 public:
  explicit ArrayLines(std::string& out) : out_(out) {}
  void add(std::string_view element) {
    if (column_ != 0 && column_ + element.size() + 2 > kColumns) {
      out_ += "\n";
      column_ = 0;
    }
    out_ += column_ == 0 ? "    " : " ";
    out_ += element;
    out_ += ',';
    column_ += element.size() + (column_ == 0 ? 5 : 2);
  }

 private:
  std::string& out_;
  std::size_t column_ = 0;
};

char* write_text(char* to, std::string_view text) { return std::copy(text.begin(), text.end(), to); }

/// A plain decimal if that is exact (multiples of 1/8 below 1024), otherwise a hexadecimal float; a bit pattern for
/// NaN and infinity.
template <class Float, class Bits>
std::string_view float_literal(Float value, std::array<char, 64>& buffer) {
  constexpr bool is_float = sizeof(Float) == 4;
  char* const begin = buffer.data();
  char* const end = begin + buffer.size();
  char* to = begin;
  if (!std::isfinite(value)) {
    to =
        fmt::format_to(to, "std::bit_cast<{}>({:#x}{})", is_float ? "float" : "double", std::bit_cast<Bits>(value), is_float ? "u" : "ull");
  } else {
    if (std::signbit(value)) *to++ = '-';
    const Float magnitude = std::abs(value);
    if (magnitude < 1024 && magnitude * 8 == std::trunc(magnitude * 8)) {
      char* const digits = to;
      to = std::to_chars(to, end, magnitude, std::chars_format::fixed).ptr;
      if (std::find(digits, to, '.') == to) to = write_text(to, ".0");
    } else {
      to = write_text(to, "0x");
      to = std::to_chars(to, end, magnitude, std::chars_format::hex).ptr;
    }
    if (is_float) *to++ = 'f';
  }
  return {begin, static_cast<std::size_t>(to - begin)};
}

template <class Int>
std::string_view int_literal(Int value, std::array<char, 64>& buffer) {
  if constexpr (std::is_same_v<Int, int64_t>) {
    if (value == INT64_MIN) return "-9223372036854775807 - 1";
  }
  char* to = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  if constexpr (std::is_same_v<Int, uint64_t> || std::is_same_v<Int, uint32_t>) *to++ = 'u';
  return {buffer.data(), static_cast<std::size_t>(to - buffer.data())};
}

template <class T, class Literal>
bool append_elements(std::string& out, std::span<const std::byte> bytes, Literal literal) {
  if (bytes.size() % sizeof(T) != 0) return false;
  ArrayLines lines(out);
  std::array<char, 64> buffer;
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(T)) {
    T value;
    std::memcpy(&value, bytes.data() + at, sizeof(T));
    lines.add(literal(value, buffer));
  }
  return true;
}

/// The elements as literals of `type`. Returns false if this writer does not know the type, or if the bytes are not a
/// whole number of elements.
bool append_typed(std::string& out, std::string_view type, std::span<const std::byte> bytes) {
  if (type.starts_with("std::")) type.remove_prefix(5);
  if (type == "float") return append_elements<float>(out, bytes, float_literal<float, uint32_t>);
  if (type == "double") return append_elements<double>(out, bytes, float_literal<double, uint64_t>);
  if (type == "int8_t") return append_elements<int8_t>(out, bytes, int_literal<int8_t>);
  if (type == "uint8_t") return append_elements<uint8_t>(out, bytes, int_literal<uint8_t>);
  if (type == "int16_t") return append_elements<int16_t>(out, bytes, int_literal<int16_t>);
  if (type == "uint16_t") return append_elements<uint16_t>(out, bytes, int_literal<uint16_t>);
  if (type == "int32_t") return append_elements<int32_t>(out, bytes, int_literal<int32_t>);
  if (type == "uint32_t") return append_elements<uint32_t>(out, bytes, int_literal<uint32_t>);
  if (type == "int64_t") return append_elements<int64_t>(out, bytes, int_literal<int64_t>);
  if (type == "uint64_t") return append_elements<uint64_t>(out, bytes, int_literal<uint64_t>);
  const auto is_bool = [](std::byte b) { return b == std::byte{0} || b == std::byte{1}; };
  if (type == "bool" && std::ranges::all_of(bytes, is_bool)) {
    return append_elements<uint8_t>(out, bytes, [](uint8_t value, auto&) -> std::string_view { return value != 0 ? "true" : "false"; });
  }
  return false;
}

constexpr std::string_view kLittleEndianOnly =
    "static_assert(std::endian::native == std::endian::little, \"these weights are stored for little-endian machines\");\n";

void emit_arrays(WeightsText& text, std::span<const WeightBlob> blobs, std::string_view attribute) {
  bool raw = false;
  std::string out;
  for (const WeightBlob& blob : blobs) {
    const std::size_t alignment = std::max(kImageAlignment, static_cast<std::size_t>(blob.alignment));
    // C++ has no empty arrays. Nothing is read, but the address should be aligned all the same.
    if (blob.bytes.empty()) {
      out += in_short_lines(fmt::format("alignas({}) {}constexpr unsigned char {}[1] = {{}};  // {}no elements\n", alignment, attribute,
                                        blob.name, blob.from.empty() ? "" : blob.from + ", "));
      text.expressions[blob.name] = fmt::format("reinterpret_cast<const {}*>({})", blob.elem_cpp_type, blob.name);
      continue;
    }
    std::string elements;
    if (append_typed(elements, blob.elem_cpp_type, blob.bytes)) {
      out += in_short_lines(fmt::format("alignas({}) {}constexpr {} {}[] = {{{}\n", alignment, attribute, blob.elem_cpp_type, blob.name,
                                        blob.from.empty() ? "" : "  // " + blob.from));
      text.expressions[blob.name] = blob.name;
    } else {
      raw = true;
      append_typed(elements, "uint8_t", blob.bytes);
      out += in_short_lines(fmt::format("alignas({}) {}constexpr unsigned char {}[] = {{  // {}{}\n", alignment, attribute, blob.name,
                                        blob.elem_cpp_type, blob.from.empty() ? "" : ", " + blob.from));
      text.expressions[blob.name] = fmt::format("reinterpret_cast<const {}*>({})", blob.elem_cpp_type, blob.name);
    }
    out += elements;
    out += "\n};\n";
  }
  if (raw) text.declarations += kLittleEndianOnly;
  text.declarations += out;
}

// ---- one image

constexpr std::array<std::array<char, 2>, 256> kHexPairs = [] {
  std::array<std::array<char, 2>, 256> table{};
  for (std::size_t i = 0; i < 256; ++i) table[i] = {"0123456789abcdef"[i >> 4], "0123456789abcdef"[i & 15]};
  return table;
}();

/// Writes `".octa 0x…,0x…\n"` lines, and `next_asm` after every few. The number of characters matters most, since g++
/// keeps each of them three times, so `.octa` is better than `.quad`. Long lines are better than short ones: literals
/// lie in blocks of 8 KB, and a literal that does not fit wastes the end of its block.
void write_octas(const Text::Sink& sink, std::span<const WeightBlob> blobs, const Layout& layout, std::string_view next_asm) {
  constexpr std::size_t kBytes = 16, kOctasInLine = 2048, kLinesInAsm = 12;
  constexpr std::string_view kBegin = "    \".octa ", kEnd = "\\n\"\n";
  constexpr std::size_t kChars = 35;  // 0x, 32 digits and a comma, which the last of a line lacks
  std::string block(kLinesInAsm * (kBegin.size() + kOctasInLine * kChars + kEnd.size()), '\0');
  char* to = block.data();
  std::size_t column = 0, line = 0;
  const auto flush = [&] {
    sink({block.data(), static_cast<std::size_t>(to - block.data())});
    to = block.data();
  };
  const auto add_octa = [&](const unsigned char* bytes) {
    if (column == 0) {
      if (line > 0 && line % kLinesInAsm == 0) {
        flush();
        sink(next_asm);
      }
      ++line;
      to = write_text(to, kBegin);
    } else {
      *to++ = ',';
    }
    *to++ = '0';
    *to++ = 'x';
    for (std::size_t i = kBytes; i-- > 0;) {
      std::memcpy(to, kHexPairs[bytes[i]].data(), 2);
      to += 2;
    }
    if (++column == kOctasInLine) {
      to = write_text(to, kEnd);
      column = 0;
    }
  };
  unsigned char partial[kBytes] = {};
  std::size_t held = 0;  // bytes in `partial`: pieces need not end at multiples of 16
  for_each_piece(blobs, layout, [&](std::span<const std::byte> piece) {
    const auto* from = reinterpret_cast<const unsigned char*>(piece.data());
    const auto* const end = from + piece.size();
    while (held != 0 && from != end) {
      partial[held++] = *from++;
      if (held == kBytes) add_octa(partial), held = 0;
    }
    for (; end - from >= static_cast<std::ptrdiff_t>(kBytes); from += kBytes) add_octa(from);
    while (from != end) partial[held++] = *from++;
  });
  if (column != 0) to = write_text(to, kEnd);
  flush();
}

/// Appends the image as pieces of a string literal, 48 bytes in each line. Octal escapes have a limited length,
/// hexadecimal ones do not.
void append_string(std::string& out, std::span<const WeightBlob> blobs, const Layout& layout) {
  constexpr std::size_t kBytesInLine = 48;
  const std::string image = make_image(blobs, layout);
  const std::size_t begin = out.size(), needed = begin + image.size() * 4 + (image.size() / kBytesInLine + 2) * 8;
  out.resize(needed);
  char* to = out.data() + begin;
  for (std::size_t line = 0; line < image.size(); line += kBytesInLine) {
    const std::size_t end = std::min(image.size(), line + kBytesInLine);
    to = write_text(to, "    \"");
    for (std::size_t i = line; i < end; ++i) {
      const auto c = static_cast<unsigned char>(image[i]);
      if (c >= 0x20 && c < 0x7f) {
        if (c == '"' || c == '\\' || c == '?') *to++ = '\\';  // ? because of trigraphs
        *to++ = static_cast<char>(c);
        continue;
      }
      const bool digit_follows = i + 1 < end && image[i + 1] >= '0' && image[i + 1] <= '7';
      *to++ = '\\';
      if (digit_follows || c >= 0100) *to++ = static_cast<char>('0' + (c >> 6));
      if (digit_follows || c >= 010) *to++ = static_cast<char>('0' + ((c >> 3) & 7));
      *to++ = static_cast<char>('0' + (c & 7));
    }
    to = write_text(to, "\"\n");
  }
  out.resize(static_cast<std::size_t>(to - out.data()));
}

/// For use around long literals: clang counts their characters under -Wpedantic.
constexpr std::string_view kAllowLongLiteral =
    "#ifdef __clang__\n#pragma clang diagnostic push\n#pragma clang diagnostic ignored \"-Woverlength-strings\"\n#endif\n";
constexpr std::string_view kEndLongLiteral = "#ifdef __clang__\n#pragma clang diagnostic pop\n#endif\n";

/// Appends the image in the section `section` (the usual read-only one if empty). content(next_asm) gives its asm
/// strings, as text or as a part of one, with `next_asm` where one asm may end and the next may begin; the pieces are
/// contiguous in the section.
template <class Content>
void append_asm(Text& out, const std::string& symbol, std::string_view section, const Layout& layout, Content content) {
  const std::string apple = fmt::format(".pushsection {}\\n", section.empty() ? "__TEXT,__const" : section),
                    elf = fmt::format(".pushsection {},\\\"a\\\",%progbits\\n", section.empty() ? ".rodata.onnxc" : section);
  const auto begin = [&](std::string_view apple_symbol, std::string_view elf_symbol) {
    return fmt::format("#ifdef __APPLE__\nasm(\"{}{}\"\n#else\nasm(\"{}{}\"\n#endif\n", apple, apple_symbol, elf, elf_symbol);
  };
  constexpr std::string_view kEnd = "    \".popsection\\n\");\n";
  out += begin(fmt::format(".private_extern _{0}\\n.globl _{0}\\n.p2align {1}\\n_{0}:\\n", symbol, std::countr_zero(layout.alignment)),
               fmt::format(".globl {0}\\n.hidden {0}\\n.type {0}, %object\\n.size {0}, {1}\\n.balign {2}\\n{0}:\\n", symbol, layout.bytes,
                           layout.alignment));
  out += content(std::string(kEnd) + begin("", ""));
  out += kEnd;
}

std::string extern_image(const std::string& symbol) {
  return fmt::format(
      "extern \"C\" [[gnu::visibility(\"hidden\")]] const std::byte {0}[];\n[[maybe_unused]] constexpr const std::byte* weights = {0};\n",
      symbol);
}

void append_string_image(Text& text, const std::string& symbol, std::span<const WeightBlob> blobs, const Layout& layout) {
  std::string out;
  out += fmt::format("alignas({}) const char {}[] =\n", layout.alignment, symbol);
  append_string(out, blobs, layout);
  if (layout.bytes == 0) out += "    \"\"\n";
  out += fmt::format("    ;\n[[maybe_unused]] const std::byte* const weights = reinterpret_cast<const std::byte*>({});\n", symbol);
  text += out;
}

/// Adds the function that copies the image at `pointer` into memory of huge pages. Returns the pointer to the image
/// in use.
std::string add_huge_pages(WeightsText& text, const std::string& prefix, const std::string& pointer, std::size_t bytes) {
  text.header_declarations += fmt::format(
      "/// Has the {0} bytes of weights copied into memory of huge pages: 1, or 0 where the system has none, or weights lie in small "
      "arrays. Call it before the\n"
      "/// first run; results are the same. The copy is this process's own, and stays.\n"
      "extern \"C\" int {1}_use_huge_pages() noexcept;\n",
      bytes, prefix);
  if (pointer == "nullptr") {
    text.declarations += fmt::format("extern \"C\" {{\nint {}_use_huge_pages() noexcept {{ return 0; }}\n}}\n", prefix);
    return pointer;
  }
  text.declarations += in_short_lines(fmt::format(
      "namespace {{\nconst std::byte* huge_weights = nullptr;\n[[maybe_unused]] const std::byte* weights_in_use() {{ return huge_weights "
      "!= nullptr ? huge_weights : {0}; }}\n}}\n"
      "extern \"C\" {{\nint {1}_use_huge_pages() noexcept {{\n  if (huge_weights == nullptr) huge_weights = onnxc::copy_to_huge_pages({0}, "
      "{2});\n  return huge_weights != nullptr;\n}}\n}}\n",
      pointer, prefix, bytes));
  return "weights_in_use()";
}

constexpr std::string_view kHasAsm = "defined(__GNUC__) && (defined(__ELF__) || defined(__APPLE__))";

}  // namespace

const std::string& WeightsText::access(std::string_view name) const {
  const auto found = expressions.find(name);
  if (found == expressions.end()) throw std::logic_error("no weight named '" + std::string(name) + "'");
  return found->second;
}

WeightsText emit_weights(std::span<const WeightBlob> blobs, const WeightsOptions& options) {
  if (!is_identifier(options.prefix))
    throw std::invalid_argument("the weights need a C identifier as prefix, not '" + options.prefix + "'");
  WeightsText text;
  for (const WeightBlob& blob : blobs) {
    if (!is_identifier(blob.name)) throw std::logic_error("'" + blob.name + "' is no identifier");
    if (!std::has_single_bit(static_cast<unsigned>(blob.alignment)))
      throw std::logic_error("alignment of '" + blob.name + "' is no power of two");
    if (!text.expressions.emplace(blob.name, "").second) throw std::logic_error("two weights named '" + blob.name + "'");
  }
  const Layout layout = lay_out(blobs);
  text.image_bytes = layout.bytes;
  text.includes = {"<bit>", "<cstddef>", "<cstdint>"};

  std::string form = options.form, section;
  if (form.starts_with("section:")) {
    section = form.substr(8);
    const auto allowed = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || std::string_view("._$,-").find(c) != std::string_view::npos;
    };
    if (section.empty() || !std::ranges::all_of(section, allowed))
      throw std::invalid_argument("'" + section + "' cannot be the name of a section");
    form = layout.bytes <= kArrayLimit ? "array" : "asm";
  }
  const bool automatic = form == "auto";
  if (automatic) form = layout.bytes <= kArrayLimit ? "array" : layout.bytes <= kAsmLimit ? "asm" : "object";
  text.form = form;

  if (form == "array") {
    emit_arrays(text, blobs, section.empty() ? "" : fmt::format("[[gnu::section(\"{}\")]] ", section));
    if (options.huge_pages) add_huge_pages(text, options.prefix, "nullptr", layout.bytes);
    return text;
  }

  for (const WeightBlob& blob : blobs)
    text.expressions[blob.name] = fmt::format("onnxc::at<{}>(weights, {})", blob.elem_cpp_type, blob.name);
  text.end = fmt::format("onnxc::at<float>(weights, {})", layout.bytes);
  std::string pointer = "weights";  // to the image
  const std::string symbol = options.prefix + "_weights";
  Text& out = text.declarations;
  out += kLittleEndianOnly;
  if (form == "asm") {
    out += fmt::format("#if {}\n{}", kHasAsm, kAllowLongLiteral);
    append_asm(out, symbol, section, layout, [&](const std::string& next_asm) -> Text::Part {
      return [blobs = std::vector(blobs.begin(), blobs.end()), layout, next_asm](const Text::Sink& sink) {
        write_octas(sink, blobs, layout, next_asm);
      };
    });
    out += kEndLongLiteral;
    out += extern_image(symbol);
    out += "#else\n";
    if (automatic && layout.bytes <= kStringLimit) {
      out += kAllowLongLiteral;
      append_string_image(out, symbol + "_image", blobs, layout);
      out += kEndLongLiteral;
    } else {
      out += "#error \"this compiler cannot take weights as assembly; ask onnxc for --weights=string\"\n";
    }
    out += "#endif\n";
  } else if (form == "string") {
    out += kAllowLongLiteral;
    append_string_image(out, symbol + "_image", blobs, layout);
    out += kEndLongLiteral;
  } else if (form == "incbin") {
    const std::string file = options.prefix + ".weights.bin";
    out += "#ifndef ONNXC_WEIGHTS_DIR\n#define ONNXC_WEIGHTS_DIR \"\"  // or a folder with a slash at its end\n#endif\n";
    append_asm(out, symbol, section, layout,
               [&](const std::string&) { return fmt::format("    \".incbin \\\"\" ONNXC_WEIGHTS_DIR \"{}\\\"\\n\"\n", file); });
    out += extern_image(symbol);
    text.side_files.push_back({file, make_image(blobs, layout)});
  } else if (form == "object") {
    const std::string file = options.prefix + ".weights.o";
    pointer = symbol + "_pointer";
    out += fmt::format("// Link {} with this file.\n", file);
    out += fmt::format("extern \"C\" [[gnu::visibility(\"hidden\")]] const std::byte* const {0};\n", pointer);
    text.side_files.push_back({file, write_elf_object(image_pieces(blobs, layout), layout.alignment, symbol, pointer, options.triple)});
  } else if (form == "file") {
    const std::string file = options.prefix + ".weights.bin";
    text.header_declarations = fmt::format(
        "/// The address of {} ({} bytes), mapped or loaded by the program at a multiple of {} bytes. Set it before the first run.\n"
        "extern \"C\" const std::byte* {};\n",
        file, layout.bytes, layout.alignment, symbol);
    out += fmt::format("extern \"C\" {{\nconst std::byte* {} = nullptr;\n}}\n", symbol);
    pointer = symbol;
    text.missing = symbol + " == nullptr";
    text.side_files.push_back({file, make_image(blobs, layout)});
  } else {
    throw std::invalid_argument("there is no weights form '" + options.form +
                                "'; known are auto, array, asm, string, incbin, object, file and section:NAME");
  }
  if (options.huge_pages) pointer = add_huge_pages(text, options.prefix, pointer, layout.bytes);
  std::string places = "\n// Where each lies in the image.\n";
  for (std::size_t i = 0; i < blobs.size(); ++i) {
    places += fmt::format("[[maybe_unused]] constexpr std::size_t {} = {};{}\n", blobs[i].name, layout.offsets[i],
                          blobs[i].from.empty() ? "" : "  // " + blobs[i].from);
  }
  text.declarations += in_short_lines(places);
  const auto replace = [&](std::string& access) { access.replace(access.find("(weights"), 8, "(" + pointer); };
  for (auto& [name, access] : text.expressions) replace(access);
  replace(text.end);
  return text;
}

}  // namespace onnxc
