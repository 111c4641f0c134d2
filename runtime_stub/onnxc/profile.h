/* What a unit made with --profile tells beside its onnxc_model: how long each of its steps takes. For any language.
 *
 * `mnist.cpp` then defines `const onnxc_profile* mnist_profile(void)`. Times are in ticks of the unit's clock: the
 * time-stamp counter of x86, the virtual counter of AArch64, or what ONNXC_CLOCK() gave when the unit was compiled.
 * `clock` reads it, so that a caller can find how long a tick is. Everything behind the pointer is constant but for the
 * counters, which are the only thing in a unit that a run changes. They are for one run at a time: concurrent runs are
 * safe where the machine loads and stores 64 bits at once, but some of what they count is lost. Later versions only
 * append members.
 */
#ifndef ONNXC_PROFILE_H
#define ONNXC_PROFILE_H
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A step that is measured: one call of a kernel. */
typedef struct onnxc_profiled_step {
  int32_t number;      /* as in the comments of the unit */
  int32_t shared;      /* not 0: the caller's threads have a share each */
  const char* variant; /* the sizes that it is compiled for, as --specialize makes them; empty for the general code */
  const char* kernel;
  const char* what;
} onnxc_profiled_step;

typedef struct onnxc_step_ticks {
  uint64_t calls;
  uint64_t total, least; /* of all calls since the last reset; the quickest one */
  uint64_t begin, end;   /* of the latest call */
} onnxc_step_ticks;

/* Of a part, which is a thread's share of a step. */
typedef struct onnxc_part_ticks {
  uint64_t total;
  uint64_t begin, end; /* of the latest call; both 0 where the share has never run */
} onnxc_part_ticks;

typedef struct onnxc_profile {
  size_t struct_bytes;
  int32_t step_count;
  int32_t part_count; /* of a shared step: those of more threads than the unit was made for are not measured */
  const onnxc_profiled_step* steps;
  void (*read)(int32_t step, onnxc_step_ticks* ticks);                    /* step: in [0, step_count) */
  void (*read_part)(int32_t step, int32_t part, onnxc_part_ticks* ticks); /* of a step that is not shared: zeros */
  void (*reset)(void);                                                    /* not while the model runs */
  uint64_t (*clock)(void);
} onnxc_profile;

#ifdef __cplusplus
}
#endif
#endif
