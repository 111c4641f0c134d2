// The part of QEMU's interface for plugins, version 1, that the plugins here use: distributions do not package <qemu-plugin.h>.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint64_t qemu_plugin_id_t;
typedef uint32_t qemu_plugin_meminfo_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_info_t;
typedef void (*executed_t)(unsigned int processor, void* data);
typedef void (*accessed_t)(unsigned int processor, qemu_plugin_meminfo_t how, uint64_t address, void* data);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, void (*translated)(qemu_plugin_id_t id, struct qemu_plugin_tb* block));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb* block, executed_t executed, int registers_used, void* data);
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb* block, int operation, void* counter, uint64_t step);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn* instruction, accessed_t accessed, int registers_used, int kinds, void* data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb* block);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb* block);
struct qemu_plugin_insn* qemu_plugin_tb_get_insn(const struct qemu_plugin_tb* block, size_t index);
const void* qemu_plugin_insn_data(const struct qemu_plugin_insn* instruction);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn* instruction);
unsigned int qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t how);
enum { kNoRegisters = 0, kAddTo64Bits = 0, kLoadsAndStores = 3 };

__attribute__((visibility("default"))) int qemu_plugin_version = 1;
__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info_t* info, int count,
                                                               char** arguments);

/// What follows `name=` if the argument begins with it, else null.
static inline const char* value_of(const char* argument, const char* name) {
  const size_t length = strlen(name);
  return strncmp(argument, name, length) == 0 && argument[length] == '=' ? argument + length + 1 : NULL;
}
