// Stacks of their own for the threads of a block. One is left and another entered by a dozen instructions on x86-64, by
// twenty on AArch64, and by ucontext elsewhere, which takes a system call for each. What a function must keep for its
// caller lies on the stack that is left; all else is gone by the rules of calls:
//
//   x86-64:   stack pointer → r15 r14 r13 r12 rbx rbp, where to return
//   AArch64:  stack pointer → x19 … x28, x29, where to return (x30), d8 … d15
//
// A new stack holds as much, with its first function as the place to return to.
//
// ONNXC_UCONTEXT  ucontext, whatever the machine
#pragma once
#if !defined(__CUDACC__)
#include <cstddef>
#include <cstring>

#include "settings.hpp"

#if defined(__x86_64__) && !defined(ONNXC_UCONTEXT)
#define ONNXC_SWITCH_X86
#elif defined(__aarch64__) && defined(__linux__) && !defined(ONNXC_UCONTEXT)
#define ONNXC_SWITCH_AARCH64
#else
#include <ucontext.h>
#endif

#if defined(__SANITIZE_ADDRESS__)
#define ONNXC_ASAN
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ONNXC_ASAN
#endif
#endif
#if defined(ONNXC_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#if defined(ONNXC_SWITCH_AARCH64)
// g++ has no naked functions there. Every unit brings the function, and the linker keeps one.
asm(R"(
  .pushsection .text.onnxc_gpu_switch_context,"axG",@progbits,onnxc_gpu_switch_context,comdat
  .weak onnxc_gpu_switch_context
  .hidden onnxc_gpu_switch_context
  .type onnxc_gpu_switch_context, %function
  .p2align 2
onnxc_gpu_switch_context:
  stp x19, x20, [sp, #-160]!
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  ldr x9, [x1]
  mov sp, x9
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  ldp x19, x20, [sp], #160
  ret
  .size onnxc_gpu_switch_context, .-onnxc_gpu_switch_context
  .popsection
)");
extern "C" void onnxc_gpu_switch_context(void** from, void* const* to);
#endif

namespace onnxc::inline ONNXC_ISA::gpu::emulator {

#if defined(ONNXC_ASAN)
inline constexpr std::size_t kStackBytes = 512 << 10;  // its frames are larger
#else
inline constexpr std::size_t kStackBytes = 128 << 10;
#endif

/// Where a stack was left.
struct Context {
#if defined(ONNXC_SWITCH_X86) || defined(ONNXC_SWITCH_AARCH64)
  void* stack_pointer = nullptr;
#else
  ucontext_t context;
#endif
#if defined(ONNXC_ASAN)  // which must know whose stack is in use
  const void* stack = nullptr;
  std::size_t stack_bytes = 0;
  void* fake_stack = nullptr;
#endif
};

#if defined(ONNXC_SWITCH_X86)
__attribute__((naked, noinline)) inline void switch_context(Context* /*from: rdi*/, Context* /*to: rsi*/) {
  asm("push %rbp\n push %rbx\n push %r12\n push %r13\n push %r14\n push %r15\n"
      "mov %rsp, (%rdi)\n mov (%rsi), %rsp\n"
      "pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbx\n pop %rbp\n ret");
}
inline void set_first(Context& c, std::byte* stack_end, void (*first)()) {
  auto* top = reinterpret_cast<void**>(stack_end) - 1;  // a function begins as after a call: 8 off a multiple of 16
  *top = nullptr;
  *--top = reinterpret_cast<void*>(first);
  c.stack_pointer = top - 6;
}
#elif defined(ONNXC_SWITCH_AARCH64)
inline void switch_context(Context* from, Context* to) { onnxc_gpu_switch_context(&from->stack_pointer, &to->stack_pointer); }
inline void set_first(Context& c, std::byte* stack_end, void (*first)()) {
  auto* const top = reinterpret_cast<void**>(stack_end) - 20;
  top[10] = nullptr;  // x29
  top[11] = reinterpret_cast<void*>(first);
  c.stack_pointer = top;
}
#else
inline void switch_context(Context* from, Context* to) { swapcontext(&from->context, &to->context); }
inline void set_first(Context& c, std::byte* stack_end, void (*first)()) {
  constexpr std::size_t bytes = kStackBytes / 2;
  getcontext(&c.context);
  c.context.uc_stack.ss_sp = stack_end - bytes;
  c.context.uc_stack.ss_size = bytes;
  c.context.uc_link = nullptr;
  makecontext(&c.context, first, 0);
}
#endif

/// A stack whose first function has not run yet. `stack_end` is a multiple of 64 in [stack, stack + kStackBytes].
inline void make_context(Context& c, [[maybe_unused]] std::byte* stack, std::byte* stack_end, void (*first)()) {
#if defined(ONNXC_ASAN)
  __asan_unpoison_memory_region(stack, kStackBytes);  // what ran here before never returned
  c.stack = stack;
  c.stack_bytes = kStackBytes;
  c.fake_stack = nullptr;
#endif
  set_first(c, stack_end, first);
}

/// Leaves `from`, to be gone on with later, or for good, and goes on with `to`.
inline void go_on(Context& from, Context& to, [[maybe_unused]] bool for_good = false) {
#if defined(ONNXC_ASAN)
  __sanitizer_start_switch_fiber(for_good ? nullptr : &from.fake_stack, to.stack, to.stack_bytes);
#endif
  switch_context(&from, &to);
#if defined(ONNXC_ASAN)
  __sanitizer_finish_switch_fiber(from.fake_stack, nullptr, nullptr);
#endif
}

/// What a first function does first. `outside` is where the first of all stacks was entered from.
inline void entered([[maybe_unused]] Context& outside) {
#if defined(ONNXC_ASAN)
  const void* stack = nullptr;
  std::size_t bytes = 0;
  __sanitizer_finish_switch_fiber(nullptr, &stack, &bytes);
  if (outside.stack == nullptr) {
    outside.stack = stack;
    outside.stack_bytes = bytes;
  }
#endif
}

}  // namespace onnxc::gpu::emulator
#endif
