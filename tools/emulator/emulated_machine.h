// The machine in an emulator that stands for a target: a board of QEMU, or a processor under Linux.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace onnxc {

struct EmulatedMachine {
  struct Memory {
    uint64_t origin = 0, bytes = 0;
  };
  std::vector<std::string> emulator;  ///< the command, before options and the image
  bool is_board = false;              ///< it has no operating system; else programs are those of Linux, and memories are empty
  Memory code{}, data{}, large{};     ///< for code and constants, for values, and for values that do not fit there
  uint64_t reset = 0;                 ///< where the processor starts, or looks for its vectors
};

/// As parts/machines.txt has it; empty for a target without one.
std::optional<EmulatedMachine> find_emulated_machine(std::string_view target);

/// Whether a target is for other machines than this one, and there is an emulator.
bool runs_elsewhere(std::string_view target);

}  // namespace onnxc
