// What an image needs of the machine under it.
#pragma once
#include <cstddef>
#include <cstdint>

extern "C" {
/// Writes a text that ends with 0.
void put(const char* text);
/// The lowest byte of the stack that may be painted: what lies between it and the stack pointer is nobody's.
std::byte* stack_limit();
/// Runs the image; the machine's part calls it. Returns 0 if all went well.
int measure();
}

inline void put_number(std::uint64_t value) {
  char digits[21];
  char* at = digits + 20;
  *at = 0;
  do *--at = static_cast<char>('0' + static_cast<int>(value % 10)), value /= 10;
  while (value != 0);
  put(at);
}
