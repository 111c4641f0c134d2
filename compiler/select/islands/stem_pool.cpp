#include "compiler/select/islands/stem_pool.h"

#include <optional>

#include "compiler/ops/pool/pool.h"
#include "compiler/select/conv/stem_winograd.h"
#include "compiler/select/islands/conv_chain.h"
#include "compiler/select/pool/pool.h"
#include "runtime_stub/onnxc/contract/pool.hpp"
#include "runtime_stub/onnxc/contract/row_bands.hpp"

namespace onnxc {

std::vector<const Node*> absorbed_by_stem_pool(const Surroundings& around, const Node& pool, const Target& target) {
  const Graph& graph = around.graph;
  const Node* const stem = producer_of_max_pool(around, pool);
  if (target.bare || stem == nullptr || is_planar_pool(around, pool)) return {};
  const ValueId image = pool.input(0);
  if (pool_window(pool, graph[image].type.extents).kernel[0].value() > contract::kMostPoolRows || !is_stem(graph, *stem, target) ||
      image_bytes(graph, image) <= target.workspace_bytes())
    return {};
  return {stem};
}

void lower_stem_pool(KernelQuery& l) {
  KernelQuery stem_query = l.of(*l.absorbed().front());
  const auto stem = stem_of(stem_query);
  ONNXC_CHECK(stem, "an absorbed stem has a kernel");
  const ConvCall& c = stem->call;
  const Window window = pool_window(l.node(), l.extents(0));
  const int64_t pitch = chain_pitch(c.cout), kh = window.kernel[0].value();
  const auto build = [&](const std::optional<StemWinograd>& plan) {
    // Rows of the stem that are computed at once.
    const int64_t rows_at_once = plan ? plan->outputs : 1;
    const auto floats = [&](int64_t band) {
      return contract::stem_pool_scratch(contract::ring_rows(band, window.strides[0], kh, window.dilations[0], rows_at_once), c.ow.value(),
                                         pitch);
    };
    const int64_t band = choose_band(l.target(), l.output_type(0).extents[2].value(), floats);
    const View x = stem_input(stem_query, *stem), y = l.out_any(0);
    const PointerArg w = plan ? stem_winograd_weights(stem_query, *stem, *plan) : stem_weights(stem_query, *stem),
                     ring = l.thread_workspace("rows", ElementType::F32, Dim(floats(band)));
    auto stem_arguments = stem_params(stem_query, *stem, x, y);
    StepBuilder step = l.call(plan ? "stem_winograd_pool" : "stem_pool");
    if (plan) stem_winograd_args(step, *stem, *plan);
    else stem_args(step, *stem);
    step.pointer(x).pointer(w).pointer(y).pointer(ring);
    if (plan) step.pointer(l.thread_workspace("transformed", ElementType::F32, plan->scratch));
    step.params({{"stem", params_arg(std::move(stem_arguments))},
                 {"pool", params_arg(pool_params(l, pool_sliding(l), pitch, y.layout.pixel_stride))},
                 {"band", dim_arg(band)},
                 {"pitch", dim_arg(pitch)}});
    step.epilogue(stem_query.epilogue(stem_query.image_shape(stem_query.output_type(0).extents), step))
        .epilogue(l.epilogue(l.image_shape(y.extents), step));
    step.macs(c.pixels * (c.cout * c.cin * c.kh * c.kw)).emit();
  };
  l.consider("stem_pool", c.tiled_macs(stem->tile), 0, [&] { build(std::nullopt); });
  if (const auto plan = plan_stem_winograd(stem_query, *stem))
    l.consider("stem_winograd_pool", plan->macs, 0, [&, plan] { build(plan); }, plan->growth(c));
  l.build_cheapest();
}

}  // namespace onnxc
