#include "compiler/select/gpu/attention.h"

#include <algorithm>
#include <cmath>

#include "compiler/select/gpu/rows_of_k.h"
#include "compiler/select/islands/attention_args.h"
#include "compiler/select/likely.h"

namespace onnxc {
namespace {

/// A batch that only a run tells counts as one.
double likely_batch(const Attention& a) { return a.batch.is_constant() ? static_cast<double>(a.batch.value()) : 1.0; }
/// Few queries meet the keys of a cache.
double likely_keys(const Attention& a) {
  constexpr int64_t kFewQueries = 16;
  constexpr double kCache = 1024;
  return !a.keys.is_constant() && a.queries.max_value() <= kFewQueries ? kCache : likely_extent(a.keys);
}

Dim rows_of(const Attention& a) { return a.batch * a.heads * a.queries; }
/// Whether runs may have few queries, and more keys than these.
bool meets_cache(const Attention& a) { return a.queries.min_value() <= contract::gpu::kFewQueries && !(a.keys == a.queries); }

/// The kernel for many queries: what the whole GPU could multiply and add while it runs. A block does 64 queries, or fewer where warps share keys,
/// and two of them keep a multiprocessor busy.
struct ManyQueries {
  int64_t tile, parts = 1;
  double macs = 0;
};

ManyQueries plan_for_many(const Attention& a, const Gpu& gpu) {
  constexpr double kMacsOfJoin = 1.3e7, kMacsOfStage = 2e7;  // half a microsecond, and until keys are there
  int64_t tile = 32;
  while (tile < std::max(a.size.value(), a.value_size.value())) tile += 32;
  ManyQueries best{.tile = tile};
  for (const int64_t parts : {1, 2, 4}) {
    // As in gpu/attention.hpp.
    const double queries = 64.0 / static_cast<double>(parts), stage = tile <= 64 && parts > 1 ? 64 : 32;
    const double resident = tile <= 32 ? 3 : tile <= 96 ? 2 : 1;  // by registers and shared memory (tests/gpu/kernels.list)
    const double blocks = std::ceil(likely_extent(a.queries) / queries) * likely_extent(a.heads) * likely_batch(a);
    const double of_one = std::ceil(blocks / gpu.multiprocessors), stages = std::ceil(likely_keys(a) / stage);
    const double busy = std::min(1.0, std::min(of_one, resident) / 2), of_block = queries * stages * stage * 2 * static_cast<double>(tile);
    const double macs = std::max(of_one * of_block / busy * gpu.multiprocessors, std::ceil(of_one / resident) * stages * kMacsOfStage) +
                        (parts > 1 ? kMacsOfJoin : 0);
    if (best.macs != 0 && macs >= best.macs) continue;
    best.parts = parts;
    best.macs = macs;
  }
  return best;
}

/// Bytes that attention reads and writes at least.
double bytes_of(const Attention& a) {
  const double size = static_cast<double>(a.size.value() + a.value_size.value());
  return 4 * likely_batch(a) * likely_extent(a.heads) * size * (likely_extent(a.queries) + likely_keys(a) / likely_extent(a.k.shared));
}

/// The kernel for few queries: what the whole GPU could multiply and add while it runs.
struct FewQueries {
  int64_t tile, splits = 1;
  double macs = 0;
};

/// Keys come by as many as a block has under way. Until they are there takes about a microsecond, which is what bounds the kernel as long as
/// all blocks fit at once; beyond that it is L2, from which each query reads all keys.
FewQueries plan_for_few(const Attention& a, const Gpu& gpu) {
  constexpr int64_t kThreads = 128, kUnderWay = 4, kMostSplits = 64;
  constexpr double kResident = 4;                                               // blocks of a multiprocessor, by registers
  constexpr double kMacsOfRound = 1.6e7, kMacsOfJoin = 2.5e7, kMacsOfByte = 3;  // a microsecond, one and a half, a byte from L2
  int64_t tile = 32;
  while (tile < std::max(a.size.value(), a.value_size.value())) tile *= 2;
  const double at_once = static_cast<double>(kThreads / (tile / 4) * kUnderWay), keys = likely_keys(a),
               rows = likely_batch(a) * likely_extent(a.heads) * likely_extent(a.queries);
  const double bytes = 4 * rows * keys * static_cast<double>(a.size.value() + a.value_size.value());
  FewQueries best{.tile = tile};
  for (int64_t splits = 1; splits <= kMostSplits; splits *= 2) {
    const double waves = std::ceil(rows * static_cast<double>(splits) / (gpu.multiprocessors * kResident)),
                 rounds = std::ceil(keys / static_cast<double>(splits) / at_once);
    const double macs = std::max(waves * rounds * kMacsOfRound, bytes * kMacsOfByte) + (splits > 1 ? kMacsOfJoin : 0);
    if (best.macs != 0 && macs >= best.macs) continue;
    best.splits = splits;
    best.macs = macs;
  }
  return best;
}

/// Where a kernel finds rows that begin at multiples of 16 bytes.
struct Rows {
  PointerArg data;
  Arg steps;  ///< between batches, heads and rows
};

/// The rows where they lie, if kernels can copy 16 bytes of them at once, else packed.
Rows rows_for(KernelQuery& l, const char* name, const Attention& a, const HeadRows& from, Dim count, Dim size) {
  View x = l.operand(from.source);
  const Dim first = x.pointer.offset + from.offset;
  const auto whole = [](Dim steps) { return round_up(steps, 4) == steps; };
  const bool own_rows = from.element == Dim(1) && whole(size) && whole(from.row) && whole(from.head) && whole(from.batch);
  x.pointer.offset = first;
  if (!(from.offset == Dim(0))) x.pointer.extent_used = 0;
  const auto steps = [](Dim batch, Dim head, Dim row) { return dims_arg(DimList{batch, head, row}); };
  if (own_rows && l.is_aligned(x, 16)) return {x.pointer, steps(from.batch, from.head, from.row)};
  const Dim row = gpu_row_of(size, ElementType::F32), heads = floor_div(a.heads, from.shared);
  const PointerArg to = l.workspace(name, ElementType::F32, a.batch * heads * count * row);
  StepBuilder step = l.call("gpu_pack_rows");
  step.call().bytes = a.batch * heads * count * (size + row) * 4;
  step.pointer(to).pointer(x).params({{"rows", dim_arg(count)},
                                      {"k", dim_arg(size)},
                                      {"to_stride", dim_arg(row)},
                                      {"from_row", dim_arg(from.row)},
                                      {"from_k", dim_arg(from.element)},
                                      {"batch", dim_arg(heads)},
                                      {"from_batch", dim_arg(from.head)},
                                      {"outer", dim_arg(a.batch)},
                                      {"from_outer", dim_arg(from.batch)}});
  step.emit();
  PointerArg packed = to;
  packed.writes = false;
  return {packed, steps(heads * count * row, count * row, row)};
}

/// Emits a step of one of both kernels. `parts` adds the argument for what blocks leave for each other, if the kernel has one.
template <class Parts>
void call_attention(KernelQuery& l, const Attention& a, const char* row, int64_t tile, int64_t splits, Parts parts) {
  const Rows q = rows_for(l, "queries", a, a.q, a.queries, a.size), k = rows_for(l, "keys", a, a.k, a.keys, a.size),
             v = rows_for(l, "values", a, a.v, a.keys, a.value_size);
  AttentionArgs args = attention_args(l, a, gpu_row_of(a.size, ElementType::F32), q.steps, k.steps, v.steps);
  if (splits > 1) args.params.emplace_back("splits", dim_arg(splits));
  const View y = l.out(0);
  StepBuilder step = l.call(row);
  step.template_arg(tile).pointer(y).pointer(q.data).pointer(k.data).pointer(v.data);
  if (args.cleared) step.pointer(*args.cleared);
  else step.null();
  parts(step);
  step.params(std::move(args.params));
  if (a.scores) step.epilogue(l.epilogue(*a.scores, std::move(args.operands)));
  step.macs(a.batch * a.heads * a.queries * a.keys * (a.size + a.value_size)).emit();
}

}  // namespace

std::vector<const Node*> absorbed_by_gpu_attention(const Surroundings& around, const Node& last, const Target& target) {
  if (target.gpu == nullptr) return {};
  const auto attention = attention_of(around, last, Device::Gpu);
  return attention ? attention->absorbed : std::vector<const Node*>{};
}

void lower_gpu_attention(KernelQuery& last) {
  const PerValue<Layout> layouts(last.graph().values.size());
  const Attention a = *attention_of(Surroundings(last.graph(), layouts), last.node(), Device::Gpu);
  const Gpu& gpu = *last.target().gpu;
  const ManyQueries many = plan_for_many(a, gpu);
  // Tickets and memory for what blocks leave each other are a unit's, which has a known number.
  const bool known = rows_of(a).is_constant();
  if (!known && meets_cache(a)) {
    last.consider("gpu_attention_any", many.macs, bytes_of(a), [&last, a, many] {
      call_attention(last, a, "gpu_attention_any", many.tile, 1, [&](StepBuilder& step) {
        using contract::gpu::kFewRows, contract::gpu::kMostSplits;
        step.template_arg(many.parts);
        step.pointer(
            last.workspace("parts", ElementType::F32, contract::gpu::attention_parts(kFewRows, a.value_size.value(), kMostSplits)));
        step.call().tickets = contract::gpu::tickets(kFewRows, kMostSplits);
      });
    });
    return;
  }
  last.consider("gpu_attention", many.macs, bytes_of(a), [&last, a, many] {
    call_attention(last, a, "gpu_attention", many.tile, 1, [&](StepBuilder& step) { step.template_arg(many.parts); });
  });
  if (!known) return;
  const FewQueries few = plan_for_few(a, gpu);
  last.consider("gpu_attention_decode", few.macs, bytes_of(a), [&last, a, few] {
    call_attention(last, a, "gpu_attention_decode", few.tile, few.splits, [&](StepBuilder& step) {
      if (few.splits == 1) return static_cast<void>(step.null());
      const int64_t queries = rows_of(a).value();
      step.pointer(last.workspace("parts", ElementType::F32, contract::gpu::attention_parts(queries, a.value_size.value(), few.splits)));
      step.call().tickets = contract::gpu::tickets(queries, few.splits);
    });
  });
}

}  // namespace onnxc
