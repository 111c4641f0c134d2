// A program that uses newlib, such as a test of kernels, on a board: its main takes the place of a model, and its output goes to the emulator.
#include <cstdio>

#include "machine.h"

int main();

extern "C" {
extern std::byte end[];  // of boards.ld

int measure() { return main(); }

int _write(int, const char* text, int count) {
  char line[65];
  for (int i = 0; i < count;) {
    int n = 0;
    while (n < 64 && i < count) line[n++] = text[i++];
    line[n] = 0;
    put(line);
  }
  return count;
}
void* _sbrk(std::ptrdiff_t bytes) {
  static std::byte* next = end;
  std::byte* const at = next;
  next += (bytes + 15) / 16 * 16;
  return at;
}
int _close(int) { return -1; }
int _fstat(int, void*) { return -1; }
int _isatty(int) { return 1; }
int _lseek(int, int, int) { return 0; }
int _read(int, char*, int) { return 0; }
int _kill(int, int) { return -1; }
int _getpid() { return 1; }
int getentropy(void*, std::size_t) { return -1; }
[[noreturn]] void _exit(int) {
  put("exit\n");
  for (;;) asm volatile("bkpt 0");
}
void* __dso_handle = nullptr;
int __exidx_start, __exidx_end;
}
