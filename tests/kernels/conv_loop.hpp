// Convolutions as loops in double, and the comparison of kernels with them: with a residual, relu, gaps between
// pixels and guard values.
#pragma once
#include <onnxc/conv.hpp>

#include "common.hpp"

namespace onnxc::test {

struct Negate {
  template <class L, class X>
  static ONNXC_INLINE X apply(L, X x) {
    return fn::neg(x);
  }
};

inline int64_t out_size(int64_t in, int64_t k, int64_t stride, int64_t dilation, int64_t pad_both) {
  return (in + pad_both - (k - 1) * dilation - 1) / stride + 1;
}

/// x: [n, h, w] pixels of x_pixel floats. w: OIHW. The exact answer at one output.
inline double exact(const std::vector<float>& x, const std::vector<float>& w, const ConvParams& p, int64_t n, int64_t oy, int64_t ox,
                    int64_t co) {
  const int64_t cin = p.cin / p.group, cout = p.cout / p.group, g = co / cout;
  double sum = 0;
  for (int64_t ky = 0; ky < p.kh; ++ky) {
    for (int64_t kx = 0; kx < p.kw; ++kx) {
      const int64_t iy = oy * p.stride_y - p.pad_top + ky * p.dilation_y, ix = ox * p.stride_x - p.pad_left + kx * p.dilation_x;
      if (iy < 0 || iy >= p.h || ix < 0 || ix >= p.w) continue;
      for (int64_t ci = 0; ci < cin; ++ci)
        sum += double(x[size_t(((n * p.h + iy) * p.w + ix) * p.x_pixel + g * cin + ci)]) *
               double(w[size_t(((co * cin + ci) * p.kh + ky) * p.kw + kx)]);
    }
  }
  return sum;
}
/// w: [cin, cout / group, kh, kw].
inline double exact_transposed(const std::vector<float>& x, const std::vector<float>& w, const ConvParams& p, int64_t n, int64_t oy,
                               int64_t ox, int64_t co) {
  const int64_t cin = p.cin / p.group, cout = p.cout / p.group, g = co / cout;
  double sum = 0;
  for (int64_t iy = 0; iy < p.h; ++iy) {
    for (int64_t ix = 0; ix < p.w; ++ix) {
      for (int64_t ky = 0; ky < p.kh; ++ky) {
        if (iy * p.stride_y - p.pad_top + ky * p.dilation_y != oy) continue;
        for (int64_t kx = 0; kx < p.kw; ++kx) {
          if (ix * p.stride_x - p.pad_left + kx * p.dilation_x != ox) continue;
          for (int64_t ci = 0; ci < cin; ++ci)
            sum += double(x[size_t(((n * p.h + iy) * p.w + ix) * p.x_pixel + g * cin + ci)]) *
                   double(w[size_t((((g * cin + ci) * cout + co % cout) * p.kh + ky) * p.kw + kx)]);
        }
      }
    }
  }
  return sum;
}

/// Compares run(share, x, y, epilogue, p) with answer(n, oy, ox, co) + bias. Then comes a residual and relu, or
/// without a residual a negation.
template <bool kResidual = true, class Run, class Answer>
void check(ConvParams p, int threads, const std::vector<float>& x, const std::vector<float>& bias, Run run, Answer answer) {
  INFO("h " << p.h << " w " << p.w << " cin " << p.cin << " oh " << p.oh << " ow " << p.ow << " cout " << p.cout << " k " << p.kh << "x"
            << p.kw << " stride " << p.stride_y << " " << p.stride_x << " dilation " << p.dilation_y << " " << p.dilation_x << " group "
            << p.group << " threads " << threads);
  const int64_t pixels = p.n * p.oh * p.ow;
  const auto residual = numbers(pixels * p.cout, 9);
  std::vector<float> y(size_t(pixels * p.y_pixel) + 1, kGuard);
  for (int i = 0; i < threads; ++i) {
    if constexpr (kResidual) run(Share{i, threads}, x.data(), y.data() + 1, Epilogue<AddRelu, Rows<float>>{{residual.data(), p.cout}}, p);
    else run(Share{i, threads}, x.data(), y.data() + 1, Epilogue<Negate>{}, p);
  }
  const double tolerance = sum_tolerance(p.kh * p.kw * p.cin / p.group);
  int64_t wrong = y[0] != kGuard;
  for (int64_t i = 0; i < pixels; ++i) {
    for (int64_t c = 0; c < p.y_pixel; ++c) {
      const float got = y[size_t(i * p.y_pixel + c) + 1];
      if (c >= p.cout) {
        wrong += got != kGuard;
        continue;
      }
      const double sum = answer(i / p.ow / p.oh, i / p.ow % p.oh, i % p.ow, c) + double(bias[size_t(c)]);
      const double expected = kResidual ? std::fmax(sum + double(residual[size_t(i * p.cout + c)]), 0.0) : -sum;
      wrong += !(std::fabs(got - expected) <= tolerance);
    }
  }
  CHECK(wrong == 0);
}

/// Puts infinities, NaN and outliers at some places of x. Algorithms that mix values may carry them to other outputs.
inline void spoil(std::vector<float>& x, const ConvParams& p) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float values[] = {1e7f, std::numeric_limits<float>::quiet_NaN(), -9999.0f, kInfinity, 3e20f, -kInfinity, -2e5f};
  const int64_t pixels = p.n * p.h * p.w;
  int64_t pixel = 1;
  for (int i = 0; pixel < pixels; ++i, pixel += 17 + pixel % 5) x[size_t(pixel * p.x_pixel + i * 7 % p.cin)] = values[i % 7];
}

/// `run` as in `check`, without a residual, on images that `spoil` changed. Outputs are not finite exactly where the
/// loop in double has such outputs. All others lie within a share of the norms of their window and their weights. The
/// share is 22 times the error of a tile whose values are of one magnitude, as winograd_spoilt.hpp has it.
template <class Run>
void check_spoilt(ConvParams p, int threads, const std::vector<float>& x, const std::vector<float>& w, const std::vector<float>& bias,
                  Run run) {
  INFO("h " << p.h << " w " << p.w << " cin " << p.cin << " oh " << p.oh << " ow " << p.ow << " cout " << p.cout << " k " << p.kh << "x"
            << p.kw << " stride " << p.stride_y << " threads " << threads);
  constexpr double kShare = 2e-5;
  const int64_t pixels = p.n * p.oh * p.ow;
  std::vector<float> y(size_t(pixels * p.y_pixel) + 1, kGuard);
  for (int i = 0; i < threads; ++i) run(Share{i, threads}, x.data(), y.data() + 1, Epilogue<Negate>{}, p);
  std::vector<double> norms(size_t(p.cout));
  const int64_t taps = p.cin * p.kh * p.kw;
  for (int64_t i = 0; i < p.cout * taps; ++i) norms[size_t(i / taps)] += double(w[size_t(i)]) * double(w[size_t(i)]);
  const auto window_norm = [&](int64_t n, int64_t oy, int64_t ox) {
    double sum = 0;
    for (int64_t i = 0; i < taps; ++i) {
      const int64_t iy = oy * p.stride_y - p.pad_top + i / p.cin / p.kw * p.dilation_y,
                    ix = ox * p.stride_x - p.pad_left + i / p.cin % p.kw * p.dilation_x;
      if (iy < 0 || iy >= p.h || ix < 0 || ix >= p.w) continue;
      const auto value = double(x[size_t(((n * p.h + iy) * p.w + ix) * p.x_pixel + i % p.cin)]);
      sum += value * value;
    }
    return std::sqrt(sum);
  };
  int64_t wrong = 0, finite = 0;
  for (int64_t i = 0; i < pixels; ++i) {
    for (int64_t c = 0; c < p.cout; ++c) {
      const float got = y[size_t(i * p.y_pixel + c) + 1];
      const int64_t n = i / p.ow / p.oh, oy = i / p.ow % p.oh, ox = i % p.ow;
      const double expected = -(exact(x, w, p, n, oy, ox, c) + double(bias[size_t(c)]));
      if (!std::isfinite(expected)) {
        wrong += std::isnan(expected) ? !std::isnan(got) : !(double(got) == expected);
        continue;
      }
      ++finite;
      wrong += !(std::fabs(got - expected) <=
                 kShare * (window_norm(n, oy, ox) * std::sqrt(norms[size_t(c)]) + std::fabs(double(bias[size_t(c)]))));
    }
  }
  CHECK(wrong == 0);
  CHECK(finite > 0);
}

/// The input image. A gap after each pixel holds NaN, so that reading it would show.
inline std::vector<float> image(const ConvParams& p) {
  auto x = numbers(p.n * p.h * p.w * p.x_pixel, 1);
  for (size_t i = 0; i < x.size(); ++i) {
    if (int64_t(i) % p.x_pixel >= p.cin) x[i] = std::numeric_limits<float>::quiet_NaN();
  }
  x.resize(x.size() - size_t(p.x_pixel - p.cin));
  return x;
}

}  // namespace onnxc::test
