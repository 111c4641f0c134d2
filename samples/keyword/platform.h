// What the program needs of the machine under it: board.cpp is an emulated board, host.cpp a computer. Elsewhere, a microphone takes the
// place of files.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace platform {

/// Writes a text that ends with 0.
void put(const char* text);

/// A file to read, or a negative number.
int open(const char* path);
/// Fills `bytes` from where the last read ended; false if the file ends before.
bool read(int file, std::span<std::byte> bytes);
void close(int file);

/// Instructions since `count_from_here`, at most 20 million; 0 where nobody counts them.
void count_from_here();
std::uint32_t counted();

/// The most bytes of stack that there have been at any time; 0 where nobody knows.
std::size_t stack_used();

}  // namespace platform

/// The program: main.cpp. The arguments are WAV files. Returns 0 if all could be read.
int listen_to(std::span<const char* const> paths);
