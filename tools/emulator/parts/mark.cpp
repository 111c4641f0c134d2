#include "mark.h"

// A variable that is read keeps the call from being left out.
extern "C" [[gnu::noinline]] std::uint32_t mark() {
  static volatile std::uint32_t calls;
  const std::uint32_t before = calls;
  calls = before + 1;
  return before;
}
