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
    add(blobs[i].bytes);
    at += blobs[i].bytes.size();
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

std::vector<std::string_view> image_pieces(std::span<const WeightBlob> blobs, const WeightLayout& layout) {
  std::vector<std::string_view> pieces;
  for_each_piece(blobs, layout,
                 [&](std::span<const std::byte> piece) { pieces.emplace_back(reinterpret_cast<const char*>(piece.data()), piece.size()); });
  return pieces;
}

std::string make_image(std::span<const WeightBlob> blobs, const WeightLayout& layout) {
  std::string image;
  image.reserve(layout.bytes);
  for (std::string_view piece : image_pieces(blobs, layout)) image += piece;
  return image;
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
void append_string(std::string& out, std::span<const WeightBlob> blobs, const WeightLayout& layout) {
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

}  // namespace onnxc
