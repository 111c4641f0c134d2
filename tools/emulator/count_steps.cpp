#include "tools/emulator/count_steps.h"

#include <fmt/format.h>

#include <map>
#include <memory>
#include <sstream>
#include <utility>

#include "codegen/standalone.h"
#include "compiler/support/error_codes.h"
#include "tools/driver/compile_unit.h"
#include "tools/driver/elf_file.h"
#include "tools/driver/files.h"
#include "tools/driver/footprint.h"
#include "tools/driver/limits.h"
#include "tools/driver/process.h"
#include "tools/driver/self_test.h"
#include "tools/driver/temporary_folder.h"
#include "tools/emulator/emulated_machine.h"
#include "tools/emulator/parts.h"

namespace onnxc {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

/// Of the command; `what` failed if it does not end well.
std::string output_of(const Words& command, const std::string& what, double seconds = 600) {
  const ProcessResult result = run_process(command, seconds);
  if (result.timed_out) throw Error(ErrorCode::EmulatorFails, fmt::format("{} takes longer than {:.0f} s", what, seconds));
  if (!result.ok()) throw Error(ErrorCode::EmulatorFails, fmt::format("{}: {}", what, one_line(result.output.substr(0, 500))));
  return result.output;
}

/// The unit as an object, whose clock makes marks.
BuildRequest marked_request(const Compilation& compilation, const CompileOptions& options) {
  BuildRequest request = object_request(compilation, options);
  request.position_independent = false;
  request.files.push_back({"mark.h", Text(std::string(emulator_part("mark.h")))});
  request.flags.insert(request.flags.end(), {"-DONNXC_CLOCK()=mark()", "-include", "mark.h", "-ffunction-sections", "-fdata-sections",
                                             "-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics"});
  return request;
}

/// What the linker is told of a board's memories. `variables`: their bytes.
Words placement(const EmulatedMachine& machine, int64_t variables, const fs::path& folder) {
  constexpr int64_t kStack = 64 << 10;
  const bool fits = variables + 2 * kStack < static_cast<int64_t>(machine.data.bytes);
  const auto& [origin, bytes] = fits ? machine.data : machine.large;
  Words words = {"-nostartfiles", "-T", (folder / "boards.ld").string()};
  const std::pair<const char*, uint64_t> symbols[] = {{"CODE_ORIGIN", machine.code.origin},
                                                      {"CODE_SIZE", machine.code.bytes},
                                                      {"DATA_ORIGIN", origin},
                                                      {"DATA_SIZE", bytes},
                                                      {"STACK_SIZE", kStack},
                                                      {"RESET_ORIGIN", machine.reset}};
  for (const auto& [name, value] : symbols) words.push_back(fmt::format("-Wl,--defsym={}={:#x}", name, value));
  return words;
}

/// Compiles the parts around the unit and links all, in the folder. `memory`: the bytes that the self-test takes.
void build_image(const BuildRequest& request, const CompileOptions& options, const EmulatedMachine& machine, int64_t memory,
                 const fs::path& folder) {
  for (const SideFile& file : request.files) write_file(folder / file.name, file.bytes);
  const char* const board = machine.is_board ? "board.cpp" : "linux.cpp";
  for (const char* name : {"machine.h", "mark.cpp", "steps.cpp", board, "boards.ld"})
    write_file(folder / name, std::string(emulator_part(name)));
  const fs::path object = build_unit(request);
  Words command = compiler_words(request.compiler);
  const auto add = [&](const Words& words) { command.insert(command.end(), words.begin(), words.end()); };
  add(target_flags(options.target));
  add({"-std=c++20", "-O1", "-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics", "-ffunction-sections", "-I" + runtime_folder(),
       "-I" + folder.string()});
  for (const char* name : {"mark.cpp", "steps.cpp", board}) command.push_back((folder / name).string());
  command.push_back(object.string());
  add(machine.is_board ? placement(machine, memory + footprint_of(read_file(object), "").data, folder) : Words{"-static"});
  add({"-Wl,--gc-sections", "-o", (folder / "image").string()});
  if (machine.is_board) add({"-nodefaultlibs", "-lm", "-lc", "-lgcc"});  // there may be no library of C++, and none is needed
  output_of(command, "the image for the emulator does not link");
}

uint64_t address_of_mark(const std::string& image) {
  for (const ElfFile::Function& function : read_elf(image).functions) {
    if (function.name == "mark") return function.address & ~uint64_t{1};  // which tells Thumb
  }
  throw Error(ErrorKind::Internal, "the image has no marks");
}

/// The counts at a mark.
struct Counts {
  int64_t instructions = 0, cycles = 0;
};

std::vector<Counts> read_counts(const std::string& text) {
  std::vector<Counts> all;
  std::istringstream in(text);
  for (Counts at; in >> at.instructions >> at.cycles;) all.push_back(at);
  return all;
}

/// What the image said, of which steps.cpp has the form, with what the plugin counted.
void read_run(EmulatedRun& run, const std::string& said, const std::vector<Counts>& counts) {
  const auto at = [&](std::size_t mark) {
    if (mark >= counts.size()) throw Error(ErrorKind::Internal, "the emulator has counted less than the image says");
    return counts[mark];
  };
  const Counts reading{at(1).instructions - at(0).instructions, at(1).cycles - at(0).cycles};
  const bool has_cycles = counts.back().cycles > 0;
  std::istringstream lines(said);
  bool ended = false;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string what;
    words >> what;
    if (what == "status") {
      uint32_t status = 0;
      words >> status;
      run.passed = status == 0;
    } else if (what == "step") {
      StepCount step;
      std::size_t begin = 0, end = 0;
      words >> step.number >> step.calls >> begin >> end;
      step.instructions = step.calls * (at(end).instructions - at(begin).instructions - reading.instructions);
      if (has_cycles) step.cycles = step.calls * (at(end).cycles - at(begin).cycles - reading.cycles);
      run.steps.push_back(step);
    }
    ended = ended || what == "end";
  }
  if (!ended) throw Error(ErrorCode::EmulatorFails, "the emulator ended early: " + one_line(said.substr(0, 300)));
}

/// What runs in the emulator.
SelfTest self_test_for(const fs::path& model, const CompileOptions& options, const std::optional<fs::path>& data) {
  try {
    return *make_self_test(model, options, data);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Unsupported) throw;
    throw Error(ErrorCode::NoSelfTest, "what runs in an emulator is a unit's self-test, and " + error.diagnostics().front().found,
                "--profile in your own program measures steps where it runs; see docs/profiling.md");
  }
}

}  // namespace

EmulatedRun count_steps(const fs::path& model, const Compilation& compilation, const CompileOptions& given,
                        const std::optional<fs::path>& data) {
  const std::optional<EmulatedMachine> machine = find_emulated_machine(given.target);
  if (!machine) throw Error(ErrorKind::Unsupported, fmt::format("onnxc knows no emulator of a machine for the target {}", given.target));
  CompileOptions options = given;
  options.name_space = "unit";
  options.header_name = "unit.h";
  options.weights = "auto";
  options.profile = true;
  options.measure_nothing();
  SelfTest test = self_test_for(model, options, data);
  test.vectors.resize(1);
  EmulatedRun run;
  run.data = test.origin.substr(0, test.origin.find(", "));
  options.self_test = std::make_shared<const SelfTest>(std::move(test));

  const Interface interface(compilation.program, false);
  for (std::size_t i = 0; i < interface.symbols.size(); ++i)
    run.dims[interface.symbols[i].name()] = options.self_test->vectors.front().dims.at(i);
  const TemporaryFolder folder;
  const fs::path image = folder.path() / "image", plugin = folder.path() / "count.so", out = folder.path() / "counts";
  const BuildRequest request = marked_request(compilation, options);
  build_image(request, options, *machine, self_test_bytes(*options.self_test, compilation.program), folder.path());
  for (const char* name : {"plugin.h", "count.c"}) write_file(folder.path() / name, std::string(emulator_part(name)));
  output_of({"cc", "-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror", (folder.path() / "count.c").string(), "-o", plugin.string()},
            "the emulator's plugin does not compile");
  Words emulate = machine->emulator;
  const std::string marked =
      fmt::format("{},mark={:#x},out={},core={}", plugin.string(), address_of_mark(read_file(image)), out.string(), options.target);
  emulate.insert(emulate.begin() + 1, {"-plugin", marked});
  if (machine->is_board)
    emulate.insert(emulate.end(),
                   {"-nographic", "-monitor", "none", "-serial", "none", "-semihosting-config", "enable=on,target=native", "-kernel"});
  emulate.push_back(image.string());
  lift_limits();
  const std::string said = output_of(emulate, machine->emulator.front(), 3600);
  read_run(run, said, read_counts(read_file(out)));
  const std::string version = output_of({machine->emulator.front(), "--version"}, machine->emulator.front());
  run.emulator = version.substr(0, version.find('\n'));
  run.compiler = compiler_name(request.compiler);
  return run;
}

}  // namespace onnxc
