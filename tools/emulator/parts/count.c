// A plugin of QEMU that counts instructions, and cycles of a core of which a table is here. Each time the processor reaches the address
// `mark`, both counts so far go to the file `out` as a line; cycles are 0 without a table. Whatever the emulated machine has for clocks plays no part.
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugin.h"

// ---- cycles ----

/// What a core takes, in cycles, from memory without wait states.
struct Core {
  const char* name;
  int load, load_after_access;  ///< a single one; after another load or store, with which it overlaps
  int store;
  int first_of_many;  ///< of a load or a store of several registers, beside one cycle for each
  int multiply, multiply_add, long_multiply, divide;
  int float_multiply_add, float_divide;
  int vector;  ///< of 128 bits; one of memory and one of arithmetic in a row overlap by half
  int taken;   ///< to fill the pipeline after a branch
};

// Cortex-M0, M3, M4: "instruction set summary" in the technical reference manual of each (Arm DDI 0432, 100165, 100166); a division takes 2 to 12 cycles and the
// pipeline 1 to 3. Of the Cortex-M33 nothing is published: those of the M4. Cortex-M55: its software optimization guide; two beats of a vector each cycle.
static const struct Core cores[] = {
    {"cortex-m0", 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 2},     {"cortex-m3", 2, 1, 1, 1, 1, 2, 4, 7, 1, 1, 1, 2},
    {"cortex-m4", 2, 1, 1, 1, 1, 1, 1, 7, 3, 14, 1, 2},    {"cortex-m33", 2, 1, 1, 1, 1, 1, 1, 7, 3, 14, 1, 2},
    {"cortex-m55", 1, 1, 1, 1, 1, 1, 1, 7, 1, 14, 2, 2},
};
static const struct Core* core;

/// What the cost of an instruction depends on beside itself: its neighbour before.
enum Kind { kOther, kAccess, kVectorAccess, kVectorArithmetic };

/// An instruction of Thumb, of one halfword or two.
struct Thumb {
  unsigned first, second;
  bool is_long;
};

static int bits(unsigned word) { return __builtin_popcount(word); }

static int single(bool loads, enum Kind before, enum Kind* kind) {
  *kind = kAccess;
  return !loads ? core->store : before == kAccess ? core->load_after_access : core->load;
}
static int several(int registers) { return core->first_of_many + registers; }

static int cycles_of_short(unsigned code, enum Kind before, enum Kind* kind) {
  if ((code & 0xFFC0) == 0x4340) return core->multiply;
  if (code >= 0x4800 && code < 0x5000) return single(true, before, kind);                     // from the literals
  if (code >= 0x5000 && code < 0x6000) return single((code & 0x0E00) > 0x0400, before, kind);  // by a register
  if (code >= 0x6000 && code < 0xA000) return single((code & 0x0800) != 0, before, kind);
  if ((code & 0xF600) == 0xB400) return several(bits(code & 0x01FF));  // PUSH, POP
  if (code >= 0xC000 && code < 0xD000) return several(bits(code & 0x00FF));
  return 1;
}

static int vector_cycles(enum Kind its, enum Kind before, enum Kind* kind) {
  *kind = its;
  const bool overlaps = before == (its == kVectorAccess ? kVectorArithmetic : kVectorAccess);
  return overlaps ? core->vector / 2 : core->vector;
}

/// Floats and vectors: the space of coprocessors.
static int cycles_of_coprocessor(struct Thumb code, enum Kind before, enum Kind* kind) {
  const unsigned number = code.second >> 8 & 15, group = code.first >> 8 & 3;
  const bool is_float = number >= 9 && number <= 11, doubles = number == 11;
  if (group < 2) {
    if ((code.second & 0x1E00) == 0x1E00) return vector_cycles(kVectorAccess, before, kind);
    if ((code.first & 0xFFE0) == 0xEC40) return 1;  // between two registers and a double
    if (!is_float) return 1;
    if ((code.first & 0x0120) == 0x0100) return (code.first & 0x10 ? core->load : core->store) + doubles;
    return several((int)(code.second & 0xFF));
  }
  if (group == 3 || !is_float) return vector_cycles(kVectorArithmetic, before, kind);
  if ((code.first & 0x1000) != 0 || (code.second & 0x10) != 0) return 1;  // selections; moves
  switch ((code.first >> 5 & 4) | (code.first >> 4 & 3)) {
    case 2:
    case 3: return 1;
    case 4: return core->float_divide;
    case 7: return (code.first & 15) == 1 && (code.second & 0xC0) == 0xC0 ? core->float_divide : 1;  // a square root
    default: return core->float_multiply_add;
  }
}

static int cycles_of_long(struct Thumb code, enum Kind before, enum Kind* kind) {
  const unsigned first = code.first;
  const bool loads = (first & 0x10) != 0;
  if ((first & 0xEC00) == 0xEC00) return cycles_of_coprocessor(code, before, kind);
  if ((first & 0xFE40) == 0xE800) return several(bits(code.second));
  if ((first & 0xFFF0) == 0xE8D0 && (code.second & 0xFFE0) == 0xF000) return core->load + core->taken;  // by a table
  if ((first & 0xFE40) == 0xE840) return several(2);
  if ((first & 0xFE00) == 0xF800) return single(loads, before, kind);
  if ((first & 0xFF80) == 0xFB80) return (first & 0x50) == 0x10 ? core->divide : core->long_multiply;
  if ((first & 0xFF80) == 0xFB00) return code.second >> 12 == 15 ? core->multiply : core->multiply_add;
  return 1;
}

/// LE and LETP, which end a loop that the processor has stored: going back takes nothing.
static bool ends_loop(struct Thumb code) { return (code.first & 0xFFCF) == 0xF00F && (code.second & 0xF001) == 0xC001; }

// ---- counting ----

struct Block {
  uint64_t cycles, address, behind;  ///< the address of the instruction behind it
  int taken;                         ///< more, if another follows than that
};

static uint64_t instructions, cycles, mark;
static const struct Block* last;
static FILE* out;

static void executed(unsigned int processor, void* data) {
  (void)processor;
  const struct Block* const block = data;
  if (last != NULL && block->address != last->behind) cycles += (uint64_t)last->taken;
  cycles += block->cycles;
  last = block;
}

static void marked(unsigned int processor, void* data) {
  (void)processor, (void)data;
  fprintf(out, "%" PRIu64 " %" PRIu64 "\n", instructions, cycles);
  fflush(out);
}

static struct Block* weighed(const struct qemu_plugin_tb* block) {
  struct Block* const weighed = malloc(sizeof *weighed);
  if (weighed == NULL) abort();
  *weighed = (struct Block){0, qemu_plugin_tb_vaddr(block), qemu_plugin_tb_vaddr(block), core->taken};
  enum Kind before = kOther;
  for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); ++i) {
    const struct qemu_plugin_insn* const instruction = qemu_plugin_tb_get_insn(block, i);
    const unsigned char* const at = qemu_plugin_insn_data(instruction);
    const size_t size = qemu_plugin_insn_size(instruction);
    struct Thumb code = {(unsigned)at[0] | (unsigned)at[1] << 8, 0, size == 4};
    if (code.is_long) code.second = (unsigned)at[2] | (unsigned)at[3] << 8;
    enum Kind kind = kOther;
    weighed->cycles += (uint64_t)(code.is_long ? cycles_of_long(code, before, &kind) : cycles_of_short(code.first, before, &kind));
    if (ends_loop(code)) weighed->taken = 0;
    weighed->behind += size;
    before = kind;
  }
  return weighed;
}

// A call ends a block, so a function that is called begins one.
static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb* block) {
  (void)id;
  if (qemu_plugin_tb_vaddr(block) == mark) qemu_plugin_register_vcpu_tb_exec_cb(block, marked, kNoRegisters, NULL);
  if (core != NULL) qemu_plugin_register_vcpu_tb_exec_cb(block, executed, kNoRegisters, weighed(block));
  qemu_plugin_register_vcpu_tb_exec_inline(block, kAddTo64Bits, &instructions, qemu_plugin_tb_n_insns(block));
}

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info_t* info, int count, char** arguments) {
  (void)info;
  for (int i = 0; i < count; ++i) {
    const char* value = NULL;
    if ((value = value_of(arguments[i], "mark")) != NULL) mark = strtoull(value, NULL, 0);
    else if ((value = value_of(arguments[i], "out")) != NULL) out = fopen(value, "w");
    else if ((value = value_of(arguments[i], "core")) != NULL) {
      for (size_t k = 0; k < sizeof cores / sizeof *cores; ++k) core = strcmp(cores[k].name, value) == 0 ? &cores[k] : core;
    } else return 1;
  }
  if (mark == 0 || out == NULL) return 1;
  qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
  return 0;
}
