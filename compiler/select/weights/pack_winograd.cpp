// Weights as Winograd's transforms make them, in double: u = G w for each direction.
#include <algorithm>
#include <cmath>
#include <ranges>
#include <utility>

#include "compiler/select/weights/append_panels.h"
#include "compiler/select/weights/pack.h"
#include "runtime_stub/onnxc/contract/stem.hpp"
#include "runtime_stub/onnxc/contract/winograd.hpp"

namespace onnxc::pack {
namespace {
/// G of a kernel of `taps` with this many points: row i holds the powers of point i, divided by the product of the
/// point's differences from all others.
std::vector<std::vector<double>> winograd_g(int64_t points, int64_t taps) {
  const auto point = [points](std::size_t i) { return contract::winograd_point(points, static_cast<int64_t>(i)); };
  const auto finite = static_cast<std::size_t>(points - 1);
  std::vector<std::vector<double>> g(finite + 1, std::vector<double>(static_cast<std::size_t>(taps), 0.0));
  for (std::size_t i = 0; i < finite; ++i) {
    double element = 1;
    for (std::size_t j = 0; j < finite; ++j) element /= j == i ? 1.0 : point(i) - point(j);
    for (double& at : g[i]) {
      at = element;
      element *= point(i);
    }
  }
  g[finite].back() = 1;
  return g;
}

/// The factors of a kernel's taps in one product: those along the columns, and those along the rows.
struct Frequency {
  std::span<const double> y, x;
};

using Factors = std::vector<std::vector<double>>;

/// Appends each of ys with each of xs. The frequencies refer to both.
void append_products(std::vector<Frequency>& frequencies, const Factors& ys, const Factors& xs) {
  for (const std::vector<double>& y : ys) {
    for (const std::vector<double>& x : xs) frequencies.push_back({y, x});
  }
}

/// Panels [frequency][kz][cin][nr] of square kernels.
std::vector<float> transformed(std::span<const float> w, ConvShape s, std::span<const Frequency> frequencies) {
  const int64_t depth = s.kh / s.kw, steps = depth * s.cin, rows = steps * std::ssize(frequencies);
  std::vector<float> out;
  out.reserve(static_cast<std::size_t>(panels_size(rows, s.cout, s.nr)));
  append_panels(out, rows, s.cout, s.nr, [&](int64_t row, int64_t column) {
    const Frequency& f = frequencies[static_cast<std::size_t>(row / steps)];
    const int64_t kz = row % steps / s.cin, ci = row % s.cin;
    auto tap = w.begin() + ((column * s.cin + ci) * depth + kz) * s.kw * s.kw;
    double sum = 0;
    for (const double y : f.y) {
      for (const double x : f.x) sum += y * x * static_cast<double>(*tap++);
    }
    return static_cast<float>(sum);
  });
  return out;
}
}  // namespace

std::vector<float> winograd(std::span<const float> w, ConvShape s, int outputs) {
  const Factors g = winograd_g(outputs + s.kw - 1, s.kw);
  std::vector<Frequency> frequencies;
  append_products(frequencies, g, g);
  return transformed(w, s, frequencies);
}

std::vector<float> square_pieces(std::span<const float> w, int64_t kd, int64_t kh, int64_t kw, int64_t r) {
  const int64_t down = (kh + r - 1) / r, across = (kw + r - 1) / r, kernels = std::ssize(w) / (kd * kh * kw);
  std::vector<float> out;
  out.reserve(static_cast<std::size_t>(kernels * kd * down * across * r * r));
  for (int64_t slice = 0; slice < kernels * kd; ++slice) {
    for (int64_t piece = 0; piece < down * across; ++piece) {
      for (int64_t i = 0; i < r * r; ++i) {
        const int64_t y = piece / across * r + i / r, x = piece % across * r + i % r;
        out.push_back(y < kh && x < kw ? at(w, (slice * kh + y) * kw + x) : 0.0f);
      }
    }
  }
  return out;
}

std::vector<float> winograd_stride2(std::span<const float> w, ConvShape s, int outputs) {
  const Factors odd{{0, 1, 0}};
  // of the two outer taps
  Factors even;
  for (const std::vector<double>& row : winograd_g(outputs + 1, 2)) even.push_back({row[0], 0, row[1]});
  std::vector<Frequency> frequencies;
  const Factors* const phases[] = {&even, &odd};
  for (const Factors* const ys : phases) {
    for (const Factors* const xs : phases) append_products(frequencies, *ys, *xs);
  }
  return transformed(w, s, frequencies);
}

std::vector<float> winograd_line(std::span<const float> w, ConvShape s, int outputs, int taps, bool down) {
  const int64_t length = down ? s.kh : s.kw, across = down ? s.kw : s.kh, step = down ? s.kw : 1, step_across = down ? 1 : s.kw;
  const int64_t size = outputs + taps - 1, pieces = (length + taps - 1) / taps, steps = across * pieces * s.cin;
  const auto g = winograd_g(size, taps);
  std::vector<float> out;
  out.reserve(static_cast<std::size_t>(panels_size(steps * size, s.cout, s.nr)));
  append_panels(out, steps * size, s.cout, s.nr, [&](int64_t row, int64_t column) {
    const int64_t line = row % steps / s.cin / pieces, from = row % steps / s.cin % pieces * taps;
    const int64_t kernel = (column * s.cin + row % s.cin) * s.kh * s.kw + line * step_across;
    const std::vector<double>& factors = g[static_cast<std::size_t>(row / steps)];
    double sum = 0;
    for (int64_t k = 0; k < taps && from + k < length; ++k)
      sum += factors[static_cast<std::size_t>(k)] * static_cast<double>(at(w, kernel + (from + k) * step));
    return static_cast<float>(sum);
  });
  return out;
}

std::vector<float> stem_winograd(std::span<const float> w, ConvShape s, int outputs, int taps, int64_t stride, bool joined) {
  // In memory the kernel then is [cout, kh, kw, cin]: a kernel of one channel.
  if (joined) {
    std::vector<float> transposed;
    transposed.reserve(w.size());
    for (int64_t row = 0; row < s.cout * s.kh; ++row) {
      for (int64_t i = 0; i < s.kw * s.cin; ++i)
        transposed.push_back(at(w, ((row / s.kh * s.cin + i % s.cin) * s.kh + row % s.kh) * s.kw + i / s.cin));
    }
    return stem_winograd(transposed, {.cout = s.cout, .cin = 1, .kh = s.kh, .kw = s.kw * s.cin, .nr = s.nr}, outputs, taps, stride);
  }
  const int64_t points = outputs + taps - 1;
  const Factors g = winograd_g(points, taps);
  // the first tap of each piece
  std::vector<int64_t> pieces;
  for (int64_t tap = 0; tap < s.kh; ++tap) {
    if (contract::stem_piece_begins(tap, taps, stride)) pieces.push_back(tap);
  }
  const int64_t rows = std::ssize(pieces) * s.cin * s.kw * points;
  std::vector<float> out;
  out.reserve(static_cast<std::size_t>(panels_size(rows, s.cout, s.nr)));
  append_panels(out, rows, s.cout, s.nr, [&](int64_t row, int64_t column) {
    const std::vector<double>& factors = g[static_cast<std::size_t>(row % points)];
    const int64_t kx = row / points % s.kw, ci = row / points / s.kw % s.cin,
                  first = pieces[static_cast<std::size_t>(row / points / s.kw / s.cin)];
    double sum = 0;
    for (int64_t k = 0; k < taps; ++k) {
      const int64_t ky = first + k * stride;
      if (ky < s.kh)
        sum += factors[static_cast<std::size_t>(k)] * static_cast<double>(at(w, ((column * s.cin + ci) * s.kh + ky) * s.kw + kx));
    }
    return static_cast<float>(sum);
  });
  return out;
}

}  // namespace onnxc::pack
