#include "tools/onnxc/model_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <iostream>
#include <limits>
#include <string_view>

#include "compiler/states.h"
#include "compiler/support/error_codes.h"
#include "tools/onnxc/at_least.h"
#include "tools/onnxc/diagnostics.h"
#include "tools/onnxc/process_limits.h"
#include "tools/onnxc/region_option.h"
#include "tools/onnxc/tuner.h"

namespace onnxc {
namespace {

/// `batch=8`, `batch=1..64`, `batch=*`
std::pair<std::string, ImportOptions::Range> parse_dim(const std::string& text) {
  const auto bad = [&] {
    return Error(ErrorCode::DimOption, fmt::format("--dim {} is none of name=value, name=min..max and name=*", text));
  };
  const std::size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0) throw bad();
  const auto number = [&](std::string_view digits) {
    int64_t value = -1;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size() || value < 0) throw bad();
    return value;
  };
  const std::string_view value = std::string_view(text).substr(equals + 1);
  const std::size_t dots = value.find("..");
  ImportOptions::Range range{};
  if (value == "*") {
    range = {0, INT64_MAX, false};
  } else if (dots == std::string_view::npos) {
    range.min = range.max = number(value);
  } else {
    range = {number(value.substr(0, dots)), number(value.substr(dots + 2))};
  }
  if (range.min > range.max) throw bad();
  return {text.substr(0, equals), range};
}

/// `batch=1,8`
std::pair<std::string, std::vector<int64_t>> parse_extents(const std::string& text) {
  const auto bad = [&] { return Error(ErrorCode::SpecializeOption, fmt::format("--specialize {} is not name=size,size,...", text)); };
  const std::size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0) throw bad();
  std::vector<int64_t> extents;
  for (const std::string& part : CLI::detail::split(text.substr(equals + 1), ',')) {
    int64_t extent = -1;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), extent);
    if (part.empty() || error != std::errc() || end != part.data() + part.size() || extent < 0) throw bad();
    extents.push_back(extent);
  }
  if (extents.empty()) throw bad();
  return {text.substr(0, equals), extents};
}

}  // namespace

void ModelOptions::add_to(CLI::App& app) {
  app.add_option("--target", target_,
                 "Machine: native, zen5, zen4, x86-64-v4, x86-64-v3, x86-64-v2, aarch64, aarch64-dotprod, aarch64-i8mm, aarch64-sve256 or "
                 "generic (plain C++); "
                 "cortex-m0, -m3, -m4, -m7, -m33, -m55, -m85, rv32imc, rv32imafc, rv64gcv, wasm32, s390x; cuda-sm80 or cuda-sm90, alone or "
                 "with the processor beside the GPU, as in cuda-sm80+x86-64-v3")
      ->capture_default_str();
  app.add_option("--diagnostics", diagnostic_form(), "How errors are told: text, json or sarif (for editors and servers)")
      ->capture_default_str()
      ->check(CLI::IsMember({"text", "json", "sarif"}));
  app.add_option(
         "--on", on_,
         "Where a unit for a GPU that is built at once runs: gpu or emulator. By default on a GPU if there is one and nvcc, else in "
         "the emulator")
      ->check(CLI::IsMember({"gpu", "emulator"}));
  app.add_option(
      "--dim", dims_,
      "A named dimension: name=8 fixes it, name=1..64 bounds it, name=* gives each extent of that name one of its own. May be repeated.");
  app.add_option("--specialize", specialize_,
                 "A variant for each of these sizes, behind the same function: name=1,8. Several dimensions give every combination.")
      ->allow_extra_args(false);
  app.add_option("-O", opt_level_,
                 "Optimisation: 0 (reference kernels, no passes) to 3, or s: the least code, weights and memory, for firmware")
      ->capture_default_str()
      ->check(CLI::IsMember({"0", "1", "2", "3", "s"}));
  app.add_option("--threads", threads_, "Threads the unit may be run with; 1 leaves the code for more out")
      ->capture_default_str()
      ->check(CLI::Range(1, 256));
  app.add_option("--weights-growth", weights_growth_,
                 "How many times the model's weights the unit's may be: Winograd's are 1.8 or 4 times as large. 2 by default, 1 at -Os")
      ->check(CLI::Range(1.0, 100.0));
  app.add_option("--math", math_,
                 "What results promise: default (faster algorithms that mix values, Winograd's and Strassen's among them, where nothing "
                 "magnifies their errors), strict (none of them: "
                 "each element of a product within the bound of its sum), reproducible (the same bits on every processor, at some cost), "
                 "fast (on a GPU, operands of products have 11 bits) or bf16 (as fast; on a processor, operands of products by constant "
                 "matrices have 8 bits where that is faster); see docs/numerics.md")
      ->capture_default_str()
      ->check(CLI::IsMember({"strict", "default", "reproducible", "fast", "bf16"}));
  app.add_option(
         "--devices", devices_,
         "With a GPU as target: auto (each node where it is predicted to end sooner, transfers included), gpu (what has no kernel there is "
         "refused) or gpu,cpu (all that the GPU can do, and the rest on the processor)")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "gpu", "gpu,cpu"}));
  app.add_option("--gpu-memory", gpu_memory_, "Bytes on the GPU for weights and arena (4G); what does not fit stays on the processor")
      ->transform(CLI::AsSizeValue(false))
      ->type_name("BYTES");
  app.add_option("--narrow-weights", narrow_weights_,
                 "Weights that f16, bf16 or 8-bit codes with a scale for each column hold exactly are stored as these, with the same "
                 "results to the bit: "
                 "off, auto (where that is faster) or all (wherever kernels can read them: products and convolutions but by Winograd's and "
                 "Strassen's algorithms, "
                 "recurrences, tables of Gather). auto by default, all at -Os")
      ->check(CLI::IsMember({"off", "auto", "all"}));
  CLI::Option* const bits =
      app.add_option("--weight-bits", weight_bits_,
                     "Round weights of MatMul and Gemm, and tables of Gather, to codes of 8 or 4 bits with a scale and a zero point for "
                     "each block; values stay floats. Weights of fewer than 4096 elements stay floats, too; see docs/quantising.md")
          ->check(CLI::IsMember({8, 4}));
  app.add_option("--block", block_, "Weights of a block of --weight-bits: fewer are more exact and take more bytes")
      ->capture_default_str()
      ->check(CLI::IsMember({16, 32, 64, 128, 256}))
      ->needs(bits);
  app.add_option("--subnormals", subnormals_,
                 "Floats below the smallest normal number, which most processors compute slowly: flush (a run and the weights have zeros "
                 "for them; the caller's mode of "
                 "the processor is restored) or keep")
      ->capture_default_str()
      ->check(CLI::IsMember({"flush", "keep"}));
  app.add_option(
         "--memory", memory_,
         "What gives way where time and memory are at odds: speed (memory), balanced (up to a tenth of the time) or min (time). speed "
         "by default, balanced for microcontrollers, min at -Os")
      ->check(CLI::IsMember({"speed", "balanced", "min"}));
  const auto limit = [&](const char* name, std::optional<uint64_t>& bytes, const char* help) {
    app.add_option(name, bytes, help)->transform(CLI::AsSizeValue(false))->type_name("BYTES");
  };
  limit("--max-arena", max_arena_,
        "Refuse models that need more memory for their values, and name those that live together; 512K and 2MiB are understood. 64GiB by "
        "default");
  app.add_option(
         "--region", regions_,
         "A memory of the machine, NAME:SIZE[:SECTION[:const]]: 64K of fast memory as fast:64K. May be repeated, the fastest first. What "
         "is accessed most for each byte lies there: `run` takes an arena for each, and those with a section hold weights as well. "
         "`const` is for memory that holds nothing else; see docs/firmware.md")
      ->allow_extra_args(false);
  limit("--max-weights", max_weights_, "Refuse models whose packed weights take more bytes, and name the largest");
  limit("--max-code", max_code_,
        "Refuse units whose machine code takes more bytes, and name the steps that take most. The unit is compiled for that, with -O3 or "
        "-Os, by the target's compiler: $ONNXC_CXX, else $CXX or c++, or for another machine one that is named after it, as in "
        "arm-none-eabi-g++");
  limit("--max-flash", max_flash_, "The same for code, weights and other constants");
  limit("--max-ram", max_ram_, "The same for arena, stack and variables; inputs and outputs are the caller's");
  limit("--max-stack", max_stack_, "The same for the stack: the frames of the deepest chain of calls, as g++ tells");
  app.add_flag("--repair", repair_, "Put nodes into topological order, as ONNX demands, in models whose nodes are not");
  app.add_option(
         "--max-nodes", max_nodes_,
         "Refuse models of more nodes, counted after functions are inlined. By default 2,000,000, and for models with functions less: "
         "100 times the nodes that are written, but at least 40,000")
      ->check(at_least(1));
  limit("--max-fold-bytes", max_fold_bytes_,
        "Bytes of constants that the compiler may compute in all, each at most 512M; the run computes others. Sparse weights that become "
        "dense are bound, too. By default 16 times what the model holds, at least 128M and at most 2G");
  limit("--max-memory", process_limits().memory, "Bytes that onnxc itself may take until a unit runs; by default what the machine has");
  app.add_option("--timeout", process_limits().seconds,
                 "Seconds after which onnxc gives up, with the C++ compilers that it has started, unless a unit runs before; 0: never")
      ->capture_default_str()
      ->check(at_least(0));
  app.add_flag("--measure", measure_,
               "Say what the unit takes of its machine, as the target's compiler makes it, and state stack_bytes in the header");
  app.add_flag("--no-heap", no_heap_, "Refuse what needs memory whose size has no bound before the model runs");
  app.add_option("--max-trip", max_trip_, "Iterations after which a loop without a number of them ends the run with an error")
      ->capture_default_str()
      ->check(at_least(1));
  app.add_option(
         "--zipmap", zipmap_,
         "What ZipMap, the end of many classifiers, gives: map (a sequence of maps) or tensor (the scores, one row for each example)")
      ->capture_default_str()
      ->check(CLI::IsMember({"map", "tensor"}));
  app.add_option(
         "--state", states_,
         "An input and the output that is its value after a run, past=present: the caller keeps both at one place, and a cache grows there "
         "without being copied. `auto` takes all pairs of the usual names. May be repeated; see docs/state.md")
      ->allow_extra_args(false);
  app.add_option("--custom-op", custom_operators_,
                 "An operator of the model that a C++ function computes: domain.Op=header.hpp:function, y0 = x0[x0.0, 3]. "
                 "May be repeated; see docs/custom-operators.md")
      ->allow_extra_args(false);
  app.add_option("-I,--include-dir", include_folders_,
                 "Where run, bench and --emit=shared or object find headers of custom operators, before the working directory")
      ->allow_extra_args(false);
  app.add_flag("--huge-pages", huge_pages_,
               "The unit gets a function that copies its weights into memory of huge pages, on Linux; run and bench call it");
  app.add_option("--weights", weights_, "How weights are written: auto, array, asm, string, incbin, object, file or section:NAME")
      ->capture_default_str();
}

void ModelOptions::add_tune_to(CLI::App& app) {
  app.add_flag("--tune{measure}", tune_,
               "Take the kernels that are quickest on this machine, by `onnxc tune`: what its cache does not know is measured first, or, "
               "with --tune=cached, predicted; see docs/tuning.md")
      ->check(CLI::IsMember({"measure", "cached"}));
  add_tune_cache_to(app);
}

void ModelOptions::add_tune_cache_to(CLI::App& app) {
  app.add_option("--tune-cache", tune_cache_, "Where measured times are kept; default: tune.json in onnxc's folder of the user's cache")
      ->type_name("FILE");
}

CompileOptions ModelOptions::options_for(const std::filesystem::path& model, CompileOptions rest, const std::string& data) const {
  const TuneMode mode = tune_.empty() ? TuneMode::Off : tune_ == "cached" ? TuneMode::Cached : TuneMode::Measure;
  return tuned_options(model, options(std::move(rest)), mode, data.empty() ? std::nullopt : std::optional<std::filesystem::path>(data),
                       tune_cache_);
}

CompileOptions ModelOptions::options(CompileOptions rest) const {
  rest.target = target_;
  rest.runs_in = on_ == "gpu" ? RunsIn::Gpu : on_ == "emulator" ? RunsIn::Emulator : RunsIn::Either;
  rest.weights = weights_;
  rest.huge_pages = huge_pages_;
  rest.subnormals = subnormals_ == "keep" ? Subnormals::Keep : Subnormals::Flush;
  rest.threads = threads_;
  const auto limit = [](std::optional<uint64_t> bytes, int64_t otherwise) {
    return bytes ? static_cast<int64_t>(std::min<uint64_t>(*bytes, std::numeric_limits<int64_t>::max())) : otherwise;
  };
  if (max_arena_) rest.max_arena = limit(max_arena_, kMostArena);
  rest.max_weights = limit(max_weights_, rest.max_weights);
  if (max_code_) rest.max_code = limit(max_code_, 0);
  if (max_flash_) rest.max_flash = limit(max_flash_, 0);
  if (max_ram_) rest.max_ram = limit(max_ram_, 0);
  if (max_stack_) rest.max_stack = limit(max_stack_, 0);
  rest.max_nodes = max_nodes_;
  rest.repair = repair_;
  if (max_fold_bytes_) rest.max_fold_bytes = limit(max_fold_bytes_, 0);
  rest.measure = measure_;
  rest.heap = !no_heap_;
  rest.max_trip = max_trip_;
  rest.zip_maps = zipmap_ == "map";
  rest.small = opt_level_ == "s";
  rest.level = rest.small ? 3 : opt_level_[0] - '0';
  rest.memory = !memory_                ? usual_memory(rest)
                : memory_ == "min"      ? MemoryGoal::Min
                : memory_ == "balanced" ? MemoryGoal::Balanced
                                        : MemoryGoal::Speed;
  rest.math = math_ == "strict"         ? Math::Strict
              : math_ == "reproducible" ? Math::Reproducible
              : math_ == "fast"         ? Math::Fast
              : math_ == "bf16"         ? Math::Bf16
                                        : Math::Default;
  rest.devices = devices_ == "gpu" ? Devices::Gpu : devices_ == "gpu,cpu" ? Devices::GpuAndCpu : Devices::Auto;
  if (gpu_memory_) rest.gpu_memory = limit(gpu_memory_, 0);
  rest.narrow_weights = !narrow_weights_           ? usual_narrow_weights(rest)
                        : narrow_weights_ == "off" ? NarrowWeights::Off
                        : narrow_weights_ == "all" ? NarrowWeights::All
                                                   : NarrowWeights::Auto;
  if (weight_bits_) rest.weight_form = WeightForm{.bits = *weight_bits_, .block = block_};
  rest.weights_growth = weights_growth_ ? *weights_growth_ : rest.small ? 1.0 : CompilerOptions().weights_growth;
  rest.log = &std::cerr;
  for (const std::string& text : dims_) rest.dims.insert(parse_dim(text));
  for (const std::string& text : specialize_) {
    const auto& [name, extents] = parse_extents(text);
    std::vector<int64_t>& all = rest.specialize[name];
    for (int64_t extent : extents) {
      if (std::ranges::find(all, extent) == all.end()) all.push_back(extent);
    }
  }
  rest.regions = parse_regions(regions_);
  for (const std::string& text : states_) rest.states.push_back(parse_state(text));
  for (const std::string& text : custom_operators_) rest.custom_operators.push_back(parse_custom_operator(text));
  rest.include_folders.assign(include_folders_.begin(), include_folders_.end());
  return rest;
}

}  // namespace onnxc
