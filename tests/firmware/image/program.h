// What the generated part of an image offers to main.cpp.
#pragma once
#include <cstddef>
#include <cstdint>

extern "C" {
/// One run on the data of the image, with the status that the unit gives.
std::int32_t run_model();
struct Bytes {
  std::byte* data;
  std::size_t size;
};
extern const Bytes arena;
extern const Bytes outputs[];
extern const std::size_t output_count;
}
