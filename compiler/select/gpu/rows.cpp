#include "compiler/select/gpu/rows.h"

#include "compiler/ops/norm/norm.h"
#include "compiler/ops/pool/pool.h"
#include "compiler/ops/reduce/reduce.h"
#include "compiler/ops/reduce/softmax.h"
#include "compiler/select/conv/conv_call.h"
#include "compiler/select/pool/pool.h"

namespace onnxc {

namespace {

void lower_pool_of_bytes(KernelQuery& l) {
  const View x = l.in(0, conv_input_layout(l)), y = l.out_any(0);
  l.call("gpu_max_pool_bytes")
      .pointer(x)
      .pointer(y)
      .params(pool_params(l, pool_sliding(l), x.layout.pixel_stride, y.layout.pixel_stride))
      .work(window_elements(pool_window(l.node(), l.extents(0)), y.extents))
      .emit();
  l.apply_epilogue(y);
}

}  // namespace

bool lower_gpu_softmax(KernelQuery& l) {
  if (l.type(0).element != ElementType::F32) return false;
  const bool log = l.node().op == "LogSoftmax";
  lower_softmax_rows(l, [&](PointerArg x, PointerArg y, Dim n, NamedArgs params) {
    // A warp keeps a row in its registers, so many values a lane.
    constexpr int64_t kMostItems = 32;
    int64_t items = 2;
    while (items < kMostItems && n.max_value() > 32 * items) items *= 2;
    const bool in_warp = n.max_value() <= 32 * items;
    StepBuilder step = l.call(in_warp ? "gpu_softmax_in_warp" : "gpu_softmax_in_block");
    if (in_warp) step.template_arg(items);
    step.template_arg(log).pointer(x).pointer(y).params(std::move(params)).emit();
  });
  return true;
}

bool lower_gpu_norm(KernelQuery& l) {
  if (l.output_type(0).element != ElementType::F32) return false;
  lower_norm_rows(l, l.node().op == "LayerNormalization" ? "gpu_layer_norm" : "gpu_rms_norm", true);
  return true;
}

bool lower_gpu_reduce(KernelQuery& l) {
  if (l.type(0).element != ElementType::F32 || !reduced_axes(l.graph(), l.node())) return false;
  lower_in_passes(l, {"gpu_reduce_last", "gpu_reduce_middle", "scalar::", "scalar::Same"});
  return true;
}

bool lower_gpu_byte_sum(KernelQuery& l) {
  lower_byte_sum(l, {"gpu_sum_bytes_last", "gpu_sum_bytes_middle"});
  return true;
}

bool lower_gpu_pool(KernelQuery& l) {
  if (!l.out_layout(0).channels_last) return false;
  if (has_byte_pool(l.graph(), l.node())) return lower_pool_of_bytes(l), true;
  if (!has_fast_pool(l.graph(), l.node())) return false;
  const Sliding s = pool_sliding(l);
  if (s.is_deep()) return false;
  const View x = l.in(0, conv_input_layout(l)), y = l.out_any(0);
  StepBuilder step = l.call(l.node().op == "AveragePool" ? "gpu_average_pool" : "gpu_max_pool");
  step.pointer(x).pointer(y).params(pool_params(l, s, x.layout.pixel_stride, y.layout.pixel_stride));
  step.epilogue(l.epilogue(l.image_shape(y.extents), step)).work(window_elements(pool_window(l.node(), l.extents(0)), y.extents)).emit();
  return true;
}

}  // namespace onnxc
