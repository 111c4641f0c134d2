#include "compiler/select/islands/islands.h"

#include "compiler/select/conv/conv_planar.h"
#include "compiler/select/gpu/attention.h"
#include "compiler/select/islands/attention.h"
#include "compiler/select/islands/conv_chain.h"
#include "compiler/select/islands/conv_scaled.h"
#include "compiler/select/islands/nearest.h"
#include "compiler/select/islands/norm_chain.h"
#include "compiler/select/islands/stem_pool.h"

namespace onnxc {

std::span<const Island> all_islands() {
  static constexpr Island kIslands[] = {
      {absorbed_by_scaled_conv, lower_scaled_conv},  // factors of channels -> 1x1 Conv
      {absorbed_by_conv_chain, lower_conv_chain},    // 1x1 Conv or stem -> depthwise Conv -> 1x1 Conv
      {absorbed_by_planar_pool, lower_planar_pool},  // planar Conv -> MaxPool
      {absorbed_by_stem_pool, lower_stem_pool},      // stem -> MaxPool
      {absorbed_by_nearest, lower_nearest},          // Distances -> TopK
      {absorbed_by_attention, lower_attention},      // MatMul -> scale, mask -> Softmax -> MatMul
      {absorbed_by_gpu_attention, lower_gpu_attention, Device::Gpu},
      {absorbed_by_norm, lower_norm_chain},  // mean -> difference -> squares -> mean -> quotient
      {absorbed_by_norm, lower_gpu_norm_chain, Device::Gpu},
  };
  return kIslands;
}

}  // namespace onnxc
