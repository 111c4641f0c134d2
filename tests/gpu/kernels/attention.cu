// Attention, for heads of every size.
#include <onnxc/gpu/attention.hpp>
#include <onnxc/gpu/attention_decode.hpp>

namespace onnxc::test {

using namespace onnxc::gpu;

Status attentions(Queue& gpu, float* y, const float* x) noexcept {
  attention_decode<32>(gpu, y, x, x, x, x, y, AttentionParams{});
  attention_decode<64>(gpu, y, x, x, x, x, y, AttentionParams{});
  attention_decode<128>(gpu, y, x, x, x, x, y, AttentionParams{});
  attention<32>(gpu, y, x, x, x, x, AttentionParams{});
  attention<64>(gpu, y, x, x, x, x, AttentionParams{});
  attention<96>(gpu, y, x, x, x, x, AttentionParams{});
  attention<128>(gpu, y, x, x, x, x, AttentionParams{});
  return gpu.result();
}

}  // namespace onnxc::test
