#include "compiler/lowering/threads/concurrent_steps.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

namespace onnxc {
namespace {

// In units that are worth a fork: two steps of this size do not run concurrently.
constexpr double kLarge = 64;
// Steps of a group. Among so many, one wait more is negligible, and each step is compared with all others.
constexpr std::size_t kMostConcurrent = 128;

/// At likely sizes.
double forks_worth(const Step& step) {
  const Call* const call = step.call();
  return call == nullptr ? 0 : onnxc::forks_worth(likely_value(call->macs), likely_value(call->bytes));
}

/// The range of channels of each pixel, or of elements, that a pointer may touch. Empty if it is unknown.
std::optional<std::pair<int64_t, int64_t>> range_of(const Buffer& buffer, const PointerArg& p) {
  if (p.extent_used == Dim(0) || !p.extent_used.is_constant() || !p.offset.is_constant() || !buffer.pixel_stride.is_constant())
    return std::nullopt;
  const int64_t pixel = buffer.pixel_stride.value();
  if (pixel > 0 && p.offset.value() >= pixel) return std::nullopt;  // it begins in another pixel
  return std::pair(p.offset.value(), p.offset.value() + p.extent_used.value());
}

bool are_apart(const Program& program, const PointerArg& a, const PointerArg& b) {
  if (!lie_at_one_place(program, root_of(program, a.buffer), root_of(program, b.buffer))) return true;
  if (a.buffer != b.buffer) return false;
  const auto one = range_of(program[a.buffer], a), other = range_of(program[b.buffer], b);
  return one && other && (one->second <= other->first || other->second <= one->first);
}

bool are_independent(const Program& program, const Step& a, const Step& b) {
  bool independent = true;
  for_each_pointer(a, [&](const PointerArg& p) {
    for_each_pointer(b, [&](const PointerArg& q) { independent = independent && ((!p.writes && !q.writes) || are_apart(program, p, q)); });
  });
  return independent;
}

/// Whether the step is a call that cannot fail, stores no extents, and touches only tensors.
bool can_be_concurrent(const Program& program, const Step& step) {
  bool result = step.call() != nullptr && !step.call()->fallible && step.call()->binds.empty();
  for_each_pointer(step, [&](const PointerArg& p) { result = result && !program[root_of(program, p.buffer)].is_value; });
  return result;
}

/// Whether a group is worth a fork of threads, or contains a step that forks anyway.
bool is_worth_fork(std::span<const Step> group) {
  double sum = 0, most = 0;
  for (const Step& step : group) {
    if (step.call() != nullptr && worth_sharing(*step.call())) return true;
    sum += forks_worth(step);
    most = std::max(most, forks_worth(step));
  }
  // the work that other threads take over from the one that has the largest step
  return sum - most >= 1;
}

void find_concurrent(const Program& program, std::vector<Step>& steps) {
  std::size_t first = 0;  // of the group
  bool has_large = false;
  const auto dissolve_if_small = [&](std::size_t last) {
    if (is_worth_fork(std::span(steps).subspan(first, last - first))) return;
    for (std::size_t k = first; k < last; ++k) {
      if (Call* const call = steps[k].call()) call->concurrent = false;
    }
  };
  for (std::size_t i = 0; i < steps.size(); ++i) {
    Step& step = steps[i];
    for_each_block(step, [&](std::vector<Step>& block) { find_concurrent(program, block); });
    const bool is_large = forks_worth(step) >= kLarge;
    const auto group = std::span<const Step>(steps).subspan(first, i - first);
    const bool concurrent = i > 0 && group.size() < kMostConcurrent && can_be_concurrent(program, step) &&
                            can_be_concurrent(program, steps[first]) && !(is_large && has_large) &&
                            std::ranges::all_of(group, [&](const Step& other) { return are_independent(program, other, step); });
    if (concurrent) {
      step.call()->concurrent = true;
      has_large = has_large || is_large;
      continue;
    }
    dissolve_if_small(i);
    first = i;
    has_large = is_large;
  }
  dissolve_if_small(steps.size());
}

}  // namespace

void find_concurrent_steps(Program& program) { find_concurrent(program, program.steps); }

}  // namespace onnxc
