// Whether this processor has what a unit was compiled for.
#pragma once
#include <string>
#include <string_view>

namespace onnxc::serving {

/// What this processor lacks of a unit's target, or nothing. `native` and targets of other architectures are not known here: what is missing then is empty, too.
inline std::string missing_instructions([[maybe_unused]] std::string_view target) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool is_zen = target == "zen4" || target == "zen5";
  const int level = is_zen ? 4 : target == "x86-64-v4" ? 4 : target == "x86-64-v3" ? 3 : target == "x86-64-v2" ? 2 : 0;
  if (level >= 2 && !(__builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("ssse3") && __builtin_cpu_supports("popcnt")))
    return "SSE4.2";
  if (level >= 3 && !(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2"))) return "AVX2";
  if (level >= 4 && !(__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512vl")))
    return "AVX-512";
  if (is_zen && !__builtin_cpu_supports("avx512vnni")) return "AVX-512 VNNI";
  if (is_zen && !__builtin_cpu_supports("avx512bf16")) return "AVX-512 BF16";
#endif
  return {};
}

}  // namespace onnxc::serving
