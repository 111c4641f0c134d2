#include "targets/target.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include <unistd.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

namespace onnxc {
namespace {

#if defined(__aarch64__)
constexpr std::string_view kHostTriple = "aarch64-linux-gnu";
#else
constexpr std::string_view kHostTriple = "x86_64-linux-gnu";
#endif

constexpr Features kV2{Feature::Sse41}, kV3{Feature::Sse41, Feature::Avx2, Feature::Fma, Feature::F16c},
    kV4{Feature::Sse41, Feature::Avx2, Feature::Fma, Feature::F16c, Feature::Avx512},
    kV4WithVnni{Feature::Sse41, Feature::Avx2, Feature::Fma, Feature::F16c, Feature::Avx512, Feature::Vnni};

// AArch64: the smaller of the caches of a Cortex-A76 and a Neoverse N1.
constexpr Target kGeneric{"generic", {}, "", 4, 16, 32 << 10, 256 << 10, kHostTriple, &machines::kGeneric},
    kX86V2{"x86-64-v2", kV2, "x86-64-v2", 4, 16, 32 << 10, 256 << 10, "x86_64-linux-gnu", &machines::kGeneric},
    kX86V3{"x86-64-v3", kV3, "x86-64-v3", 8, 16, 32 << 10, 512 << 10, "x86_64-linux-gnu", &machines::kAvx2},
    kX86V4{"x86-64-v4", kV4, "x86-64-v4", 16, 32, 32 << 10, 1 << 20, "x86_64-linux-gnu", &machines::kAvx512},
    kAarch64{"aarch64", {Feature::Neon}, "armv8-a", 4, 32, 64 << 10, 512 << 10, "aarch64-linux-gnu", &machines::kNeon};

/// kX86V4 on such a machine: the instruction set is the same, but other instructions are fast.
constexpr Target on_machine(std::string_view name, const Machine* machine) {
  Target target = kX86V4;
  target.name = name;
  target.machine = machine;
  return target;
}
constexpr Target kZen4 = on_machine("zen4", &machines::kZen4), kZen5 = on_machine("zen5", &machines::kZen5);

// By the data sheets of A100 and H100, beside processors with PCIe 4 and 5.
constexpr Gpu kSm80{"cuda-sm80", "sm_80", 108, 1.9, 2500, 10'000, 8000, 24}, kSm90{"cuda-sm90", "sm_90", 132};

/// The size that the system states for a cache of this machine; `otherwise` if it states none, or none that is
/// credible.
int64_t cache_bytes(int name, int64_t otherwise) {
  const int64_t bytes = sysconf(name);
  return bytes >= otherwise / 2 && bytes <= otherwise * 8 ? bytes : otherwise;
}

#if defined(__x86_64__)
/// The family of an x86 processor as its vendor counts them: CPUID's leaf 1.
unsigned processor_family() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0) return 0;
  const unsigned family = a >> 8 & 0xF;
  return family == 0xF ? family + (a >> 20 & 0xFF) : family;
}
#endif

Target host() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512vl");
  Target target = v4 ? kX86V4 : v3 ? kX86V3 : kX86V2;
  if (v4 && __builtin_cpu_supports("avx512vnni")) target.features = kV4WithVnni;
  if (v3 && __builtin_cpu_is("amd")) {
    // With AVX-512. Compilers from before 2024 have no name for its successor.
    const bool zen4 = processor_family() == 0x19;
    target.machine = !v4 ? &machines::kZen3 : zen4 ? &machines::kZen4 : &machines::kZen5;
  }
#elif defined(__aarch64__)
  Target target = kAarch64;
#else
  Target target = kGeneric;
#endif
  target.name = "native";
  target.march = "native";
#if defined(_SC_LEVEL1_DCACHE_SIZE) && defined(_SC_LEVEL2_CACHE_SIZE)
  target.l1_bytes = cache_bytes(_SC_LEVEL1_DCACHE_SIZE, target.l1_bytes);
  // Half of L2; the other half is for data that streams by, or for a second thread.
  target.l2_bytes = std::max(target.l2_bytes, cache_bytes(_SC_LEVEL2_CACHE_SIZE, target.l2_bytes) / 2);
#endif
  return target;
}

}  // namespace

std::string full_name(const Target& target) {
  if (target.gpu == nullptr) return std::string(target.name);
  return std::string(target.gpu->name) + (target.name == "native" ? "" : "+" + std::string(target.name));
}

std::optional<Target> find_target(std::string_view name) {
  for (const Gpu* gpu : {&kSm80, &kSm90}) {
    if (!name.starts_with(gpu->name)) continue;
    const std::string_view rest = name.substr(gpu->name.size());
    std::optional<Target> target = rest.empty() ? host() : rest.starts_with("+") ? find_target(rest.substr(1)) : std::nullopt;
    if (!target || target->gpu != nullptr) return std::nullopt;
    target->gpu = gpu;
    return target;
  }
  if (name == "native") return host();
  for (const Target* t : {&kGeneric, &kX86V2, &kX86V3, &kX86V4, &kZen4, &kZen5, &kAarch64}) {
    if (t->name == name) return *t;
  }
  return std::nullopt;
}

std::span<const std::string_view> target_names() {
  static constexpr std::string_view names[] = {"native",    "zen5",    "zen4",    "x86-64-v4", "x86-64-v3",
                                               "x86-64-v2", "aarch64", "generic", "cuda-sm80", "cuda-sm90"};
  return names;
}

std::span<const Kernel> all_kernels() {
  static constexpr Kernel rows[] = {
#define ONNXC_KERNEL(...) {__VA_ARGS__},
#include "targets/kernels/list.inc"
#undef ONNXC_KERNEL
  };
  return rows;
}

const Kernel& find_kernel(std::string_view name) {
  const auto rows = all_kernels();
  const auto it = std::find_if(rows.begin(), rows.end(), [&](const Kernel& k) { return k.name == name; });
  if (it == rows.end()) throw std::logic_error("no kernel row is named " + std::string(name));
  return *it;
}

}  // namespace onnxc
