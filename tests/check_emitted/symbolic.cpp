// As arena.cpp, with sizes that depend on a dimension; its plan is symbolic.plan.
#include <onnxc/base.hpp>

#include <span>

namespace symbolic {
struct Dims {
  std::int64_t batch_size;
};
struct Inputs {};
struct Outputs {};
inline constexpr std::size_t arena_alignment = 64;
namespace {
struct Plan {
  std::int64_t bytes = 0;
  std::int64_t b1 = 0;
  std::int64_t b3 = 0;
};
Plan plan(const Dims& dims) {
  Plan p;
  p.b1 = 0;
  p.bytes = onnxc::max_of(p.bytes, p.b1 + onnxc::aligned(16 * dims.batch_size));
  p.b3 = p.b1 + onnxc::aligned(16 * dims.batch_size);
  p.bytes = onnxc::max_of(p.bytes, p.b3 + onnxc::aligned(8 * onnxc::ceil_div(dims.batch_size, 4)));
  return p;
}
onnxc::Status steps(const Dims& dims, const Inputs& in, const Outputs& out, std::byte* arena) {
  static_cast<void>(in);
  static_cast<void>(out);
  const Plan p = plan(dims);
  float* const a = onnxc::at<float>(arena, static_cast<std::size_t>(p.b1));
  float* const half = onnxc::at<float>(arena, static_cast<std::size_t>(p.b1 + 8 * dims.batch_size));
  float* const b = onnxc::at<float>(arena, static_cast<std::size_t>(p.b3));
  a[0] = 1, half[0] = 2, b[0] = 3;
  return {};
}
}  // namespace
onnxc::Status run(const Dims& dims, const Inputs& in, const Outputs& out, std::span<std::byte> arena) noexcept {
  if (const auto status = onnxc::check_arena(arena, static_cast<std::size_t>(plan(dims).bytes), arena_alignment)) return status;
  return steps(dims, in, out, arena.data());
}
}  // namespace symbolic
