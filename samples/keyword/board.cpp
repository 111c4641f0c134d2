// A board with a Cortex-M4 and no operating system, as QEMU emulates it (mps2-an386): start-up, and semihosting, by which a debugger or an
// emulator lends its files and its screen. board.ld says where things lie.
#include <algorithm>
#include <cstring>

#include "platform.h"

extern "C" {
extern std::byte data_begin[], data_end[], bss_begin[], bss_end[], stack_begin[], stack_end[];  // of board.ld
extern const std::byte data_in_flash[];
[[noreturn]] void reset();
}

namespace {

enum : std::uintptr_t {
  kOpen = 1,
  kClose = 2,
  kWriteText = 4,
  kRead = 6,
  kGetCommandLine = 0x15,
  kExitExtended = 0x20,
  kApplicationExit = 0x20026
};

/// One request to the debugger or emulator.
std::uintptr_t semihosting(std::uintptr_t operation, const void* argument) {
  register std::uintptr_t r0 asm("r0") = operation;
  register const void* r1 asm("r1") = argument;
  asm volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
}
std::uintptr_t address(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }
volatile std::uint32_t& at(std::uintptr_t where) { return *reinterpret_cast<volatile std::uint32_t*>(where); }

[[noreturn]] void finish(int status) {
  const std::uintptr_t block[] = {kApplicationExit, static_cast<std::uintptr_t>(status)};
  for (;;) semihosting(kExitExtended, block);
}

[[noreturn]] void fault() {
  platform::put("fault\n");
  finish(3);
}

/// The words of the command line but the first, which is the program's name.
std::span<const char* const> arguments() {
  static char line[1024];
  static const char* words[16];
  const std::uintptr_t block[] = {address(line), sizeof line};
  if (semihosting(kGetCommandLine, block) != 0) return {};
  std::size_t count = 0;
  for (char* next = line; next != nullptr && count < std::size(words);) {
    words[count++] = next;
    next = std::strchr(next, ' ');
    if (next != nullptr) *next++ = 0;
  }
  return std::span(words).subspan(1, std::max<std::size_t>(count, 1) - 1);
}

constexpr std::byte kPaint{0xA5};
/// What the core counts down with its clock, and what it begins from.
constexpr std::uintptr_t kSysTickControl = 0xE000'E010, kSysTickLoad = 0xE000'E014, kSysTickValue = 0xE000'E018;
constexpr std::uint32_t kLongest = 0xFF'FFFF;

}  // namespace

extern "C" {

[[noreturn]] void reset() {
  at(0xE000'ED88) |= 0xFU << 20;  // CPACR: the floating-point unit is on
  asm volatile("dsb\n isb");
  std::copy(data_in_flash, data_in_flash + (data_end - data_begin), data_begin);
  std::fill(bss_begin, bss_end, std::byte{});
  std::byte* const here = static_cast<std::byte*>(__builtin_frame_address(0)) - 64;
  for (volatile std::byte* byte = stack_begin; byte < here; ++byte) *byte = kPaint;
  finish(listen_to(arguments()));
}

/// Where the stack begins, then reset and the faults. Interrupts would follow.
[[gnu::section(".vectors"), gnu::used]] const void* const vectors[16] = {
    stack_end,
    reinterpret_cast<const void*>(reset),
    reinterpret_cast<const void*>(fault),  // NMI, HardFault, MemManage, BusFault, UsageFault
    reinterpret_cast<const void*>(fault),
    reinterpret_cast<const void*>(fault),
    reinterpret_cast<const void*>(fault),
    reinterpret_cast<const void*>(fault),
};
}

namespace platform {

void put(const char* text) { semihosting(kWriteText, text); }

int open(const char* path) {
  constexpr std::uintptr_t kReadBinary = 1;
  const std::uintptr_t block[] = {address(path), kReadBinary, std::strlen(path)};
  return static_cast<int>(semihosting(kOpen, block));
}
bool read(int file, std::span<std::byte> bytes) {
  const std::uintptr_t block[] = {static_cast<std::uintptr_t>(file), address(bytes.data()), bytes.size()};
  return semihosting(kRead, block) == 0;  // the bytes that are missing
}
void close(int file) {
  const std::uintptr_t block[] = {static_cast<std::uintptr_t>(file)};
  semihosting(kClose, block);
}

void count_from_here() {
  at(kSysTickLoad) = kLongest;
  at(kSysTickValue) = 0;        // whatever is written, it begins from the longest
  at(kSysTickControl) = 0b101;  // on, with the core's clock
}
// With -icount shift=5 an instruction takes 2^5 ns in QEMU, and the board's clock of 25 MHz ticks every 40 ns. On a real core, DWT's CYCCNT
// counts cycles.
std::uint32_t counted() { return (kLongest - at(kSysTickValue)) / 4 * 5; }

std::size_t stack_used() {
  return static_cast<std::size_t>(stack_end - std::find_if(stack_begin, stack_end, [](std::byte b) { return b != kPaint; }));
}

}  // namespace platform
