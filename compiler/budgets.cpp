#include "compiler/budgets.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/lowering/memory/plan_memory.h"
#include "compiler/lowering/memory/plan_regions.h"
#include "compiler/support/error.h"
#include "compiler/support/error_codes.h"

namespace onnxc {
namespace {

struct Consumer {
  int64_t bytes;
  std::string name;
  bool endless = false;  ///< the size is only a lower bound
};

/// Names the largest of the consumers, largest first: "'fc.weight' (4,096 bytes), ...".
std::string largest(std::vector<Consumer> consumers) {
  constexpr std::size_t kMost = 3;
  std::ranges::stable_sort(consumers, std::ranges::greater(), &Consumer::bytes);
  std::string text;
  for (std::size_t i = 0; i < std::min(kMost, consumers.size()); ++i)
    text += fmt::format("{}'{}' ({} bytes{})", i == 0 ? "" : ", ", consumers[i].name, consumers[i].bytes,
                        consumers[i].endless ? " or more" : "");
  return text + (consumers.size() > kMost ? fmt::format(" and {} more", consumers.size() - kMost) : "");
}

template <class Visit>
void for_each_arena_buffer(const Program& program, Visit&& visit) {
  for (BufferId id : planned_buffers(program)) visit(program[id]);
}

/// The size of a buffer; if it depends on dimensions, its maximum, but no more than kEndless.
int64_t most_bytes(const Buffer& buffer) {
  return buffer.bytes.is_constant() ? buffer.bytes.value() : std::clamp<int64_t>(buffer.bytes.max_value(), 0, kEndless);
}

bool is_endless(const Buffer& buffer) { return !buffer.bytes.is_constant() && buffer.bytes.max_value() > kEndless; }

/// The contents of the arena in the step with the most bytes, with all extents at their upper bounds.
std::vector<Consumer> fullest_step(const Program& program) {
  std::map<int, int64_t> change;  // of the live bytes, by step
  for_each_arena_buffer(program, [&](const Buffer& b) {
    change[b.first] += most_bytes(b);
    change[b.last] -= most_bytes(b);
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
  std::vector<Consumer> consumers;
  for_each_arena_buffer(program, [&](const Buffer& b) {
    if (b.first <= fullest && fullest < b.last) consumers.push_back({most_bytes(b), b.name, is_endless(b)});
  });
  return consumers;
}

/// The dimensions without an upper bound that the size of some buffer grows with.
std::set<std::string> unbounded_symbols(const Program& program) {
  std::set<std::string> names;
  for_each_arena_buffer(program, [&](const Buffer& b) {
    if (b.bytes.max_value() != std::numeric_limits<int64_t>::max()) return;
    std::map<std::string, Dim> symbols;
    b.bytes.collect_symbols(symbols);
    for (const auto& [name, symbol] : symbols) {
      if (symbol.max_value() == std::numeric_limits<int64_t>::max()) names.insert(name);
    }
  });
  return names;
}

void check_arena(const Program& program, const CompilerOptions& options) {
  const bool fixed = program.arena.placements.empty();
  if (!fixed && !options.max_arena) return;
  if (const std::set<std::string> names = unbounded_symbols(program); !names.empty()) {
    throw Error(ErrorCode::ArenaWithoutBound,
                fmt::format("the arena grows with '{}', which {} no upper bound, so it may take more than {} bytes",
                            fmt::join(names, "' and '"), names.size() == 1 ? "has" : "have", *options.max_arena),
                fmt::format("--dim '{}=1..MAX' gives it one; see --max-arena", *names.begin()));
  }
  const int64_t most = options.max_arena.value_or(kMostArena), bytes = fixed ? program.arena.bytes.value() : most_arena_bytes(program);
  if (bytes <= most) return;
  const bool endless = std::ranges::any_of(planned_buffers(program), [&](BufferId id) { return is_endless(program[id]); });
  throw Error(ErrorCode::ArenaLimit,
              fmt::format("the arena would take {}{} bytes{}, more than {}; live together: {}", fixed || endless ? "" : "up to ", bytes,
                          endless ? " or more" : "", most, largest(fullest_step(program))),
              fixed ? "see --max-arena" : "see --max-arena, and --dim for the bounds of dimensions");
}

}  // namespace

int64_t weight_bytes(const Weights& weights) { return weights.strings ? 0 : static_cast<int64_t>(weights.bytes.size()); }

int64_t weight_bytes_saved(const Weights& weights) { return weights.wide_bytes ? *weights.wide_bytes - weight_bytes(weights) : 0; }

int64_t weight_bytes_saved(const Program& program) {
  int64_t bytes = 0;
  for (const Weights& w : program.weights) bytes = checked_add(bytes, weight_bytes_saved(w));
  return bytes;
}

int64_t weight_bytes(const Program& program) {
  int64_t bytes = 0;
  for (const Weights& w : program.weights) bytes = checked_add(bytes, weight_bytes(w));
  return bytes;
}

void check_room_in_regions(const Program& program) {
  if (!divides_arena(program)) return;
  const std::vector<BufferId> buffers = planned_buffers(program);
  const auto left = std::ranges::find_if(buffers, [&](BufferId id) { return program[id].region < 0; });
  if (left == buffers.end()) return;
  // The step of the buffer's life with the most bytes, where something has to give way.
  const Buffer& homeless = program[*left];
  const auto live_in = [&](int step) {
    std::vector<Consumer> consumers;
    for (const BufferId id : buffers) {
      if (const Buffer& b = program[id]; b.first <= step && step < b.last) consumers.push_back({b.bytes.value(), b.name});
    }
    return consumers;
  };
  const auto sum = [](const std::vector<Consumer>& consumers) {
    int64_t bytes = 0;
    for (const Consumer& consumer : consumers) bytes += consumer.bytes;
    return bytes;
  };
  std::vector<Consumer> live = live_in(homeless.first);
  for (int step = homeless.first + 1; step < homeless.last; ++step) {
    if (std::vector<Consumer> other = live_in(step); sum(other) > sum(live)) live = std::move(other);
  }
  int64_t room = 0;
  for (const Region& region : program.regions) room += region.constants_only ? 0 : region.capacity;
  throw Error(
      ErrorCode::RegionsFull,
      fmt::format("no region has room for '{}' ({} bytes): the arena takes {} bytes at once, the regions hold {}; live together: {}",
                  homeless.name, homeless.bytes.value(), sum(live), room, largest(live)),
      "see --region; one region that is larger, or --memory=min, would do");
}

void check_budgets(const Program& program, const CompilerOptions& options) {
  check_arena(program, options);
  if (const int64_t bytes = weight_bytes(program); bytes > options.max_weights) {
    std::vector<Consumer> consumers;
    for (const Weights& w : program.weights) consumers.push_back({weight_bytes(w), w.from});
    throw Error(ErrorCode::WeightsLimit,
                fmt::format("the weights would take {} bytes, more than {}: {}", bytes, options.max_weights, largest(std::move(consumers))),
                "see --max-weights, and --weights-growth, by which kernels may enlarge them");
  }
}

}  // namespace onnxc
