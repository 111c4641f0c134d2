// Pointers into an arena as units have them, with the plan in arena.plan. check.py plants faults in copies of both.
#include <onnxc/base.hpp>

#include <span>

namespace fixed {
struct Inputs {};
struct Outputs {};
inline constexpr std::size_t arena_bytes = 192, arena_alignment = 64;
namespace {
onnxc::Status steps(const Inputs& in, const Outputs& out, std::byte* arena) {
  static_cast<void>(in);
  static_cast<void>(out);
  float* const a = onnxc::at<float>(arena, 0);
  float* const b = onnxc::at<float>(arena, 64);
  float* const c = onnxc::at<float>(arena, 72);
  float* const d = onnxc::at<float>(arena, 0);
  a[0] = 1, b[0] = 2, c[0] = 3, d[0] = 4;
  return {};
}
}  // namespace
onnxc::Status run(const Inputs& in, const Outputs& out, std::span<std::byte> arena) noexcept {
  if (const auto status = onnxc::check_arena(arena, arena_bytes, arena_alignment)) return status;
  return steps(in, out, arena.data());
}
}  // namespace fixed
