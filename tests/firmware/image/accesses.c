// A plugin of QEMU that counts the bytes that loads and stores touch between every other two calls of a function of an image: `mark` is its address. At the
// second of each two the file `out` is written anew, with a line for each word that was touched: its address and the bytes.
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugin.h"

// The memories of the board, and bytes touched by word.
enum { kMemories = 3 };
static const uint64_t bases[kMemories] = {0, 0x20000000, 0x21000000}, sizes[kMemories] = {4 << 20, 4 << 20, 16 << 20};
static uint64_t* touched[kMemories];
static bool counting;
static uint64_t mark;
static const char* out;

static void marked(unsigned int processor, void* data) {
  (void)processor, (void)data;
  counting = !counting;
  if (counting) {
    for (int m = 0; m < kMemories; ++m) memset(touched[m], 0, sizes[m] / 4 * sizeof(uint64_t));
    return;
  }
  FILE* file = fopen(out, "w");
  if (file == NULL) abort();
  for (int m = 0; m < kMemories; ++m) {
    for (uint64_t word = 0; word < sizes[m] / 4; ++word) {
      if (touched[m][word] != 0) fprintf(file, "%" PRIu64 " %" PRIu64 "\n", bases[m] + 4 * word, touched[m][word]);
    }
  }
  fclose(file);
}
static void accessed(unsigned int processor, qemu_plugin_meminfo_t how, uint64_t address, void* data) {
  (void)processor, (void)data;
  for (int m = 0; m < kMemories && counting; ++m) {
    if (address >= bases[m] && address < bases[m] + sizes[m]) touched[m][(address - bases[m]) / 4] += UINT64_C(1) << qemu_plugin_mem_size_shift(how);
  }
}

// A call ends a block, so a function that is called begins one.
static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb* block) {
  (void)id;
  const uint64_t address = qemu_plugin_tb_vaddr(block);
  if (address == mark) qemu_plugin_register_vcpu_tb_exec_cb(block, marked, kNoRegisters, NULL);
  for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); ++i)
    qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(block, i), accessed, kNoRegisters, kLoadsAndStores, NULL);
}

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info_t* info, int count, char** arguments) {
  (void)info;
  for (int i = 0; i < count; ++i) {
    const char* value = NULL;
    if ((value = value_of(arguments[i], "mark")) != NULL) mark = strtoull(value, NULL, 0);
    else if ((value = value_of(arguments[i], "out")) != NULL) out = strdup(value);
    else return 1;
  }
  if (mark == 0 || out == NULL) return 1;
  for (int m = 0; m < kMemories; ++m) {
    touched[m] = malloc(sizes[m] / 4 * sizeof(uint64_t));
    if (touched[m] == NULL) return 1;
  }
  qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
  return 0;
}
