// Targets and the kernel catalogue, as plain data. See kernels/*.inc for the rows and machines/*.inc for the costs of
// processors.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "targets/features.h"
#include "targets/machine.h"

namespace onnxc {

/// A GPU beside the processor, on which a unit computes what there are kernels for.
struct Gpu {
  std::string_view name;                                  ///< cuda-sm80
  std::string_view arch;                                  ///< what nvcc gets with -arch=
  int multiprocessors = 0;                                ///< of the largest card of this kind
  double slowdown = 1;                                    ///< its kernels take so many times as long as rows of the catalogue say
  double launch_ns = 2000;                                ///< of a kernel in a graph
  double wait_ns = 10'000;                                ///< until the host knows that work is done
  double transfer_ns = 8000, transfer_bytes_per_ns = 50;  ///< of a copy between pinned memory and the GPU
  /// A reference kernel takes so many times as long in one lane as on a core, and so many lanes of a multiprocessor work at once.
  static constexpr double kLaneSlowdown = 20, kLanes = 128;
};

struct Target {
  std::string_view name;
  Features features;
  std::string_view flags;     ///< what the C++ compiler gets to choose the machine: -march=x86-64-v3; empty: nothing
  int vector_floats = 1;      ///< as ONNXC_VECTOR_FLOATS in the runtime
  int vector_registers = 16;  ///< as ONNXC_VECTOR_REGISTERS in the runtime
  int64_t l1_bytes = 32 << 10, l2_bytes = 256 << 10;
  std::string_view triple;                       ///< as compilers name it: x86_64-linux-gnu
  const Machine* machine = &machines::kGeneric;  ///< the machine whose costs decide between kernels; never null
  int64_t l3_bytes = 8 << 20;                    ///< the part of a shared cache that one core can count on
  bool has(Feature feature) const { return features.has(feature); }
  /// The memory for rows or tiles that a kernel keeps between its stages; wider images are computed by bands. If
  /// speed is the goal, it is as much as L2 holds.
  int64_t workspace_bytes() const { return workspace > 0 ? workspace : l2_bytes; }
  int64_t workspace = 0;
  const Gpu* gpu = nullptr;  ///< null: everything runs on the processor
  int pointer_bits = 64;
  bool little_endian = true;
  bool has_floats = true;   ///< floats of 32 bits in hardware
  bool has_doubles = true;  ///< floats of 64 bits in hardware
  /// Of the arena, of each value in it and of each constant, in bytes: as much as the machine's loads or its cache want.
  int alignment = 64;
  /// Whether it has no operating system: no threads, no position-independent code.
  bool bare = false;
};

/// The name for --target: zen4, cuda-sm80+zen4.
std::string full_name(const Target& target);

/// cuda-sm80 and cuda-sm90, alone or followed by the processor's target, as in cuda-sm80+x86-64-v3; native if there is none.
/// x86-64-v2, -v3, -v4, zen4 and zen5 (v4 with the costs of these cores), aarch64 and its extensions, native (this host), generic;
/// cores of microcontrollers, wasm32, s390x. Empty for an unknown name.
std::optional<Target> find_target(std::string_view name);
/// Whether its code is of this machine's kind, so that it can be loaded here.
bool is_of_this_machine(const Target& target);
/// The names, for --help and error messages.
std::span<const std::string_view> target_names();

/// Where a kernel can run. `Any`: a function for both, of which a thread of a GPU computes one share.
enum class RunsOn : uint8_t { Cpu, Gpu, Any };

/// One row of the catalogue: a kernel and its cost.
///
/// Costs are in nanoseconds on one core of the machine that `provenance` names. Only ratios between rows matter.
struct Kernel {
  std::string_view name;      ///< of the row: gemm_14x32
  std::string_view header;    ///< onnxc/HEADER
  std::string_view function;  ///< in namespace onnxc, with the template arguments that the row fixes
  Features needs{};           ///< of the machine
  bool parallel = false;      ///< takes onnxc::Share as its first argument
  bool fallible = false;      ///< returns a Status
  /// Its algorithm adds values that the operator keeps apart (Winograd's, Strassen's, inner products in pairs). It
  /// has fewer multiplications, and errors relative to the largest of these values. Or it rounds operands relative to
  /// the largest of their neighbours, with the same consequences.
  bool mixes = false;
  /// It rounds both operands to bfloat16: for --math=bf16 alone.
  bool bf16 = false;
  /// The last bits of its results depend on the machine: it sums along the lanes of vectors, or in another order than kernels that other
  /// machines take for the same operator (convolutions: rows of a window, pixels, channels), or calls functions of the C library.
  bool varies = false;
  RunsOn runs_on = RunsOn::Cpu;
  bool divisible = false;  ///< takes onnxc::Share as its last argument, which only GPUs pass
  double per_call = 0, per_mac = 0, per_byte = 0;
  std::string_view provenance;  ///< the machine and date of the costs, or `unmeasured`

  /// Arithmetic and the stream of constants overlap, except for this share of the smaller one. bench/fit_costs.py
  /// reads the figure here.
  static constexpr double kLesserShare = 0.4;
  double cost(double macs, double bytes) const {
    const double arithmetic = per_mac * macs, stream = per_byte * bytes;
    return per_call + std::max(arithmetic, stream) + kLesserShare * std::min(arithmetic, stream);
  }
};

/// The row of that name; unknown names are an internal error.
const Kernel& find_kernel(std::string_view name);
std::span<const Kernel> all_kernels();

}  // namespace onnxc
