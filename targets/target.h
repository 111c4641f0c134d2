// Targets and the kernel catalogue: plain data. See kernels/*.inc for the rows, machines/*.inc for what processors take.
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

struct Target {
  std::string_view name;
  Features features;
  std::string_view march;  ///< what the C++ compiler is told with -march=, empty: nothing
  int vector_floats = 1;
  int vector_registers = 16;  ///< as ONNXC_VECTOR_REGISTERS in the runtime
  int64_t l1_bytes = 32 << 10, l2_bytes = 256 << 10;
  std::string_view triple;                       ///< as compilers name it: x86_64-linux-gnu
  const Machine* machine = &machines::kGeneric;  ///< whose times kernels are chosen by; never null
  int64_t l3_bytes = 8 << 20;                    ///< what one core can count on of what all share
  bool has(Feature feature) const { return features.has(feature); }
  /// Of rows or tiles that a kernel keeps between its stages; wider images are taken by bands. As much as L2 holds where time is what counts.
  int64_t workspace_bytes() const { return workspace > 0 ? workspace : l2_bytes; }
  int64_t workspace = 0;
};

/// x86-64-v2, -v3, -v4, zen4 and zen5 (v4 as these cores like it), aarch64, native (this host), generic. Empty for an unknown name.
std::optional<Target> find_target(std::string_view name);
/// Names for --help and error messages.
std::span<const std::string_view> target_names();

/// One row of the catalogue: a kernel, and what it costs.
///
/// Costs are in nanoseconds on one core of the machine named by `provenance`; only ratios between rows matter.
struct Kernel {
  std::string_view name;      ///< of the row: gemm_14x32
  std::string_view header;    ///< onnxc/HEADER
  std::string_view function;  ///< in namespace onnxc, template arguments included where the row fixes them
  Features needs{};           ///< of the machine
  bool parallel = false;      ///< takes onnxc::Share first
  bool fallible = false;      ///< gives a Status
  /// Its algorithm adds values that the operator keeps apart (Winograd's, Strassen's, inner products in pairs): fewer multiplications, and errors
  /// relative to the largest of these values.
  bool mixes = false;
  double per_call = 0, per_mac = 0, per_byte = 0;
  std::string_view provenance;  ///< of the costs: machine and date, or `unmeasured`

  /// Arithmetic and the stream of constants overlap, but for such a part of the lesser. bench/fit_costs.py reads the figure here.
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
