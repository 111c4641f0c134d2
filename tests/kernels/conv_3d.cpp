// Convolutions, transposed convolutions and pools of volumes against loops.
#include <onnxc/conv_3d.hpp>
#include <onnxc/pool_3d.hpp>
#include <onnxc/winograd.hpp>

#include "compiler/select/weights/pack.h"
#include "conv_loop.hpp"

using namespace onnxc;
using namespace onnxc::test;

namespace {

/// Calls visit(iz, iy, ix, kz, ky, kx) for each tap of one output of a convolution that lies inside the input.
template <class P, class Visit>
void for_taps(const P& p, int64_t oz, int64_t oy, int64_t ox, Visit visit) {
  for (int64_t kz = 0; kz < p.kd; ++kz) {
    for (int64_t ky = 0; ky < p.kh; ++ky) {
      for (int64_t kx = 0; kx < p.kw; ++kx) {
        const int64_t iz = oz * p.stride_z - p.pad_front + kz * p.dilation_z, iy = oy * p.stride_y - p.pad_top + ky * p.dilation_y,
                      ix = ox * p.stride_x - p.pad_left + kx * p.dilation_x;
        if (iz >= 0 && iz < p.d && iy >= 0 && iy < p.h && ix >= 0 && ix < p.w) visit(iz, iy, ix, kz, ky, kx);
      }
    }
  }
}

/// The same for a transposed convolution, where taps spread the input.
template <class Visit>
void for_transposed_taps(const ConvParams& p, int64_t oz, int64_t oy, int64_t ox, Visit visit) {
  for (int64_t iz = 0; iz < p.d; ++iz) {
    for (int64_t iy = 0; iy < p.h; ++iy) {
      for (int64_t ix = 0; ix < p.w; ++ix) {
        const int64_t z = oz + p.pad_front - iz * p.stride_z, y = oy + p.pad_top - iy * p.stride_y, x = ox + p.pad_left - ix * p.stride_x;
        if (z % p.dilation_z != 0 || y % p.dilation_y != 0 || x % p.dilation_x != 0) continue;
        const int64_t kz = z / p.dilation_z, ky = y / p.dilation_y, kx = x / p.dilation_x;
        if (kz >= 0 && kz < p.kd && ky >= 0 && ky < p.kh && kx >= 0 && kx < p.kw) visit(iz, iy, ix, kz, ky, kx);
      }
    }
  }
}

/// Compares run(share, x, y) with answer(n, oz, oy, ox, channel), for volumes with gaps between pixels.
template <class P, class Run, class Answer>
void check(const P& p, int64_t channels, int threads, double tolerance, Run run, Answer answer) {
  INFO("d " << p.d << " h " << p.h << " w " << p.w << " od " << p.od << " oh " << p.oh << " ow " << p.ow << " k " << p.kd << "x" << p.kh
            << "x" << p.kw << " channels " << channels);
  const int64_t pixels = p.n * p.od * p.oh * p.ow;
  std::vector<float> y(size_t(pixels * p.y_pixel), kGuard);
  for (int i = 0; i < threads; ++i) run(Share{i, threads}, y.data());
  int64_t wrong = 0;
  for (int64_t i = 0; i < pixels; ++i) {
    const int64_t ox = i % p.ow, oy = i / p.ow % p.oh, oz = i / (p.ow * p.oh) % p.od, n = i / (p.ow * p.oh * p.od);
    for (int64_t c = 0; c < p.y_pixel; ++c) {
      const float got = y[size_t(i * p.y_pixel + c)];
      if (c >= channels) wrong += got != kGuard;
      else if (const double want = answer(n, oz, oy, ox, c); want != double(got)) wrong += !(std::fabs(double(got) - want) <= tolerance);
    }
  }
  CHECK(wrong == 0);
}

int64_t at(const ConvParams& p, int64_t n, int64_t z, int64_t y, int64_t x) { return (((n * p.d + z) * p.h + y) * p.w + x) * p.x_pixel; }

ConvParams sized(ConvParams p, int64_t pad_end) {
  p.od = out_size(p.d, p.kd, p.stride_z, p.dilation_z, p.pad_front + pad_end);
  p.oh = out_size(p.h, p.kh, p.stride_y, p.dilation_y, p.pad_top + pad_end);
  p.ow = out_size(p.w, p.kw, p.stride_x, p.dilation_x, p.pad_left + pad_end);
  p.x_pixel = p.cin + 3;
  p.y_pixel = p.cout + 5;
  return p;
}

/// `form`: 0 for the direct kernel, else the number of Winograd's outputs.
template <int form, int MR, int NV, bool untransformed = false>
void check_conv(ConvParams given, int64_t pad_end, int threads = 1, int64_t block = 10) {
  const ConvParams p = sized(given, pad_end);
  const int64_t cin = p.cin / p.group, cout = p.cout / p.group, taps = p.kd * p.kh * p.kw;
  const pack::ConvShape shape{.cout = p.cout, .cin = cin, .kh = p.kd * p.kh, .kw = p.kw, .group = p.group, .nr = NV * Vec::width};
  const auto x = numbers(p.n * p.d * p.h * p.w * p.x_pixel, 1), w = numbers(p.cout * cin * taps, 2), bias = numbers(p.cout, 3);
  const int64_t pieces = p.kd * ((p.kh + 2) / 3) * ((p.kw + 2) / 3);
  const auto transformed = [&] {
    const auto cut = pack::square_pieces(w, p.kd, p.kh, p.kw, 3);
    const pack::ConvShape of_pieces{.cout = p.cout, .cin = cin, .kh = pieces * 3, .kw = 3, .nr = shape.nr};
    return untransformed ? pack::conv_stem(cut, of_pieces) : pack::winograd(cut, of_pieces, form);
  };
  const Aligned packed(form == 0 ? pack::conv(w, shape) : transformed()), packed_bias(pack::conv_bias(bias, shape));
  constexpr int kForm = form == 0 ? 2 : form;
  const Scratch scratch(threads, winograd_scratch<kForm, 3, NV, untransformed>(p.cin, block, pieces));
  ConvParams q = p;
  q.bias = packed_bias;
  check(
      p, p.cout, threads, sum_tolerance(taps * cin),
      [&](Share share, float* y) {
        if constexpr (form == 0) conv_3d<MR, NV>(share, x.data(), packed.p, y, q);
        else winograd<form, 3, MR, NV, untransformed, true>(share, x.data(), packed.p, y, scratch.of(share.index), q, block);
      },
      [&](int64_t n, int64_t oz, int64_t oy, int64_t ox, int64_t co) {
        double sum = double(bias[size_t(co)]);
        for_taps(p, oz, oy, ox, [&](int64_t iz, int64_t iy, int64_t ix, int64_t kz, int64_t ky, int64_t kx) {
          for (int64_t ci = 0; ci < cin; ++ci)
            sum += double(x[size_t(at(p, n, iz, iy, ix) + co / cout * cin + ci)]) *
                   double(w[size_t((((co * cin + ci) * p.kd + kz) * p.kh + ky) * p.kw + kx)]);
        });
        return sum;
      });
}

template <int MR, int NV>
void check_transposed(ConvParams p, int threads = 1) {
  p.od = (p.d - 1) * p.stride_z + (p.kd - 1) * p.dilation_z + 1 - 2 * p.pad_front;
  p.oh = (p.h - 1) * p.stride_y + (p.kh - 1) * p.dilation_y + 1 - p.pad_top;
  p.ow = (p.w - 1) * p.stride_x + (p.kw - 1) * p.dilation_x + 1 - p.pad_left;
  p.x_pixel = p.cin + 3;
  p.y_pixel = p.cout + 5;
  const int64_t cin = p.cin / p.group, cout = p.cout / p.group, taps = p.kd * p.kh * p.kw;
  const pack::ConvShape shape{.cout = p.cout, .cin = cin, .kh = p.kd * p.kh, .kw = p.kw, .group = p.group, .nr = NV * Vec::width};
  const auto x = numbers(p.n * p.d * p.h * p.w * p.x_pixel, 1), w = numbers(p.cin * cout * taps, 2), bias = numbers(p.cout, 3);
  const Aligned packed(pack::conv_transpose(w, shape)), packed_bias(pack::conv_bias(bias, shape));
  ConvParams q = p;
  q.bias = packed_bias;
  check(
      p, p.cout, threads, sum_tolerance(taps * cin),
      [&](Share share, float* y) { conv_transpose_3d<MR, NV>(share, x.data(), packed.p, y, q); },
      [&](int64_t n, int64_t oz, int64_t oy, int64_t ox, int64_t co) {
        double sum = double(bias[size_t(co)]);
        for_transposed_taps(p, oz, oy, ox, [&](int64_t iz, int64_t iy, int64_t ix, int64_t kz, int64_t ky, int64_t kx) {
          for (int64_t ci = co / cout * cin, end = ci + cin; ci < end; ++ci)
            sum += double(x[size_t(at(p, n, iz, iy, ix) + ci)]) *
                   double(w[size_t((((ci * cout + co % cout) * p.kd + kz) * p.kh + ky) * p.kw + kx)]);
        });
        return sum;
      });
}

void check_pools(PoolParams p, int64_t pad_end, int threads) {
  p.pad_back = p.pad_bottom = p.pad_right = pad_end;
  p.od = out_size(p.d, p.kd, p.stride_z, p.dilation_z, p.pad_front + pad_end);
  p.oh = out_size(p.h, p.kh, p.stride_y, p.dilation_y, p.pad_top + pad_end);
  p.ow = out_size(p.w, p.kw, p.stride_x, p.dilation_x, p.pad_left + pad_end);
  p.x_pixel = p.c + 3;
  p.y_pixel = p.c + 5;
  const auto x = numbers(p.n * p.d * p.h * p.w * p.x_pixel, 1);
  const auto value = [&](int64_t n, int64_t z, int64_t y, int64_t ix, int64_t c) {
    return double(x[size_t((((n * p.d + z) * p.h + y) * p.w + ix) * p.x_pixel + c)]);
  };
  check(
      p, p.c, threads, 0, [&](Share share, float* y) { max_pool_3d(share, x.data(), y, p); },
      [&](int64_t n, int64_t oz, int64_t oy, int64_t ox, int64_t c) {
        double most = -std::numeric_limits<double>::infinity();
        for_taps(p, oz, oy, ox,
                 [&](int64_t iz, int64_t iy, int64_t ix, int64_t, int64_t, int64_t) { most = std::fmax(most, value(n, iz, iy, ix, c)); });
        return most;
      });
  for (const bool padded : {false, true}) {
    p.count_include_pad = padded;
    check(
        p, p.c, threads, sum_tolerance(p.kd * p.kh * p.kw), [&](Share share, float* y) { average_pool_3d(share, x.data(), y, p); },
        [&](int64_t n, int64_t oz, int64_t oy, int64_t ox, int64_t c) {
          double sum = 0, count = 0;
          for_taps(p, oz, oy, ox, [&](int64_t iz, int64_t iy, int64_t ix, int64_t, int64_t, int64_t) {
            sum += value(n, iz, iy, ix, c);
            ++count;
          });
          return sum / (padded ? double(p.kd * p.kh * p.kw) : std::fmax(count, 1.0));
        });
  }
}

}  // namespace

TEST_CASE("convolutions of volumes agree with the loop") {
  check_conv<0, 6, 2>(
      {.h = 7, .w = 9, .cin = 10, .cout = 20, .kh = 3, .kw = 3, .pad_top = 1, .pad_left = 1, .d = 5, .kd = 3, .pad_front = 1}, 1);
  check_conv<0, 14, 2>({.n = 2,
                        .h = 9,
                        .w = 8,
                        .cin = 3,
                        .cout = 33,
                        .kh = 3,
                        .kw = 2,
                        .stride_y = 2,
                        .stride_x = 1,
                        .pad_top = 1,
                        .d = 7,
                        .kd = 3,
                        .stride_z = 2,
                        .pad_front = 2},
                       1, 3);
  check_conv<0, 4, 1>(
      {.h = 5, .w = 6, .cin = 8, .cout = 12, .kh = 1, .kw = 3, .dilation_x = 2, .group = 4, .d = 6, .kd = 2, .dilation_z = 3}, 0, 2);
  check_conv<0, 6, 2>({.h = 3, .w = 3, .cin = 4, .cout = 8, .kh = 2, .kw = 2, .d = 1, .kd = 3, .pad_front = 4},
                      4);  // windows that lie outside altogether
}

TEST_CASE("winograd of volumes agrees with the loop") {
  check_conv<4, 7, 4>(
      {.h = 9, .w = 10, .cin = 16, .cout = 40, .kh = 3, .kw = 3, .pad_top = 1, .pad_left = 1, .d = 6, .kd = 3, .pad_front = 1}, 1, 2);
  check_conv<2, 14, 2>({.n = 2,
                        .h = 8,
                        .w = 5,
                        .cin = 37,
                        .cout = 17,
                        .kh = 3,
                        .kw = 3,
                        .pad_top = 1,
                        .pad_left = 1,
                        .d = 4,
                        .kd = 2,
                        .dilation_z = 2,
                        .pad_front = 1},
                       1, 1, 7);
  check_conv<4, 6, 2>({.h = 6, .w = 6, .cin = 300, .cout = 33, .kh = 3, .kw = 3, .d = 3, .kd = 3}, 0);
  // Winograd in pieces of the kernel.
  check_conv<4, 14, 1>({.h = 24, .w = 20, .cin = 16, .cout = 12, .kh = 6, .kw = 6, .pad_top = 2, .pad_left = 2}, 3, 2);
  check_conv<4, 6, 2>(
      {.n = 2, .h = 11, .w = 9, .cin = 20, .cout = 33, .kh = 4, .kw = 7, .pad_top = 1, .pad_left = 5, .d = 3, .kd = 2, .pad_front = 1}, 2,
      3, 4);
  check_conv<2, 8, 1>({.h = 9, .w = 4, .cin = 9, .cout = 7, .kh = 8, .kw = 3}, 1);
  check_conv<4, 14, 1, true>({.h = 24, .w = 20, .cin = 16, .cout = 12, .kh = 6, .kw = 6, .pad_top = 2, .pad_left = 2}, 3, 2);
  check_conv<4, 6, 2, true>(
      {.n = 2, .h = 11, .w = 9, .cin = 20, .cout = 33, .kh = 4, .kw = 7, .pad_top = 1, .pad_left = 5, .d = 3, .kd = 2, .pad_front = 1}, 2,
      3, 4);
  check_conv<2, 7, 4, true>({.h = 8, .w = 5, .cin = 37, .cout = 17, .kh = 3, .kw = 3, .pad_top = 1, .pad_left = 1, .d = 4, .kd = 2}, 1);
}

TEST_CASE("transposed convolutions of volumes agree with the loop") {
  check_transposed<6, 2>(
      {.h = 4, .w = 5, .cin = 10, .cout = 20, .kh = 2, .kw = 2, .stride_y = 2, .stride_x = 2, .d = 3, .kd = 2, .stride_z = 2}, 2);
  check_transposed<14, 2>({.n = 2,
                           .h = 3,
                           .w = 4,
                           .cin = 6,
                           .cout = 9,
                           .kh = 3,
                           .kw = 4,
                           .stride_y = 2,
                           .stride_x = 1,
                           .pad_top = 1,
                           .d = 4,
                           .kd = 3,
                           .stride_z = 2,
                           .pad_front = 1});
  check_transposed<4, 1>(
      {.h = 3, .w = 3, .cin = 4, .cout = 6, .kh = 2, .kw = 2, .dilation_x = 2, .group = 2, .d = 4, .kd = 2, .stride_z = 3, .dilation_z = 2},
      3);
}

TEST_CASE("pools of volumes agree with the loop") {
  check_pools({.h = 8, .w = 6, .c = 20, .kh = 2, .kw = 2, .stride_y = 2, .stride_x = 2, .d = 6, .kd = 2, .stride_z = 2}, 0, 1);
  check_pools({.n = 2,
               .h = 7,
               .w = 9,
               .c = 5,
               .kh = 3,
               .kw = 3,
               .stride_y = 2,
               .stride_x = 1,
               .dilation_x = 2,
               .pad_top = 1,
               .pad_left = 1,
               .d = 5,
               .kd = 3,
               .pad_front = 1},
              1, 3);
}
