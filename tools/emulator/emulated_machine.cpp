#include "tools/emulator/emulated_machine.h"

#include <sstream>

#include "compiler/support/error.h"
#include "targets/target.h"
#include "tools/emulator/parts.h"

namespace onnxc {

std::optional<EmulatedMachine> find_emulated_machine(std::string_view target) {
  std::istringstream lines{std::string(emulator_part("machines.txt"))};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string word;
    if (!(words >> word) || word.starts_with('#') || word != target) continue;
    EmulatedMachine machine;
    while (words >> word && word != "|") machine.emulator.push_back(word);
    machine.is_board = word == "|";
    if (machine.is_board) {
      words >> std::hex;
      for (EmulatedMachine::Memory* memory : {&machine.code, &machine.data, &machine.large}) words >> memory->origin >> memory->bytes;
      ONNXC_CHECK(static_cast<bool>(words >> machine.reset), "a board has three memories and an address where it starts");
    }
    return machine;
  }
  return std::nullopt;
}

bool runs_elsewhere(std::string_view target) {
  const std::optional<Target> known = find_target(target);
  return known && !is_of_this_machine(*known) && find_emulated_machine(target);
}

}  // namespace onnxc
