// What an image needs of the machine under it, and what the generated part of an image offers to main.cpp.
#pragma once
#include <cstddef>
#include <cstdint>

extern "C" {
/// Writes a text that ends with 0.
void put(const char* text);
/// The lowest byte of the stack that may be painted: what lies between it and the stack pointer is nobody's.
std::byte* stack_limit();
/// Runs the image: main.cpp. The machine's part calls it. Returns 0 unless the model's run failed.
int measure();
/// The emulator's plugin counts instructions from one to the other. They do nothing.
void counting_begins();
void counting_ends();

// ---- generated for each model ----
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
