// A board without an operating system: start-up, and semihosting for output and the end. Memory is set up by the emulator, which loads
// the image's sections where they belong.
#include "machine.h"

extern "C" {
extern std::byte stack_bottom[], stack_top[];  // of boards.ld
[[noreturn]] void start();
}

namespace {

enum : std::uintptr_t { kWriteText = 4, kExitExtended = 0x20, kApplicationExit = 0x20026 };

/// One request to the emulator.
std::uintptr_t semihosting(std::uintptr_t operation, const void* argument) {
#if defined(__arm__)
  register std::uintptr_t r0 asm("r0") = operation;
  register const void* r1 asm("r1") = argument;
  asm volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
#elif defined(__riscv)
  register std::uintptr_t a0 asm("a0") = operation;
  register const void* a1 asm("a1") = argument;
  // The two shifts, which do nothing, tell the request from a breakpoint. All three lie in one page and are of 32 bits.
  asm volatile(
      ".option push\n.option norvc\n.balign 16\n"
      "slli x0, x0, 0x1f\n ebreak\n srai x0, x0, 7\n.option pop"
      : "+r"(a0)
      : "r"(a1)
      : "memory");
  return a0;
#endif
}

[[noreturn]] void finish(int status) {
  const std::uintptr_t block[] = {kApplicationExit, static_cast<std::uintptr_t>(status)};
  for (;;) semihosting(kExitExtended, block);
}

[[noreturn]] void fault() {
  put("fault\n");
  finish(3);
}

}  // namespace

extern "C" {

void put(const char* text) { semihosting(kWriteText, text); }
std::byte* stack_limit() { return stack_bottom; }

#if defined(__arm__)

[[noreturn]] void start() {
#if defined(__ARM_FP) || defined(__ARM_FEATURE_MVE)
  *reinterpret_cast<volatile std::uint32_t*>(0xE000'ED88) |= 0xFU << 20;  // CPACR: coprocessors 10 and 11, floats and Helium
  asm volatile("dsb\n isb");
#endif
  finish(measure());
}

[[gnu::section(".vectors"), gnu::used]] const void* const vectors[16] = {
    stack_top,
    reinterpret_cast<const void*>(start),
    reinterpret_cast<const void*>(fault),  // NMI, HardFault, MemManage, BusFault, UsageFault, SecureFault
    reinterpret_cast<const void*>(fault),
    reinterpret_cast<const void*>(fault),
    reinterpret_cast<const void*>(fault),
    reinterpret_cast<const void*>(fault),
    reinterpret_cast<const void*>(fault),
};

#elif defined(__riscv)

[[noreturn, gnu::used]] void after_reset() { finish(measure()); }
[[noreturn, gnu::used, gnu::aligned(4)]] void trap() { fault(); }

[[gnu::naked, gnu::section(".vectors"), gnu::used]] void start() {
  asm volatile(
      ".option push\n.option arch, +zicsr\n"
      ".option norelax\n la gp, __global_pointer$\n.option relax\n"
      "la sp, stack_top\n"
      "la t0, trap\n csrw mtvec, t0\n"
#if defined(__riscv_flen)
      "li t0, 0x2000\n csrs mstatus, t0\n"  // FS: floats are on
#endif
      ".option pop\n j after_reset");
}

#endif
}
