// All constants of a unit as one image of bytes, and that image as text for an assembler or as a string literal.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/text.h"
#include "codegen/weights.h"

namespace onnxc {

/// Where each constant lies in the image, in bytes.
struct WeightLayout {
  std::vector<std::size_t> offsets;
  std::size_t bytes = 0, alignment = 1;
};
/// least: the alignment of the image and of each constant, at least.
WeightLayout lay_out(std::span<const WeightBlob> blobs, std::size_t least);

/// Writes the image: constants, one after the other, and the zeros between them.
Text::Writer image_writer(std::span<const WeightBlob> blobs, const WeightLayout& layout);

/// Writes the image as `".octa 0x…,0x…\n"` lines of a top-level asm, with `next_asm` where one asm may end and the next begin.
void write_octas(const Text::Sink& sink, std::span<const WeightBlob> blobs, const WeightLayout& layout, std::string_view next_asm);

/// Writes the image as pieces of a string literal.
void write_string(const Text::Sink& sink, std::span<const WeightBlob> blobs, const WeightLayout& layout);

}  // namespace onnxc
