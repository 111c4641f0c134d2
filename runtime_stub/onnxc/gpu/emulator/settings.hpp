// How the emulator runs kernels, and how it ends the program when one is wrong.
#pragma once
#if !defined(__CUDACC__)
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "../kernel.hpp"

#define ONNXC_DEVICE ONNXC_INLINE
#define ONNXC_LAMBDA
#define ONNXC_UNROLL_DEVICE  // vec.hpp has ONNXC_UNROLL
#define ONNXC_KEEP_LOOP
// The file and line of a word in a kernel, as the last two parameters, which have them by default, and as arguments.
#define ONNXC_CALLER      , [[maybe_unused]] const char *file = __builtin_FILE(), [[maybe_unused]] int line = __builtin_LINE()
#define ONNXC_SAME_CALLER , file, line
#define ONNXC_SYNC_BLOCK  sync_block(file, line)

namespace onnxc::inline ONNXC_ISA::gpu::emulator {

struct Settings {
  /// 0: blocks one after the other, threads in order. Else both in an order of this seed's, three blocks at once. Three seeds
  /// in a row choose in three manners.
  unsigned seed = 0;
  int workers = 1;                      ///< threads of this machine, which share the blocks
  int devices = 1;                      ///< GPUs that there seem to be
  std::size_t memory_bytes = SIZE_MAX;  ///< what they have together
  int most_blocks = 65536;              ///< of grids whose blocks go on once they are done; with few, tests see them do so
  /// What the driver answers to all that it is asked, as it does once a kernel has failed; null: none has.
  const char* failed = nullptr;
};

/// Begins with ONNXC_EMULATOR_SEED, ONNXC_EMULATOR_WORKERS, ONNXC_EMULATOR_DEVICES and ONNXC_EMULATOR_MEMORY (in MiB) of the
/// environment. It may be changed while no kernel runs.
inline Settings& settings() {
  static Settings all = [] {
    const auto number = [](const char* name, int otherwise) {
      const char* const text = std::getenv(name);
      return text == nullptr ? otherwise : std::atoi(text);
    };
    Settings s;
    s.seed = static_cast<unsigned>(number("ONNXC_EMULATOR_SEED", 0));
    s.workers = number("ONNXC_EMULATOR_WORKERS", 1);
    s.devices = number("ONNXC_EMULATOR_DEVICES", 1);
    if (const int mebibytes = number("ONNXC_EMULATOR_MEMORY", -1); mebibytes >= 0)
      s.memory_bytes = static_cast<std::size_t>(mebibytes) << 20;
    return s;
  }();
  return all;
}

/// A line of a kernel.
struct Where {
  const char* file = "";
  int line = 0;
};
inline bool same(const Where& a, const Where& b) { return a.line == b.line && (a.file == b.file || __builtin_strcmp(a.file, b.file) == 0); }

/// The same numbers for the same seed.
struct Random {
  uint32_t state = 1;
  /// Of [0, n). A count, whose bits are mixed by the last steps of MurmurHash3.
  uint32_t draw(uint32_t n) {
    uint32_t bits = state += 0x9E3779B9u;
    bits = (bits ^ bits >> 16) * 0x85EBCA6Bu;
    bits = (bits ^ bits >> 13) * 0xC2B2AE35u;
    return (bits ^ bits >> 16) % n;
  }
};

}  // namespace onnxc::gpu::emulator
#endif
