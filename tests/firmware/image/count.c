// A plugin of QEMU that counts the instructions between two functions of an image: `begin` and `end` are their addresses, and each time the
// second is reached the count goes to the file `out` as a line. Whatever the emulated machine has for clocks plays no part.
//
// Distributions do not package <qemu-plugin.h>; what follows is the part of its version 1 that is used here.
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_info_t;
typedef void (*executed_t)(unsigned int processor, void* data);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, void (*translated)(qemu_plugin_id_t id, struct qemu_plugin_tb* block));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb* block, executed_t executed, int registers_used, void* data);
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb* block, int operation, void* counter, uint64_t step);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb* block);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb* block);
enum { kNoRegisters = 0, kAddTo64Bits = 0 };

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

static uint64_t instructions, at_begin, begin, end;
static const char* out;

static void begins(unsigned int processor, void* data) {
  (void)processor, (void)data;
  at_begin = instructions;
}
static void ends(unsigned int processor, void* data) {
  (void)processor, (void)data;
  FILE* file = fopen(out, "a");
  if (file == NULL) abort();
  fprintf(file, "%" PRIu64 "\n", instructions - at_begin);
  fclose(file);
}

// A call ends a block, so a function that is called begins one.
static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb* block) {
  (void)id;
  const uint64_t address = qemu_plugin_tb_vaddr(block);
  if (address == begin) qemu_plugin_register_vcpu_tb_exec_cb(block, begins, kNoRegisters, NULL);
  if (address == end) qemu_plugin_register_vcpu_tb_exec_cb(block, ends, kNoRegisters, NULL);
  qemu_plugin_register_vcpu_tb_exec_inline(block, kAddTo64Bits, &instructions, qemu_plugin_tb_n_insns(block));
}

__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info_t* info, int count, char** arguments) {
  (void)info;
  for (int i = 0; i < count; ++i) {
    const char* value = strchr(arguments[i], '=');
    if (value == NULL) return 1;
    ++value;
    if (strncmp(arguments[i], "begin=", 6) == 0) begin = strtoull(value, NULL, 0);
    else if (strncmp(arguments[i], "end=", 4) == 0) end = strtoull(value, NULL, 0);
    else if (strncmp(arguments[i], "out=", 4) == 0) out = strdup(value);
    else return 1;
  }
  if (begin == 0 || end == 0 || out == NULL) return 1;
  qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
  return 0;
}
