// Runs a model once and says what came out: the status, the bytes of each output, how deep the stack went. The host judges.
#include "machine.h"
#include "mark.h"
#include "program.h"

namespace {

constexpr std::byte kPaint{0xA5};
/// The part of the stack above what is painted that a call of this file itself may use.
constexpr std::size_t kOwn = 128;

inline std::byte* stack_pointer() {
  std::byte* sp;
#if defined(__arm__) || defined(__aarch64__)
  asm volatile("mov %0, sp" : "=r"(sp));
#elif defined(__riscv)
  asm volatile("mv %0, sp" : "=r"(sp));
#elif defined(__s390x__)
  asm volatile("lgr %0, %%r15" : "=r"(sp));
#elif defined(__x86_64__)
  asm volatile("mov %%rsp, %0" : "=r"(sp));
#elif defined(__wasm__)
  asm volatile(".globaltype __stack_pointer, i32\n global.get __stack_pointer\n local.set %0" : "=r"(sp));
#endif
  return sp;
}

void put_line(const char* name, std::uint64_t value) {
  put(name);
  put(" ");
  put_number(value);
  put("\n");
}

/// The bytes in hexadecimal, in lines of a moderate length.
void put_bytes(const Bytes& bytes) {
  constexpr std::size_t kInLine = 64;
  char line[2 * kInLine + 2];
  for (std::size_t i = 0; i < bytes.size;) {
    char* at = line;
    for (std::size_t j = 0; j < kInLine && i < bytes.size; ++j, ++i) {
      const auto byte = static_cast<unsigned>(bytes.data[i]);
      *at++ = "0123456789abcdef"[byte >> 4];
      *at++ = "0123456789abcdef"[byte & 15];
    }
    *at++ = '\n';
    *at = 0;
    put(line);
  }
}

/// 3 instructions each time: what the counter has to find.
void loop_of_known_length(std::uint32_t times) {
#if defined(__arm__)
  asm volatile(".syntax unified\n1: nop\n subs %0, %0, #1\n bne 1b" : "+l"(times) : : "cc");
#elif defined(__aarch64__)
  asm volatile("1: nop\n subs %w0, %w0, #1\n b.ne 1b" : "+r"(times) : : "cc");
#elif defined(__riscv)
  asm volatile("1: nop\n addi %0, %0, -1\n bnez %0, 1b" : "+r"(times));
#elif defined(__s390x__)
  asm volatile("1: nopr\n nopr\n brct %0, 1b" : "+d"(times) : : "cc");
#else
  (void)times;
#endif
}

}  // namespace

extern "C" {
int measure() {
  constexpr std::uint32_t kTimes[] = {1000, 100'000};
  for (const std::uint32_t times : kTimes) {
    mark();
    loop_of_known_length(times);
    mark();
  }
  // Nothing of the memory that a unit gets may be what a run needs: not a number as a float of any width, and not zero.
  for (std::size_t i = 0; i < arena.size; ++i) arena.data[i] = std::byte{0xFF};
  for (std::size_t k = 0; k < output_count; ++k)
    for (std::size_t i = 0; i < outputs[k].size; ++i) outputs[k].data[i] = std::byte{0xFF};

  std::byte* const top = stack_pointer();
  for (volatile std::byte* at = stack_limit(); at < top - kOwn; ++at) *at = kPaint;
  mark();
  const std::int32_t status = run_model();
  mark();
  const volatile std::byte* deepest = stack_limit();
  const bool whole = *deepest != kPaint;
  while (deepest < top - kOwn && *deepest == kPaint) ++deepest;
  put_line(whole ? "stack-overflow" : "stack", static_cast<std::uint64_t>(top - deepest));
  put_line("status", static_cast<std::uint32_t>(status));
  for (std::size_t k = 0; k < output_count; ++k) {
    put_line("output", k);
    put_bytes(outputs[k]);
  }
  put("end\n");
  return status == 0 ? 0 : 1;
}
}
