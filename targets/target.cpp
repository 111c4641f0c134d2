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
    kZen{Feature::Sse41, Feature::Avx2, Feature::Fma, Feature::F16c, Feature::Avx512, Feature::Vnni, Feature::Bf16};

constexpr std::string_view kX86Triple = "x86_64-linux-gnu", kArmTriple = "aarch64-linux-gnu";

// AArch64: the smaller of the caches of a Cortex-A76 and a Neoverse N1.
constexpr Target kGeneric{"generic", {}, "", 4, 16, 32 << 10, 256 << 10, kHostTriple, &machines::kGeneric},
    kX86V2{"x86-64-v2", kV2, "-march=x86-64-v2", 4, 16, 32 << 10, 256 << 10, kX86Triple, &machines::kGeneric},
    kX86V3{"x86-64-v3", kV3, "-march=x86-64-v3", 8, 16, 32 << 10, 512 << 10, kX86Triple, &machines::kAvx2},
    kX86V4{"x86-64-v4", kV4, "-march=x86-64-v4", 16, 32, 32 << 10, 1 << 20, kX86Triple, &machines::kAvx512},
    kAarch64{"aarch64", {Feature::Neon}, "-march=armv8-a", 4, 32, 64 << 10, 512 << 10, kArmTriple, &machines::kNeon};

/// A target on another machine, or with more instructions.
constexpr Target variant(Target target, std::string_view name, Features features, std::string_view flags, const Machine* machine) {
  target.name = name;
  target.features = features;
  target.flags = flags;
  target.machine = machine;
  return target;
}
// The instruction set of kX86V4 and dot products.
constexpr std::string_view kZenFlags = "-march=x86-64-v4 -mavx512vnni -mavx512bf16";
constexpr Target kZen4 = variant(kX86V4, "zen4", kZen, kZenFlags, &machines::kZen4),
                 kZen5 = variant(kX86V4, "zen5", kZen, kZenFlags, &machines::kZen5);
constexpr Target kAarch64Dot =
                     variant(kAarch64, "aarch64-dotprod", {Feature::Neon, Feature::DotProd}, "-march=armv8.2-a+dotprod", &machines::kNeon),
                 kAarch64I8mm = variant(kAarch64, "aarch64-i8mm", {Feature::Neon, Feature::DotProd, Feature::I8mm},
                                        "-march=armv8.2-a+dotprod+i8mm", &machines::kNeon);

/// A core without an operating system, its memory the fastest there is: what is kept between stages competes with the arena for it.
struct Core {
  std::string_view name;
  Features features;
  std::string_view flags, triple;
  int vector_floats = 1, vector_registers = 16;
  bool has_floats = true, has_doubles = false;
  int alignment = 8;
  int pointer_bits = 32;
};
constexpr Target bare(const Core& core) {
  Target target;
  target.name = core.name;
  target.features = core.features;
  target.flags = core.flags;
  target.vector_floats = core.vector_floats;
  target.vector_registers = core.vector_registers;
  target.l1_bytes = target.l2_bytes = target.l3_bytes = 16 << 10;
  target.triple = core.triple;
  target.machine = core.vector_floats == 1 ? &machines::kScalar : &machines::kHelium;
  target.pointer_bits = core.pointer_bits;
  target.has_floats = core.has_floats;
  target.has_doubles = core.has_doubles;
  target.alignment = core.alignment;
  target.bare = true;
  return target;
}

constexpr std::string_view kThumb = "arm-none-eabi", kRiscV = "riscv64-unknown-elf";
// Registers: those of floats, of 32 bits for vectors of one float. GCC 12 does not know the Cortex-M85 by its name.
constexpr Target kCores[] = {
    bare({.name = "cortex-m0",
          .features = {},
          .flags = "-mcpu=cortex-m0 -mthumb",
          .triple = kThumb,
          .vector_registers = 8,
          .has_floats = false}),
    bare({.name = "cortex-m3",
          .features = {},
          .flags = "-mcpu=cortex-m3 -mthumb",
          .triple = kThumb,
          .vector_registers = 12,
          .has_floats = false}),
    bare({.name = "cortex-m4",
          .features = {Feature::Dsp},
          .flags = "-mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16",
          .triple = kThumb,
          .vector_registers = 32}),
    bare({.name = "cortex-m7",
          .features = {Feature::Dsp},
          .flags = "-mcpu=cortex-m7 -mthumb -mfloat-abi=hard -mfpu=fpv5-d16",
          .triple = kThumb,
          .vector_registers = 32,
          .has_doubles = true}),
    bare({.name = "cortex-m33",
          .features = {Feature::Dsp},
          .flags = "-mcpu=cortex-m33 -mthumb -mfloat-abi=hard -mfpu=fpv5-sp-d16",
          .triple = kThumb,
          .vector_registers = 32}),
    bare({.name = "cortex-m55",
          .features = {Feature::Dsp, Feature::Helium},
          .flags = "-mcpu=cortex-m55 -mthumb -mfloat-abi=hard",
          .triple = kThumb,
          .vector_floats = 4,
          .vector_registers = 8,
          .has_doubles = true,
          .alignment = 16}),
    bare({.name = "cortex-m85",
          .features = {Feature::Dsp, Feature::Helium},
          .flags = "-march=armv8.1-m.main+mve.fp+fp.dp -mthumb -mfloat-abi=hard",
          .triple = kThumb,
          .vector_floats = 4,
          .vector_registers = 8,
          .has_doubles = true,
          .alignment = 16}),
    bare({.name = "rv32imc",
          .features = {},
          .flags = "-march=rv32imc -mabi=ilp32",
          .triple = kRiscV,
          .vector_registers = 24,
          .has_floats = false}),
    bare({.name = "rv32imafc", .features = {}, .flags = "-march=rv32imafc -mabi=ilp32f", .triple = kRiscV, .vector_registers = 32}),
};

/// Other machines that run vectors of the compiler's own.
constexpr Target portable(std::string_view name, std::string_view flags, std::string_view triple, int registers, int pointer_bits,
                          bool little_endian, int vector_floats = 4) {
  Target target = kGeneric;
  target.name = name;
  target.flags = flags;
  target.triple = triple;
  target.vector_floats = vector_floats;
  target.vector_registers = registers;
  target.pointer_bits = pointer_bits;
  target.little_endian = little_endian;
  return target;
}
constexpr Target kSve256 = portable("aarch64-sve256", "-march=armv8.2-a+sve -msve-vector-bits=256", kArmTriple, 32, 64, true, 8),
                 kRv64 = portable("rv64gcv", "-march=rv64gcv -mabi=lp64d", "riscv64-linux-gnu", 32, 64, true),
                 kWasm = portable("wasm32", "--target=wasm32-wasi -msimd128", "wasm32-wasi", 16, 32, true),
                 kS390 = portable("s390x", "-march=z13", "s390x-linux-gnu", 16, 64, false);

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
  if (v4 && __builtin_cpu_supports("avx512vnni")) target.features.add(Feature::Vnni);
  if (v4 && __builtin_cpu_supports("avx512bf16")) target.features.add(Feature::Bf16);
  if (v4 && __builtin_cpu_is("intel")) target.machine = &machines::kSapphireRapids;
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
  target.flags = "-march=native";
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
  for (const Target* t :
       {&kGeneric, &kX86V2, &kX86V3, &kX86V4, &kZen4, &kZen5, &kAarch64, &kAarch64Dot, &kAarch64I8mm, &kSve256, &kRv64, &kWasm, &kS390}) {
    if (t->name == name) return *t;
  }
  for (const Target& t : kCores) {
    if (t.name == name) return t;
  }
  return std::nullopt;
}

bool is_of_this_machine(const Target& target) { return target.triple == kHostTriple; }

std::span<const std::string_view> target_names() {
  static constexpr std::string_view names[] = {
      "native",         "zen5",      "zen4",      "x86-64-v4", "x86-64-v3", "x86-64-v2", "aarch64",    "aarch64-dotprod", "aarch64-i8mm",
      "aarch64-sve256", "generic",   "cortex-m0", "cortex-m3", "cortex-m4", "cortex-m7", "cortex-m33", "cortex-m55",      "cortex-m85",
      "rv32imc",        "rv32imafc", "rv64gcv",   "wasm32",    "s390x",     "cuda-sm80", "cuda-sm90"};
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
