// A program of Linux under an emulator of its processor.
#include <cstdio>

#include "machine.h"

extern "C" {
void put(const char* text) { std::fputs(text, stdout); }
std::byte* stack_limit() {
  // The system gives more as it is touched; a model of this size needs less, even where nothing is optimised.
  constexpr std::size_t kRoom = 1 << 20;
  return static_cast<std::byte*>(__builtin_frame_address(0)) - kRoom;
}
}

int main() { return measure(); }
