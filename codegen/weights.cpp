// The reason for these forms: a compiler parses every element of an array into a tree of its own, but an asm string
// only into bytes, which the assembler then reads fast as `.octa`. See weights.h for when each is used.
#include "codegen/weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>
#include <stdexcept>

#include "codegen/elf_object.h"
#include "codegen/lines.h"
#include "codegen/weight_image.h"
#include "codegen/weight_literals.h"

namespace onnxc {
namespace {

constexpr std::size_t kArrayLimit = std::size_t{64} << 10, kStringLimit = std::size_t{1} << 20, kAsmLimit = std::size_t{256} << 20;

bool is_identifier(std::string_view text) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !text.empty() && is_letter(text[0]) && std::ranges::all_of(text, [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

constexpr std::string_view kLittleEndianOnly =
    "static_assert(std::endian::native == std::endian::little, \"these weights are stored for little-endian machines\");\n";

void emit_arrays(WeightsText& text, std::span<const WeightBlob> blobs, std::string_view attribute, std::size_t least) {
  bool raw = false;
  std::string out;
  for (const WeightBlob& blob : blobs) {
    const std::size_t alignment = std::max(least, static_cast<std::size_t>(blob.alignment));
    // C++ has no empty arrays. Nothing is read, but the address should be aligned all the same.
    if (blob.bytes.size() == 0) {
      out += in_short_lines(fmt::format("alignas({}) {}constexpr unsigned char {}[1] = {{}};  // {}no elements\n", alignment, attribute,
                                        blob.name, blob.from.empty() ? "" : blob.from + ", "));
      text.expressions[blob.name] = fmt::format("reinterpret_cast<const {}*>({})", blob.elem_cpp_type, blob.name);
      continue;
    }
    std::string elements;
    const std::shared_ptr<const Bytes> bytes = blob.bytes.get();
    if (append_literals(elements, blob.elem_cpp_type, *bytes)) {
      out += in_short_lines(fmt::format("alignas({}) {}constexpr {} {}[] = {{{}\n", alignment, attribute, blob.elem_cpp_type, blob.name,
                                        blob.from.empty() ? "" : "  // " + blob.from));
      text.expressions[blob.name] = blob.name;
    } else {
      raw = true;
      append_literals(elements, "uint8_t", *bytes);
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

/// For use around long literals: clang counts their characters under -Wpedantic.
constexpr std::string_view kAllowLongLiteral =
    "#ifdef __clang__\n#pragma clang diagnostic push\n#pragma clang diagnostic ignored \"-Woverlength-strings\"\n#endif\n";
constexpr std::string_view kEndLongLiteral = "#ifdef __clang__\n#pragma clang diagnostic pop\n#endif\n";

/// Appends the image in the section `section` (the usual read-only one if empty), for Mach-O, COFF and ELF. content(next_asm) gives its asm
/// strings, as text or as a part of one, with `next_asm` where one asm may end and the next may begin; the pieces are
/// contiguous in the section. COFF's assemblers have no stack of sections: what follows is the compiler's, which states its own, or is only read.
template <class Content>
void append_asm(Text& out, const std::string& symbol, std::string_view section, const WeightLayout& layout, Content content) {
  const std::string apple = fmt::format(".pushsection {}\\n", section.empty() ? "__TEXT,__const" : section),
                    coff = fmt::format(".section {},\\\"dr\\\"\\n", section.empty() ? ".rdata" : section),
                    elf = fmt::format(".pushsection {},\\\"a\\\",%progbits\\n", section.empty() ? ".rodata.onnxc" : section);
  const auto begin = [&](std::string_view apple_symbol, std::string_view coff_symbol, std::string_view elf_symbol) {
    return fmt::format("#if defined(__APPLE__)\nasm(\"{}{}\"\n#elif defined(_WIN64)\nasm(\"{}{}\"\n#else\nasm(\"{}{}\"\n#endif\n", apple,
                       apple_symbol, coff, coff_symbol, elf, elf_symbol);
  };
  constexpr std::string_view kEnd = "#ifdef _WIN64\n    \".text\\n\");\n#else\n    \".popsection\\n\");\n#endif\n";
  out += begin(fmt::format(".private_extern _{0}\\n.globl _{0}\\n.p2align {1}\\n_{0}:\\n", symbol, std::countr_zero(layout.alignment)),
               fmt::format(".globl {0}\\n.balign {1}\\n{0}:\\n", symbol, layout.alignment),
               fmt::format(".globl {0}\\n.hidden {0}\\n.type {0}, %object\\n.size {0}, {1}\\n.balign {2}\\n{0}:\\n", symbol, layout.bytes,
                           layout.alignment));
  out += content(std::string(kEnd) + begin("", "", ""));
  out += kEnd;
}

std::string extern_image(const std::string& symbol, const std::string& pointer) {
  return fmt::format(
      "extern \"C\" [[gnu::visibility(\"hidden\")]] const std::byte {0}[];\n[[maybe_unused]] constexpr const std::byte* {1} = {0};\n",
      symbol, pointer);
}

/// An element type under which the image has a name of its own, which ends in `suffix`. kUnitNames and names_of_regions have these.
struct TypedImage {
  std::string_view type, suffix;
  std::size_t element_bytes;
};
constexpr TypedImage kTypedImages[] = {
    {"float", "_float", 4}, {"std::int32_t", "_int32", 4}, {"std::int8_t", "_int8", 1}, {"std::uint8_t", "_uint8", 1}};

/// Declares the image, which an assembler makes, as arrays of the types that its blobs have.
std::string extern_arrays(const std::string& symbol, const std::string& pointer, std::span<const WeightBlob> blobs, std::size_t bytes) {
  std::string text;
  for (const TypedImage& typed : kTypedImages) {
    if (std::ranges::any_of(blobs, [&](const WeightBlob& blob) { return blob.elem_cpp_type == typed.type && blob.bytes.size() != 0; }))
      text += fmt::format("[[gnu::visibility(\"hidden\")]] extern const {} {}{}[{}] __asm__(\"{}\");\n", typed.type, pointer, typed.suffix,
                          bytes / typed.element_bytes, symbol);
  }
  return text;
}

void append_string_image(Text& out, const std::string& symbol, const std::string& pointer, std::span<const WeightBlob> blobs,
                         const WeightLayout& layout) {
  out += fmt::format("alignas({}) const char {}[] =\n", layout.alignment, symbol);
  out += Text::Writer([all = std::vector(blobs.begin(), blobs.end()), layout](const Text::Sink& sink) { write_string(sink, all, layout); });
  if (layout.bytes == 0) out += "    \"\"\n";
  out += fmt::format("    ;\n[[maybe_unused]] const std::byte* const {} = reinterpret_cast<const std::byte*>({});\n", pointer, symbol);
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

constexpr std::string_view kHasAsm =
    "(defined(__GNUC__) || defined(__clang__)) && (defined(__ELF__) || defined(__APPLE__) || defined(_WIN64))";

/// What a form of the image is made of.
struct Image {
  const WeightsOptions& options;
  std::span<const WeightBlob> blobs;
  WeightLayout layout;
  std::string symbol, section;
  bool automatic;  // `auto` chose the form: compilers without assembly get a string, where that is small enough
};

// Each declares the image in one form, and gives an expression that points to it.

std::string asm_image(WeightsText& text, const Image& image) {
  Text& out = text.declarations;
  out += fmt::format("#if {}\n{}", kHasAsm, kAllowLongLiteral);
  append_asm(out, image.symbol, image.section, image.layout, [&](const std::string& next_asm) -> Text::Writer {
    return [blobs = std::vector(image.blobs.begin(), image.blobs.end()), layout = image.layout, next_asm](const Text::Sink& sink) {
      write_octas(sink, blobs, layout, next_asm);
    };
  });
  out += kEndLongLiteral;
  out += extern_image(image.symbol, image.options.pointer);
  if (image.options.typed) out += extern_arrays(image.symbol, image.options.pointer, image.blobs, image.layout.bytes);
  out += "#else\n";
  if (image.automatic && !image.options.typed && image.layout.bytes <= kStringLimit) {
    out += kAllowLongLiteral;
    append_string_image(out, image.symbol + "_image", image.options.pointer, image.blobs, image.layout);
    out += kEndLongLiteral;
  } else {
    out += "#error \"this compiler cannot take weights as assembly; ask onnxc for --weights=string\"\n";
  }
  out += "#endif\n";
  return image.options.pointer;
}

std::string string_image(WeightsText& text, const Image& image) {
  text.declarations += kAllowLongLiteral;
  append_string_image(text.declarations, image.symbol + "_image", image.options.pointer, image.blobs, image.layout);
  text.declarations += kEndLongLiteral;
  return image.options.pointer;
}

std::string incbin_image(WeightsText& text, const Image& image) {
  const std::string file = image.options.prefix + ".weights.bin";
  text.declarations += "#ifndef ONNXC_WEIGHTS_DIR\n#define ONNXC_WEIGHTS_DIR \"\"  // or a folder with a slash at its end\n#endif\n";
  append_asm(text.declarations, image.symbol, image.section, image.layout,
             [&](const std::string&) { return fmt::format("    \".incbin \\\"\" ONNXC_WEIGHTS_DIR \"{}\\\"\\n\"\n", file); });
  text.declarations += extern_image(image.symbol, image.options.pointer);
  if (image.options.typed) text.declarations += extern_arrays(image.symbol, image.options.pointer, image.blobs, image.layout.bytes);
  text.side_files.push_back({file, Text(image_writer(image.blobs, image.layout))});
  return image.options.pointer;
}

std::string object_image(WeightsText& text, const Image& image) {
  const std::string file = image.options.prefix + ".weights.o", pointer = image.symbol + "_pointer";
  text.declarations += fmt::format("// Link {} with this file.\n", file);
  text.declarations += fmt::format("extern \"C\" [[gnu::visibility(\"hidden\")]] const std::byte* const {0};\n", pointer);
  text.side_files.push_back({file, elf_object(image_writer(image.blobs, image.layout), image.layout.bytes, image.layout.alignment,
                                              image.symbol, pointer, image.options.triple)});
  return pointer;
}

std::string file_image(WeightsText& text, const Image& image) {
  const std::string file = image.options.prefix + ".weights.bin";
  text.header_declarations = fmt::format(
      "/// The address of {} ({} bytes), mapped or loaded by the program at a multiple of {} bytes. Set it before the first run.\n"
      "extern \"C\" const std::byte* {};\n",
      file, image.layout.bytes, image.layout.alignment, image.symbol);
  text.declarations += fmt::format("extern \"C\" {{\nconst std::byte* {} = nullptr;\n}}\n", image.symbol);
  text.missing = image.symbol + " == nullptr";
  text.side_files.push_back({file, Text(image_writer(image.blobs, image.layout))});
  return image.symbol;
}

struct Form {
  std::string_view name;
  std::string (*declare)(WeightsText& text, const Image& image);
};
constexpr Form kForms[] = {
    {"asm", asm_image}, {"string", string_image}, {"incbin", incbin_image}, {"object", object_image}, {"file", file_image},
};

void check_names(std::span<const WeightBlob> blobs, const WeightsOptions& options) {
  if (!is_identifier(options.prefix))
    throw std::invalid_argument("the weights need a C identifier as prefix, not '" + options.prefix + "'");
  std::set<std::string_view> names;
  for (const WeightBlob& blob : blobs) {
    if (!is_identifier(blob.name)) throw std::logic_error("'" + blob.name + "' is no identifier");
    if (!std::has_single_bit(static_cast<unsigned>(blob.alignment)))
      throw std::logic_error("alignment of '" + blob.name + "' is no power of two");
    if (!names.insert(blob.name).second) throw std::logic_error("two weights named '" + blob.name + "'");
  }
}

/// NAME of section:NAME, which an assembler must take; empty for other forms.
std::string section_of(std::string_view form) {
  if (!form.starts_with("section:")) return "";
  const std::string section(form.substr(8));
  const auto allowed = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || std::string_view("._$,-").find(c) != std::string_view::npos;
  };
  if (section.empty() || !std::ranges::all_of(section, allowed))
    throw std::invalid_argument("'" + section + "' cannot be the name of a section");
  return section;
}

}  // namespace

const std::string& WeightsText::access(std::string_view name) const {
  const auto found = expressions.find(name);
  if (found == expressions.end()) throw std::logic_error("no weight named '" + std::string(name) + "'");
  return found->second;
}

WeightsText emit_weights(std::span<const WeightBlob> blobs, const WeightsOptions& options) {
  check_names(blobs, options);
  Image image{.options = options,
              .blobs = blobs,
              .layout = lay_out(blobs, options.alignment),
              .symbol = options.prefix + "_weights",
              .section = section_of(options.form),
              .automatic = options.form == "auto"};
  const std::size_t bytes = image.layout.bytes;
  WeightsText text;
  text.image_bytes = bytes;
  text.includes = {"<bit>", "<cstddef>", "<cstdint>"};
  text.form = options.form;
  const bool elf = !options.triple.starts_with("wasm");
  if (!image.section.empty()) text.form = bytes <= kArrayLimit || !options.little_endian ? "array" : "asm";
  if (image.automatic) {
    text.form = bytes <= kArrayLimit || !options.little_endian ? "array" : !elf ? "string" : bytes <= kAsmLimit ? "asm" : "object";
  }

  if (text.form == "array") {
    emit_arrays(text, blobs, image.section.empty() ? "" : fmt::format("[[gnu::section(\"{}\")]] ", image.section), options.alignment);
    if (options.huge_pages) add_huge_pages(text, options.prefix, "nullptr", bytes);
    return text;
  }
  const Form* const form = std::ranges::find(kForms, text.form, &Form::name);
  if (form == std::end(kForms))
    throw std::invalid_argument("there is no weights form '" + options.form +
                                "'; known are auto, array, asm, string, incbin, object, file and section:NAME");
  text.declarations += kLittleEndianOnly;
  std::string pointer = form->declare(text, image);
  if (options.huge_pages) pointer = add_huge_pages(text, options.prefix, pointer, bytes);
  std::string offsets = "\n// Where each lies in the image.\n";
  for (std::size_t i = 0; i < blobs.size(); ++i) {
    offsets += fmt::format("[[maybe_unused]] constexpr std::size_t {} = {};{}\n", blobs[i].name, image.layout.offsets[i],
                           blobs[i].from.empty() ? "" : "  // " + blobs[i].from);
    const auto typed = std::ranges::find(kTypedImages, blobs[i].elem_cpp_type, &TypedImage::type);
    const bool is_typed =
        options.typed && blobs[i].bytes.size() != 0 && (text.form == "asm" || text.form == "incbin") && typed != std::end(kTypedImages);
    text.expressions[blobs[i].name] =
        is_typed ? fmt::format("&{}{}[{} / {}]", options.pointer, typed->suffix, blobs[i].name, typed->element_bytes)
                 : fmt::format("onnxc::at<{}>({}, {})", blobs[i].elem_cpp_type, pointer, blobs[i].name);
  }
  text.declarations += in_short_lines(offsets);
  text.end = fmt::format("onnxc::at<float>({}, {})", pointer, bytes);
  return text;
}

}  // namespace onnxc
