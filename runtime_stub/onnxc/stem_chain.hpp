// The first convolution of a network with what follows it, by bands of rows (row_bands.hpp), since its output is the
// widest image in many networks.
//
//   stem_depthwise      stem -> depthwise [-> project 1x1]      MobileNet, EfficientNet
//   stem_pool           stem -> max pooling                     ResNet, SqueezeNet
//   stem_winograd_pool  the same, with the stem by stem_winograd
//
//   stem_pool<14, 2, 2>(share, image, w, y, rows, {.stem = {.h = 224, .w = 224, .cin = 3, .oh = 112, …},
//                                                  .pool = {.h = 112, .w = 112, .c = 64, .oh = 56, …, .y_pixel = 64},
//                                                  .band = 8, .pitch = 64}, Epilogue<Relu>{}, Epilogue<Keep>{});
//
// x, weights and template arguments of the stem are conv_stem's, those of the rest depthwise_chain's and max_pool's.
// y_pixel of the stem, and x_pixel of what reads it, are `pitch`. rows: ring_rows * ow * pitch floats of this share,
// and for stem_depthwise with a projection `band` rows more (stem_depthwise_scratch). Winograd makes T rows at a time,
// the same ones whatever the share, so its ring has T - 1 rows more.
#pragma once
#include "conv_stem.hpp"
#include "depthwise_chain.hpp"
#include "pool.hpp"
#include "stem_winograd.hpp"

namespace onnxc::inline ONNXC_ISA {

struct StemDepthwiseParams {
  ConvParams stem;
  DepthwiseChainParams chain;
};

struct StemPoolParams {
  ConvParams stem;
  PoolParams pool;
  int64_t band = 1;   // rows of the pool
  int64_t pitch = 0;  // elements between pixels of the ring
};

namespace detail {

/// Computes output rows [row, row + count) of an image into a ring, from row `slot` of the ring on.
template <int MR, int NV, int SX, class Epi>
ONNXC_INLINE void stem_rows(const float* x, const float* w, float* ring, int64_t image, int64_t row, int64_t count, int64_t slot,
                            const ConvParams& p, const Epi& epi) {
  for (int64_t i = 0; i < count; ++i) stem_line<MR, NV, SX>(x + image * p.cin * p.h * p.w, w, ring, (slot + i) * p.ow, row + i, p, epi);
}

/// Computes rows [top, bottom) of the pool from the ring.
template <class Epi>
ONNXC_INLINE void pool_ring(const float* ring, int64_t rows, int64_t image, int64_t top, int64_t bottom, float* y, const StemPoolParams& p,
                            const Epi& epi) {
  for (int64_t oy = top; oy < bottom; ++oy) {
    const auto address = [&](int64_t iy) { return ring + iy % rows * p.stem.ow * p.pitch; };
    pool_row(oy, (image * p.pool.oh + oy) * p.pool.ow, address, p.pitch, y, p.pool, kMaxStart, Larger{}, unscaled, epi);
  }
}

}  // namespace detail

/// Floats of scratch of stem_depthwise for one share.
constexpr int64_t stem_depthwise_scratch(const StemDepthwiseParams& p, bool projects) {
  return contract::stem_depthwise_scratch(detail::chain_shape(p.chain, projects), p.chain.band);
}

/// MR2 = 0: nothing is projected.
template <int MR1, int NV1, int SX1, int KH, int KW, int SX, int MR2, int NV2, bool kPairs = false, bool kSums = false,
          class Epi1 = Epilogue<Keep>, class Epi2 = Epilogue<Keep>, class Epi3 = Epilogue<Keep>>
void stem_depthwise(Share share, const float* x, const float* stem_w, const float* w, const float* project_w, float* y, float* rows,
                    StemDepthwiseParams p, Epi1 epi1 = {}, Epi2 epi2 = {}, Epi3 epi3 = {}) {
  ConvParams& stem = p.stem;
  const DepthwiseChainParams& chain = p.chain;
  const ConvParams conv = detail::inner_params<(MR2 > 0)>(chain, chain.pitch);
  const int64_t ring = ring_rows(conv, chain.band), line = stem.ow * chain.pitch;
  stem.y_pixel = chain.pitch;
  float* const middle = MR2 > 0 ? rows + ring * line : y;
  detail::by_bands(share, conv, chain.band, [&](int64_t image, int64_t top, int64_t bottom, const auto& fresh) ONNXC_INLINE_LAMBDA {
    fresh([&](int64_t row, int64_t count, int64_t slot)
              ONNXC_INLINE_LAMBDA { detail::stem_rows<MR1, NV1, SX1>(x, stem_w, rows, image, row, count, slot, stem, epi1); });
    detail::depthwise_blocks<KH, KW, SX, kSums>(
        top, bottom, MR2 > 0 ? 0 : image * conv.oh + top, [&](int64_t iy) { return rows + iy % ring * line; }, w, middle, conv, epi2);
    if constexpr (MR2 > 0) detail::project_band<MR2, NV2, kPairs>(image * conv.oh + top, bottom - top, middle, project_w, y, chain, epi3);
  });
}

template <int MR, int NV, int SX, class Epi1 = Epilogue<Keep>, class Epi2 = Epilogue<Keep>>
void stem_pool(Share share, const float* x, const float* w, float* y, float* rows, StemPoolParams p, Epi1 epi1 = {}, Epi2 epi2 = {}) {
  const int64_t ring = ring_rows(p.pool, p.band);
  p.stem.y_pixel = p.pitch;
  detail::by_bands(share, p.pool, p.band, [&](int64_t image, int64_t top, int64_t bottom, const auto& fresh) ONNXC_INLINE_LAMBDA {
    fresh([&](int64_t row, int64_t count, int64_t slot)
              ONNXC_INLINE_LAMBDA { detail::stem_rows<MR, NV, SX>(x, w, rows, image, row, count, slot, p.stem, epi1); });
    detail::pool_ring(rows, ring, image, top, bottom, y, p, epi2);
  });
}

/// u, v and template arguments are stem_winograd's.
template <int T, int R, int P, int SX, class Epi1 = Epilogue<Keep>, class Epi2 = Epilogue<Keep>>
void stem_winograd_pool(Share share, const float* x, const float* u, float* y, float* rows, float* v, StemPoolParams p, Epi1 epi1 = {},
                        Epi2 epi2 = {}) {
  ConvParams& stem = p.stem;
  const detail::StemPlanes planes(stem, R, P);
  const int64_t ring = ring_rows(p.pool, p.band, T);
  stem.y_pixel = p.pitch;
  int64_t current = -1, ready = 0;  // rows up to `ready` of image `current` are made
  detail::by_bands(share, p.pool, p.band, [&](int64_t image, int64_t top, int64_t bottom, const auto& fresh) ONNXC_INLINE_LAMBDA {
    fresh([&](int64_t from, int64_t to) ONNXC_INLINE_LAMBDA {
      if (image != current) current = image, ready = 0;
      if (ready + T <= from) ready = from / T * T;
      for (; ready < to; ready += T) {
        int64_t at[T];
        for (int64_t t = 0; t < T; ++t) at[t] = (ready + t) % ring * stem.ow;
        detail::stem_winograd_band<T, R, P, SX>(x + image * stem.cin * stem.h * stem.w, u, rows, v, ready,
                                                stem.oh - ready < T ? stem.oh - ready : T, at, planes, stem, epi1);
      }
    });
    detail::pool_ring(rows, ring, image, top, bottom, y, p, epi2);
  });
}

}  // namespace onnxc
