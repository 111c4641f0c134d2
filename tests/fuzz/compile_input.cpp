#include "tests/fuzz/compile_input.h"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <new>
#include <string>

#include "codegen/compile.h"
#include "tools/driver/temporary_folder.h"

namespace onnxc::fuzz {
namespace {

uint64_t hash_of(std::span<const uint8_t> bytes) {  // FNV-1a
  uint64_t hash = 14695981039346656037ULL;
  for (const uint8_t byte : bytes) hash = (hash ^ byte) * 1099511628211ULL;
  return hash;
}

/// Takes a number below `count` from the hash.
uint64_t draw(uint64_t& hash, uint64_t count) {
  const uint64_t drawn = hash % count;
  hash /= count;
  return drawn;
}

CompileOptions options_for(std::span<const uint8_t> bytes) {
  constexpr std::array kTargets{"x86-64-v4",  "x86-64-v3",    "generic", "cortex-m4",
                                "cortex-m55", "aarch64-i8mm", "s390x",   "cuda-sm80+x86-64-v3"};
  constexpr std::array kGoals{MemoryGoal::Speed, MemoryGoal::Balanced, MemoryGoal::Min};
  constexpr std::array kMath{Math::Default, Math::Default, Math::Strict, Math::Reproducible};
  uint64_t hash = hash_of(bytes);
  CompileOptions options;
  options.target = kTargets[draw(hash, kTargets.size())];
  options.level = draw(hash, 4) == 0 ? 0 : 3;
  options.small = options.level == 3 && draw(hash, 4) == 0;
  options.memory = kGoals[draw(hash, kGoals.size())];
  options.math = kMath[draw(hash, kMath.size())];
  if (options.target.starts_with("cuda") && options.math == Math::Reproducible) options.math = Math::Strict;
  options.threads = draw(hash, 4) == 0 ? 3 : 1;
  options.zip_maps = draw(hash, 2) == 0;
  options.name_space = "unit";
  options.weights = "array";
  options.max_weights = int64_t{1} << 26;  // a mutant is small, or lies
  return options;
}

}  // namespace

void expect_answer(const std::function<void()>& call) {
  try {
    call();
    return;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Internal) return;
    fmt::print(stderr, "an error of kind Internal: {}\n", error.what());
  } catch (const std::bad_alloc&) {
    return;  // what the command tells as a budget
  } catch (const std::exception& error) {
    fmt::print(stderr, "an exception that is no Error: {}\n", error.what());
  }
  std::abort();
}

void compile_model_bytes(std::span<const uint8_t> bytes) {
  static const TemporaryFolder folder;  // run.sh has it in memory
  const std::filesystem::path file = folder.path() / "model.onnx";
  std::ofstream(file, std::ios::binary).write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  const CompileOptions options = options_for(bytes);
  expect_answer([&] {
    const Compilation compilation = compile_model(file, options);
    print_program(compilation.program);
    emit_compilation(compilation, options);
  });
}

void compile_graph_text(std::string_view text) {
  expect_answer([&] {
    Graph graph = parse_graph(text);
    verify_graph(graph, "parsing");
    const std::string printed = print_graph(graph);
    if (print_graph(parse_graph(printed)) != printed) throw std::logic_error("the text of a graph is not read as what it was: " + printed);
  });
}

}  // namespace onnxc::fuzz
