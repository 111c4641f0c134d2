// Hexadecimal text is made with a table of byte pairs, and one block at a time while the file is written: to get
// pages of memory for the text of large weights would take longer than making it.
#include "codegen/weight_image.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace onnxc {
namespace {

constexpr std::size_t kOctaBytes = 16;  // an image is written in whole ones

std::size_t round_up(std::size_t value, std::size_t alignment) { return (value + alignment - 1) / alignment * alignment; }

char* write_text(char* to, std::string_view text) { return std::copy(text.begin(), text.end(), to); }

constexpr std::array<std::array<char, 2>, 256> kHexPairs = [] {
  std::array<std::array<char, 2>, 256> table{};
  for (std::size_t i = 0; i < 256; ++i) table[i] = {"0123456789abcdef"[i >> 4], "0123456789abcdef"[i & 15]};
  return table;
}();

/// Calls add(bytes) for each blob and for the zeros between them, in the order of the image.
template <class Add>
void for_each_piece(std::span<const WeightBlob> blobs, const WeightLayout& layout, Add add) {
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
    const std::shared_ptr<const Bytes> bytes = blobs[i].bytes.get();
    constexpr std::size_t kPiece = std::size_t{64} << 20;
    for (std::size_t first = 0; first < bytes->size(); first += kPiece) {
      add(std::span<const std::byte>(*bytes).subspan(first, std::min(kPiece, bytes->size() - first)));
      bytes->give_back();
    }
    at += bytes->size();
  }
  pad_to(layout.bytes);
}

}  // namespace

WeightLayout lay_out(std::span<const WeightBlob> blobs, std::size_t least) {
  WeightLayout layout;
  layout.alignment = least;
  for (const WeightBlob& blob : blobs) {
    const std::size_t alignment = std::max(least, static_cast<std::size_t>(blob.alignment));
    layout.alignment = std::max(layout.alignment, alignment);
    layout.offsets.push_back(round_up(layout.bytes, alignment));
    layout.bytes = layout.offsets.back() + blob.bytes.size();
  }
  layout.bytes = round_up(layout.bytes, std::max(least, kOctaBytes));
  return layout;
}

Text::Writer image_writer(std::span<const WeightBlob> blobs, const WeightLayout& layout) {
  return [all = std::vector(blobs.begin(), blobs.end()), layout](const Text::Sink& sink) {
    for_each_piece(all, layout,
                   [&](std::span<const std::byte> piece) { sink({reinterpret_cast<const char*>(piece.data()), piece.size()}); });
  };
}

// The number of characters matters most, since g++ keeps each of them three times, so `.octa` is better than `.quad`.
// Long lines are better than short ones: literals lie in blocks of 8 KB, and a literal that does not fit wastes the end
// of its block.
void write_octas(const Text::Sink& sink, std::span<const WeightBlob> blobs, const WeightLayout& layout, std::string_view next_asm) {
  constexpr std::size_t kBytes = kOctaBytes, kOctasInLine = 2048, kLinesInAsm = 12;
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

// 48 bytes in each line. Octal escapes have a limited length, hexadecimal ones do not.
void write_string(const Text::Sink& sink, std::span<const WeightBlob> blobs, const WeightLayout& layout) {
  constexpr std::size_t kBytesInLine = 48;
  std::array<unsigned char, kBytesInLine> line{};
  std::array<char, kBytesInLine * 4 + 16> text{};
  std::size_t held = 0;
  const auto write_line = [&] {
    char* to = write_text(text.data(), "    \"");
    for (std::size_t i = 0; i < held; ++i) {
      const unsigned char c = line[i];
      if (c >= 0x20 && c < 0x7f) {
        if (c == '"' || c == '\\' || c == '?') *to++ = '\\';  // ? because of trigraphs
        *to++ = static_cast<char>(c);
        continue;
      }
      const bool digit_follows = i + 1 < held && line[i + 1] >= '0' && line[i + 1] <= '7';
      *to++ = '\\';
      if (digit_follows || c >= 0100) *to++ = static_cast<char>('0' + (c >> 6));
      if (digit_follows || c >= 010) *to++ = static_cast<char>('0' + ((c >> 3) & 7));
      *to++ = static_cast<char>('0' + (c & 7));
    }
    to = write_text(to, "\"\n");
    sink({text.data(), static_cast<std::size_t>(to - text.data())});
    held = 0;
  };
  for_each_piece(blobs, layout, [&](std::span<const std::byte> piece) {
    for (const std::byte b : piece) {
      line[held++] = std::to_integer<unsigned char>(b);
      if (held == kBytesInLine) write_line();
    }
  });
  if (held != 0) write_line();
}

}  // namespace onnxc
