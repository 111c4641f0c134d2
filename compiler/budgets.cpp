#include "compiler/budgets.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "compiler/support/error.h"

namespace onnxc {
namespace {

struct Share {
  int64_t bytes;
  std::string name;
};

/// The largest of them, largest first: "'fc.weight' (4,096 bytes), ...".
std::string largest(std::vector<Share> shares) {
  constexpr std::size_t kMost = 3;
  std::ranges::stable_sort(shares, std::ranges::greater(), &Share::bytes);
  std::string text;
  for (std::size_t i = 0; i < std::min(kMost, shares.size()); ++i) text += fmt::format("{}'{}' ({} bytes)", i == 0 ? "" : ", ", shares[i].name, shares[i].bytes);
  return text + (shares.size() > kMost ? fmt::format(" and {} more", shares.size() - kMost) : "");
}

/// What lies in the arena in the step in which most does.
std::vector<Share> fullest_step(const Program& program) {
  std::map<int, int64_t> change;  // of the bytes that live, by step
  const auto each_buffer = [&](auto&& visit) {
    for (const Buffer& b : program.buffers) {
      if (b.place == Buffer::Place::Arena && b.parent < 0 && b.first >= 0 && b.bytes.is_constant()) visit(b);
    }
  };
  each_buffer([&](const Buffer& b) {
    change[b.first] += b.bytes.value();
    change[b.last] -= b.bytes.value();
  });
  int fullest = 0;
  int64_t live = 0, most = 0;
  for (const auto& [step, bytes] : change) {
    live += bytes;
    if (live > most) {
      most = live;
      fullest = step;
    }
  }
  std::vector<Share> shares;
  each_buffer([&](const Buffer& b) {
    if (b.first <= fullest && fullest < b.last) shares.push_back({b.bytes.value(), b.name});
  });
  return shares;
}

}  // namespace

int64_t weight_bytes(const Weights& weights) { return weights.strings ? 0 : static_cast<int64_t>(weights.bytes->size()); }

int64_t weight_bytes_saved(const Weights& weights) { return weights.wide_bytes > 0 ? weights.wide_bytes - weight_bytes(weights) : 0; }

int64_t weight_bytes_saved(const Program& program) {
  int64_t bytes = 0;
  for (const Weights& w : program.weights) bytes += weight_bytes_saved(w);
  return bytes;
}

int64_t weight_bytes(const Program& program) {
  int64_t bytes = 0;
  for (const Weights& w : program.weights) bytes += weight_bytes(w);
  return bytes;
}

void check_budgets(const Program& program, const CompilerOptions& options) {
  if (const Dim bytes = program.arena_bytes; bytes.is_constant() && bytes.value() > options.max_arena) {
    throw Error(ErrorKind::Budget, fmt::format("the arena would take {} bytes, more than {}; live together: {}", bytes.value(), options.max_arena, largest(fullest_step(program))),
                "see --max-arena");
  }
  if (const int64_t bytes = weight_bytes(program); bytes > options.max_weights) {
    std::vector<Share> shares;
    for (const Weights& w : program.weights) shares.push_back({weight_bytes(w), w.from});
    throw Error(ErrorKind::Budget, fmt::format("the weights would take {} bytes, more than {}: {}", bytes, options.max_weights, largest(std::move(shares))),
                "see --max-weights, and --weights-growth, by which kernels may enlarge them");
  }
}

}  // namespace onnxc
