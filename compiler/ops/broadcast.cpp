#include "compiler/ops/broadcast.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/ops/operator.h"
#include "compiler/support/error_codes.h"

namespace onnxc {
namespace {

/// Sizes that are tried for extents: small ones, where one extent may be 1 and the other more, and others with
/// various remainders by small numbers.
constexpr int64_t kTriedSizes[] = {1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 31, 32, 64, 100};
constexpr int kMostTried = 4096;

/// Whether the caller's sizes can make a 1 and b more than 1. This is tried, not proved: if it is not found, a run
/// requires the extents to be equal, and says so.
bool found_apart(Dim a, Dim b) {
  std::map<std::string, Dim> symbols;
  a.collect_symbols(symbols);
  b.collect_symbols(symbols);
  Sizes sizes;
  uint64_t state = 1;
  for (int i = 0; i < kMostTried; ++i) {
    int64_t number = i;  // the index of a combination; with many symbols, sizes are drawn at random
    for (const auto& [name, symbol] : symbols) {
      constexpr auto kSizes = static_cast<int64_t>(std::size(kTriedSizes));
      state = state * 6364136223846793005u + 1442695040888963407u;
      const int64_t pick = symbols.size() <= 3 ? number % kSizes : static_cast<int64_t>((state >> 33) % static_cast<uint64_t>(kSizes));
      number /= kSizes;
      sizes[name] = std::clamp(kTriedSizes[pick], symbol.min_value(), symbol.max_value());
    }
    if (a.evaluate(sizes) == 1 && b.evaluate(sizes) > 1) return true;
    if (symbols.size() <= 3 && number > 0) return false;  // all combinations were tried
  }
  return false;
}

/// Whether `small` is one of the extents that were broadcast to `large`.
bool is_part(Dim small, Dim large) {
  DimList met;
  collect_broadcast(large, met);
  return std::ranges::find(met, small) != met.end();
}

bool may_be_one(Dim d) { return d.min_value() <= 1 && d.max_value() >= 1; }

}  // namespace

bool may_repeat(Dim own, Dim result) {
  if (own == result || own.is_constant() || !may_be_one(own)) return false;
  return own.depends_on_run() || result.depends_on_run() || found_apart(own, result);
}

Dim repeat_factor(Dim own, Dim result) {
  if (own == Dim(1)) return 0;
  return may_repeat(own, result) ? min(1, max(own - 1, 0)) : Dim(1);
}

DimList broadcast_strides(const Extents& result, const Extents& extents, const DimList& strides) {
  DimList list(result.size(), 0);
  const std::size_t ahead = result.size() - extents.size();
  for (std::size_t axis = 0; axis < extents.size(); ++axis)
    list[axis + ahead] = strides[axis] * repeat_factor(extents[axis], result[axis + ahead]);
  return list;
}

Dim Inference::meet(Dim a, Dim b) {
  const char* const what = "broadcasting";
  const bool repeats_a = may_repeat(a, b), repeats_b = may_repeat(b, a);
  if (!repeats_a && !repeats_b) return unify(a, b, what);
  if (!a.depends_on_run() && !b.depends_on_run()) {
    const std::pair<Dim, Dim> pair{a, b};
    if (std::ranges::find(graph_.meetings, pair) == graph_.meetings.end()) graph_.meetings.push_back(pair);
  }
  if (!repeats_a || !repeats_b) {
    const Dim small = repeats_a ? a : b, large = repeats_a ? b : a;
    if (is_part(small, large)) return large;
    require({small, large, Requirement::Kind::OneOrEqual}, what);
    return large;
  }
  const std::optional<Dim> bound_a = a.upper_bound(), bound_b = b.upper_bound();
  require({a, b, Requirement::Kind::Broadcast}, what);
  return let(onnxc::broadcast(a, b), "wide", bound_a && bound_b ? std::optional(max(*bound_a, *bound_b)) : std::nullopt);
}

Extents Inference::broadcast(const std::vector<Extents>& shapes) {
  std::size_t rank = 0;
  for (const Extents& s : shapes) rank = std::max(rank, s.size());
  Extents result(rank, Dim(1));
  for (const Extents& s : shapes) {
    for (std::size_t k = 0; k < s.size(); ++k) {
      Dim& r = result[rank - s.size() + k];
      if (s[k] == r || s[k] == Dim(1)) continue;
      r = r == Dim(1) ? s[k] : meet(r, s[k]);
    }
  }
  return result;
}

Extents Inference::spread(const Extents& from, const Extents& to, const char* what) {
  if (from.size() > to.size()) fail(ErrorCode::ShapesDisagree, fmt::format("{} does not spread to {}", text(from), text(to)));
  const Extents result = broadcast({to, from});
  for (std::size_t k = 0; k < to.size(); ++k) unify(result[k], to[k], what);
  return result;
}

}  // namespace onnxc
