// What the lanes of a warp do together is done by the lane that comes last, for all 32, whose operands it reaches through
// pointers to their stacks:
//
//   lane 0..30   note where their operands are, and wait
//   lane 31      finds all there, does the work for each lane, and lets them go on
#pragma once
#if !defined(__CUDACC__)
#include "scheduler.hpp"

namespace onnxc::inline ONNXC_ISA::gpu {
namespace emulator {

/// Waits for the other lanes; the last one does `act` for all of them.
inline void together(void* operand, void (*act)(void* const* operands), const Where& where) {
  Fiber* const me = self;
  Block& b = *me->home;
  Warp& w = b.warp_of(*me);
  w.operands[me->number % 32] = operand;
  if (w.arrived == 0) w.where = where;
  else if (!same(w.where, where)) fail("lanes of a warp wait at different places", where);
  me->where = where;
  const int first = me->number / 32 * 32;
  for (int i = first; w.arrived == 0 && i < first + 32; ++i) {
    if (b.fiber(i).state == State::Done) fail("a lane waits for another of its warp, which has ended", where);
  }
  if (++w.arrived < 32) {
    me->state = State::InWarp;
    return leave(me);
  }
  w.arrived = 0;
  act(w.operands);
  for (int i = first + 32; i-- > first;) {
    if (i != me->number) b.make_ready(b.fiber(i));
  }
}

template <class T>
struct Shuffle {
  T value, result;
  int from;
};
/// What the lane `from` has.
template <class T>
T exchange(T v, int from, const Where& where) {
  if (from < 0 || from >= 32) fail("a shuffle from a lane that a warp does not have", where);
  Shuffle<T> mine{v, v, from};
  together(
      &mine,
      [](void* const* all) {
        for (int i = 0; i < 32; ++i) {
          auto* const lane = static_cast<Shuffle<T>*>(all[i]);
          lane->result = static_cast<const Shuffle<T>*>(all[lane->from])->value;
        }
      },
      where);
  return mine.result;
}

}  // namespace emulator

template <class T>
T shuffle_xor(T v, int mask ONNXC_CALLER) {
  return emulator::exchange(v, (emulator::self->number % 32) ^ mask, {file, line});
}
template <class T>
T shuffle(T v, int lane ONNXC_CALLER) {
  return emulator::exchange(v, lane, {file, line});
}

inline unsigned ballot(bool yes ONNXC_CALLER) {
  struct Operand {
    bool yes;
    unsigned all;
  } mine{yes, 0};
  emulator::together(&mine,
                     [](void* const* all) {
                       unsigned bits = 0;
                       for (int i = 0; i < 32; ++i) bits |= static_cast<const Operand*>(all[i])->yes ? 1u << i : 0u;
                       for (int i = 0; i < 32; ++i) static_cast<Operand*>(all[i])->all = bits;
                     },
                     {file, line});
  return mine.all;
}

}  // namespace onnxc::gpu
#endif
