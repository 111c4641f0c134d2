// Attention, for heads of every size, with scores as they are and masked.
#include <onnxc/gpu/attention.hpp>
#include <onnxc/gpu/attention_decode.hpp>

namespace onnxc::test {

using namespace onnxc::gpu;

struct Masked {
  template <class L, class X0, class X1>
  static ONNXC_BOTH auto apply(L, X0 x0, X1 x1) {
    return x0 + x1;
  }
};

template <int kSize>
void attention_of(Queue& gpu, float* y, const float* x) noexcept {
  attention<kSize>(gpu, y, x, x, x, nullptr, AttentionParams{});
  attention<kSize>(gpu, y, x, x, x, nullptr, AttentionParams{}, Epilogue<Masked, OfScores<float>>{{x, 0, 0, 0}});
}
template <int kSize>
void decode_of(Queue& gpu, float* y, const float* x) noexcept {
  attention_decode<kSize>(gpu, y, x, x, x, nullptr, y, AttentionParams{});
  attention_decode<kSize>(gpu, y, x, x, x, nullptr, y, AttentionParams{}, Epilogue<Masked, OfScores<float>>{{x, 0, 0, 0}});
}

Status attentions(Queue& gpu, float* y, const float* x) noexcept {
  decode_of<32>(gpu, y, x);
  decode_of<64>(gpu, y, x);
  decode_of<128>(gpu, y, x);
  attention_of<32>(gpu, y, x);
  attention_of<64>(gpu, y, x);
  attention_of<96>(gpu, y, x);
  attention_of<128>(gpu, y, x);
  return gpu.result();
}

}  // namespace onnxc::test
