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

/// With more operands than masks have, where registers are fewest.
struct ChosenAndMasked {
  template <class L, class X0, class X1, class X2>
  static ONNXC_BOTH auto apply(L lanes, X0 x0, X1 x1, X2 x2) {
    return (x1 ? x0 : lanes(-1e9f)) + x2;
  }
};

template <int kSize>
void attention_of(Queue& gpu, float* y, const float* x) noexcept {
  attention<kSize>(gpu, y, x, x, x, nullptr, AttentionParams{});
  attention<kSize>(gpu, y, x, x, x, nullptr, AttentionParams{}, Epilogue<Masked, OfScores<float>>{{x, 0, 0, 0}});
  attention<kSize, 2>(gpu, y, x, x, x, nullptr, AttentionParams{}, Epilogue<Masked, OfScores<float>>{{x, 0, 0, 0}});
  attention<kSize, 4>(gpu, y, x, x, x, nullptr, AttentionParams{}, Epilogue<Masked, OfScores<float>>{{x, 0, 0, 0}});
}
template <int kSize>
void decode_of(Queue& gpu, float* y, const float* x) noexcept {
  attention_decode<kSize>(gpu, y, x, x, x, nullptr, y, AttentionParams{});
  attention_decode<kSize>(gpu, y, x, x, x, nullptr, y, AttentionParams{}, Epilogue<Masked, OfScores<float>>{{x, 0, 0, 0}});
}

Status attentions(Queue& gpu, float* y, const float* x, const bool* chosen) noexcept {
  decode_of<32>(gpu, y, x);
  decode_of<64>(gpu, y, x);
  decode_of<128>(gpu, y, x);
  attention_of<32>(gpu, y, x);
  attention_of<64>(gpu, y, x);
  attention_of<96>(gpu, y, x);
  attention_of<128>(gpu, y, x);
  attention<128>(gpu, y, x, x, x, chosen, AttentionParams{},
                 Epilogue<ChosenAndMasked, OfScores<bool>, OfScores<float>>{{chosen, 0, 0, 0}, {x, 0, 0, 0}});
  return gpu.result();
}

}  // namespace onnxc::test
